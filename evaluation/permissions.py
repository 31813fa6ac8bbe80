"""Who may reach protocols. Whoever rates is given a protocol's content with what there is to rate, and nothing here."""

from typing import TypeVar

from accounts.models import User
from api.problems import Conflict, Forbidden, NotFound
from generation.models import Seal
from generation.permissions import READ as READ_RESULTS
from projects.models import Member, Round
from projects.permissions import member_in, member_of, permit, round_of

from .models import Protocol, ProtocolVersion, RatingDesign

_Row = TypeVar("_Row")
READ, WRITE = "read rounds", "write rating protocols"


def ratings_of(user: User, round_id: int, verb: str = READ_RESULTS) -> tuple[RatingDesign, Member]:
    """The design of an unblinded round, for what tells which system got which ratings.

    `Conflict` while the round is blind, whoever asks; `Forbidden` where a run of it is sealed from the user, who rates
    it blindly in another round.
    """
    round, member = round_of(user, round_id)
    permit(member, READ_RESULTS)
    permit(member, verb)
    rows = RatingDesign.objects.filter(round=round).select_related("round__project", "version__protocol", "unblinding")
    design = rows.first()
    if design is None:
        raise NotFound("No summaries are rated in this round.")
    if round.status != Round.Status.CLOSED or getattr(design, "unblinding", None) is None:
        raise Conflict("Nobody sees what systems were rated before the round is closed and unblinded.")
    if Seal.objects.upon(member).filter(run__entrants__design=design).exists():
        raise Forbidden("Summaries of this round are sealed from you: you rate them in another round.")
    return design, member


def reader_of(user: User, slug: str) -> Member:
    """The membership of someone who may read a project's protocols."""
    member = member_of(user, slug)
    permit(member, READ)
    return member


def writer_of(user: User, slug: str) -> Member:
    """The membership of someone who may write protocols."""
    member = member_of(user, slug)
    permit(member, WRITE)
    return member


def protocol_of(user: User, pk: int, verb: str = READ) -> tuple[Protocol, Member]:
    """A protocol and the user's membership of its project; by default any reader's."""
    found = Protocol.objects.select_related("project").filter(pk=pk).first()
    return _given(found), _member(user, found.project_id if found else None, verb)


def version_of(user: User, pk: int, verb: str = READ) -> tuple[ProtocolVersion, Member]:
    found = ProtocolVersion.objects.select_related("protocol__project", "created_by").filter(pk=pk).first()
    return _given(found), _member(user, found.protocol.project_id if found else None, verb)


def _given(found: _Row | None) -> _Row:
    if found is None:
        raise NotFound("There is nothing here that you may see.")
    return found


def _member(user: User, project_id: int | None, verb: str) -> Member:
    member = member_in(user, project_id)
    permit(member, verb)
    return member
