"""Permission checks.

Every object of a project is reached through the user's membership, which is read anew for every request. An object does
not exist for strangers, and a withdrawn role ends with the next request.
"""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.utils.text import get_text_list

from accounts.models import User
from api.problems import Forbidden, NotFound

from .models import Answer, Guideline, Invitation, Job, Member, ParticipantLink, Project, Role, Round, Unit
from .models.project import MAY

Rule = Callable[[Member], set[int]]
_Row = TypeVar("_Row", bound=Model)
_rules: dict[str, Rule] = {}


def may(member: Member, verb: str) -> bool:
    """Return whether the member's role has a permission. Raise `KeyError` if it is not in `MAY`."""
    return member.role in MAY[verb]


def permit(member: Member, verb: str) -> None:
    """Raise `Forbidden` unless the member's role has the permission."""
    if not may(member, verb):
        allowed = [f"{role}s" for role in Role if role in MAY[verb]]
        action = verb.replace("read ", "view ")
        raise Forbidden(f"{member.role.capitalize()}s can't {action}. Only {get_text_list(allowed, 'and')} can.")


class Names:
    """Names by which one member may see the other people of a project: real names or pseudonyms.

    The pseudonyms of a project are read once, when they are first needed.
    """

    def __init__(self, asking: Member) -> None:
        self._asking = asking
        self._pseudonyms: dict[int, str] | None = None

    def of(self, user: User | None) -> str:
        """Return the visible name; empty without a user (a command acted) and for operators who are not members."""
        if user is None:
            return ""
        if may(self._asking, "see names") or user.pk == self._asking.user_id:
            return user.name
        if self._pseudonyms is None:
            self._pseudonyms = dict(self._asking.project.members.with_account().values_list("user_id", "pseudonym"))
        return self._pseudonyms.get(user.pk, "")


#: Written summaries, as a type of objects that can be hidden from a member who rates them blindly.
SUMMARY_TEXTS = "written summary"


def hide_from_members(object_type: str, rule: Rule) -> None:
    """Register a rule that hides objects of a type from a member. The rule returns their ids.

    Jobs and the audit log know objects by type and id only, so views that show them apply these rules.
    """
    _rules[object_type] = rule


def hidden_from(member: Member) -> dict[str, set[int]]:
    """Return the ids of the objects that are hidden from a member, by object type."""
    return {object_type: rule(member) for object_type, rule in _rules.items()}


def is_about_hidden(job: Job, member: Member) -> bool:
    """Return whether the job's parameters name an object that is hidden from the member."""
    return any(job.params.get(object_type) in ids for object_type, ids in hidden_from(member).items() if ids)


def _not_found() -> NotFound:
    return NotFound("Not found, or no access.")


def member_of(user: User, slug: str) -> Member:
    """Return the user's active membership with project and user loaded. Raise `NotFound` if there is none."""
    member = Member.objects.active().select_related("project", "user").filter(project__slug=slug, user=user).first()
    if member is None:
        raise _not_found()
    return member


def permitted_member(user: User, slug: str, verb: str) -> Member:
    """Return the user's membership in a project. Raise `Forbidden` unless its role has the permission."""
    member = member_of(user, slug)
    permit(member, verb)
    return member


def permitted_row(
    user: User, rows: QuerySet[_Row], pk: int, project_of: Callable[[_Row], int], verb: str
) -> tuple[_Row, Member]:
    """Return a row by its id, and the user's membership in its project.

    Raise `NotFound` if the row does not exist or the user is not a member, `Forbidden` if the role lacks the
    permission.
    """
    row = rows.filter(pk=pk).first()
    if row is None:
        raise _not_found()
    member = member_in(user, project_of(row))
    permit(member, verb)
    return row, member


def member_in(user: User, project_id: int | None) -> Member:
    """Like `member_of`, by the project's id."""
    member = Member.objects.active().select_related("project", "user").filter(project=project_id, user=user).first()
    if member is None:
        raise _not_found()
    return member


def member_to(project: Project, member_id: int) -> Member:
    """Return an active member of the project by id. Raise `NotFound` if there is none."""
    member = project.members.active().select_related("user", "project").filter(pk=member_id).first()
    if member is None:
        raise _not_found()
    return member


def round_of(user: User, round_id: int) -> tuple[Round, Member]:
    """Return a round and the user's membership in its project.

    Raise `NotFound` for non-members, and for volunteers who do not take part in the round.
    """
    round = Round.objects.select_related("project", "guideline", "requires_practice").filter(pk=round_id).first()
    if round is None:
        raise _not_found()
    member = member_in(user, round.project_id)
    if member.role == Role.VOLUNTEER and not round.participants.filter(member=member, left_at=None).exists():
        raise _not_found()
    return round, member


def round_at_work(user: User, round_id: int) -> Round:
    """Return a round in which the user is an active participant. Raise `NotFound` otherwise."""
    round = (
        Round.objects.worked_on_by(user)
        .select_related("project", "guideline", "requires_practice")
        .filter(pk=round_id)
        .first()
    )
    if round is None:
        raise _not_found()
    return round


def unit_of(user: User, unit_id: int) -> tuple[Unit, Member]:
    """Return a unit and the user's membership in its project. Raise `NotFound` for non-members."""
    unit = Unit.objects.select_related("project").filter(pk=unit_id).first()
    if unit is None:
        raise _not_found()
    return unit, member_in(user, unit.project_id)


def answer_of(user: User, answer: UUID) -> tuple[Answer, Member]:
    """Return an answer and the user's membership in its project. Raise `NotFound` for non-members."""
    row = Answer.objects.select_related("assignment__round", "assignment__unit").filter(pk=answer).first()
    if row is None:
        raise _not_found()
    return row, member_in(user, row.assignment.round.project_id)


def job_of(user: User, job_id: int) -> Job:
    """Return a job of one of the user's projects, or a job without a project that the user started.

    Raise `NotFound` otherwise, and `Forbidden` if the job is about an object that is hidden from the user.
    """
    job = Job.objects.select_related("project").filter(pk=job_id).first()
    if job is None:
        raise _not_found()
    if job.project_id is not None:
        if is_about_hidden(job, member_in(user, job.project_id)):
            raise Forbidden("This job is hidden from you. It concerns an object that you may not see yet.")
    elif job.created_by_id != user.pk:
        raise _not_found()
    return job


def require_job_report(user: User, job: Job) -> None:
    """Raise `Forbidden` unless the user may read the job's report.

    A report may name raters and quote their answers. It is open to leads, curators and the user who started the job.
    """
    if job.project_id is not None and job.created_by_id != user.pk:
        permit(member_in(user, job.project_id), "read reports of jobs")


def require_job_control(user: User, job: Job) -> None:
    """Raise `Forbidden` unless the user is a lead of the project or started the job."""
    if job.project_id is not None and job.created_by_id != user.pk:
        permit(member_in(user, job.project_id), "control jobs")


def guideline_to(project: Project, number_id: int) -> Guideline:
    """Return a guideline version of the project by id. Raise `NotFound` if there is none."""
    guideline = project.guidelines.select_related("created_by").filter(pk=number_id).first()
    if guideline is None:
        raise _not_found()
    return guideline


def participant_link_to(round: Round, link_id: int) -> ParticipantLink:
    """Return a participant link of the round by id. Raise `NotFound` if there is none."""
    link = round.participant_links.select_related("round", "member__user").filter(pk=link_id).first()
    if link is None:
        raise _not_found()
    return link


def invitation_to(project: Project, invitation_id: int) -> Invitation:
    """Return an invitation of the project by id. Raise `NotFound` if there is none."""
    invitation = project.invitations.filter(pk=invitation_id).first()
    if invitation is None:
        raise _not_found()
    return invitation
