"""Access to protocols and rating results. Raters receive protocol content only with the texts that they rate."""

from accounts.models import User
from api.problems import Conflict, Forbidden, NotFound
from generation.models import Embargo
from generation.permissions import READ as READ_RESULTS
from projects.models import Member, Round
from projects.permissions import permit, permitted_member, permitted_row, round_of

from .models import Protocol, ProtocolVersion, RatingDesign

READ, WRITE = "read rounds", "write rating protocols"


def ratings_of(user: User, round_id: int, verb: str = READ_RESULTS) -> tuple[RatingDesign, Member]:
    """Return the design of an unblinded round, to read its results by system.

    Raise `Conflict` while the round is blind. Raise `Forbidden` if a run of the round is embargoed for the user, who
    rates it blindly in another round.
    """
    round, member = round_of(user, round_id)
    permit(member, READ_RESULTS)
    permit(member, verb)
    rows = RatingDesign.objects.filter(round=round).select_related("round__project", "version__protocol", "unblinding")
    design = rows.first()
    if design is None:
        raise NotFound("This is not a rating round.")
    if round.status != Round.Status.CLOSED or getattr(design, "unblinding", None) is None:
        raise Conflict("The systems are hidden until the round is closed and unblinded.")
    if Embargo.objects.for_member(member).filter(run__compared_systems__design=design).exists():
        raise Forbidden("The systems are hidden from you. You rate their summaries in another round.")
    return design, member


def reader_of(user: User, slug: str) -> Member:
    """Return the membership of a user who may read the project's protocols."""
    return permitted_member(user, slug, READ)


def writer_of(user: User, slug: str) -> Member:
    """Return the membership of a user who may write protocols."""
    return permitted_member(user, slug, WRITE)


def protocol_of(user: User, pk: int, verb: str = READ) -> tuple[Protocol, Member]:
    """Return a protocol and the user's membership. By default, read access is enough."""
    return permitted_row(user, Protocol.objects.select_related("project"), pk, lambda p: p.project_id, verb)


def version_of(user: User, pk: int, verb: str = READ) -> tuple[ProtocolVersion, Member]:
    """Return a protocol version and the user's membership. By default, read access is enough."""
    rows = ProtocolVersion.objects.select_related("protocol__project", "created_by")
    return permitted_row(user, rows, pk, lambda version: version.protocol.project_id, verb)
