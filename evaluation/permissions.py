"""Access to protocols and rating results. Raters receive protocol content only with the texts that they rate."""

from typing import Any

from django.db.models import Exists, QuerySet

from accounts.models import User
from api.problems import Conflict, Forbidden, NotFound
from generation.models import Embargo, ProjectEndpoint
from generation.permissions import JUDGE, require_endpoints
from generation.permissions import READ as READ_RESULTS
from projects.models import Member, Project, Round
from projects.permissions import permit, permitted_member, permitted_row, round_of

from .models import Judge, JudgeFigures, JudgeRun, JudgeSet, Protocol, ProtocolVersion, RatingDesign

READ, WRITE = "read rounds", "write rating protocols"
#: Parameter of a job about a judge that has no id yet: its project.
JUDGES_OF = "judges of"
HIDDEN_JUDGES = "You rate in an open round. Judges are hidden from you until it is closed."


def rates_now(member: Member) -> bool:
    """Return whether a member takes part in an open rating round, and must not learn that a judge exists."""
    rounds = Round.objects.filter(project=member.project_id, status=Round.Status.OPEN, rating_design__isnull=False)
    return rounds.filter(participants__member=member, participants__left_at=None).exists()


def rates_in(project: Project) -> bool:
    """Return whether any member takes part in an open rating round of a project."""
    rounds = Round.objects.filter(project=project, status=Round.Status.OPEN, rating_design__isnull=False)
    return rounds.filter(participants__left_at=None).exists()


def judges_hidden_reason(member: Member) -> str:
    """Return why endpoints and judges are hidden from a member, or an empty string."""
    return HIDDEN_JUDGES if rates_now(member) else ""


def _hidden(member: Member, rows: QuerySet[Any]) -> set[int]:
    """Return the ids of rows about judges if they are hidden from the member. One query."""
    rounds = Round.objects.filter(project=member.project_id, status=Round.Status.OPEN, rating_design__isnull=False)
    rates = rounds.filter(participants__member=member, participants__left_at=None)
    return set(rows.filter(Exists(rates)).order_by().values_list("pk", flat=True))


def endpoints_hidden_from(member: Member) -> set[int]:
    return _hidden(member, ProjectEndpoint.objects.filter(project=member.project_id))


def judges_hidden_from(member: Member) -> set[int]:
    return _hidden(member, Judge.objects.filter(project=member.project_id))


def projects_with_judges_hidden_from(member: Member) -> set[int]:
    return _hidden(member, Project.objects.filter(pk=member.project_id))


def judge_sets_hidden_from(member: Member) -> set[int]:
    return _hidden(member, JudgeSet.objects.filter(design__round__project=member.project_id))


def judge_runs_hidden_from(member: Member) -> set[int]:
    return _hidden(member, JudgeRun.objects.of_project(member.project_id))


def judge_figures_hidden_from(member: Member) -> set[int]:
    return _hidden(member, JudgeFigures.objects.filter(run__judge__project=member.project_id))


def judge_lead_of(user: User, slug: str) -> Member:
    """Return the membership of a user who may see judges and run them."""
    member = permitted_member(user, slug, JUDGE)
    require_endpoints(member)
    return member


def judge_of(user: User, pk: int) -> tuple[Judge, Member]:
    """Return a judge, and the membership of a user who may see judges."""
    rows = Judge.objects.select_related("project", "project_endpoint", "created_by")
    judge, member = permitted_row(user, rows, pk, lambda row: row.project_id, JUDGE)
    require_endpoints(member)
    return judge, member


def judge_run_of(user: User, pk: int) -> tuple[JudgeRun, Member]:
    """Return a judge run, and the membership of a user who may see judges."""
    rows = JudgeRun.objects.select_related(
        "judge__project", "judge__project_endpoint", "design__round", "design__version", "job", "created_by"
    )
    run, member = permitted_row(user, rows, pk, lambda row: row.judge.project_id, JUDGE)
    require_endpoints(member)
    return run, member


def judged_design_of(user: User, round_id: int) -> tuple[RatingDesign, Member]:
    """Return the design of a round that a judge can rate, and the membership of a user who may run judges."""
    round, member = round_of(user, round_id)
    permit(member, JUDGE)
    require_endpoints(member)
    design = RatingDesign.objects.select_related("round__project", "version__protocol").filter(round=round).first()
    if design is None:
        raise NotFound("This is not a rating round.")
    if round.status == Round.Status.PREPARING:
        raise Conflict("The round is still being prepared.")
    return design, member


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
