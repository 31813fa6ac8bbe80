"""Who may do what. Every object of a project is reached through the membership of the person who asks, looked up anew
at every request: to a stranger it does not exist, and a role that was taken away is gone with the next request."""

from collections.abc import Callable
from uuid import UUID

from accounts.models import User
from api.problems import Forbidden, NotFound

from .models import Answer, Guideline, Invitation, Job, Member, ParticipantLink, Project, Role, Round, Unit
from .models.roles import MAY

Rule = Callable[[Member], set[int]]
_kept: dict[str, Rule] = {}


def may(member: Member, verb: str) -> bool:
    """Whether the member's role allows it; KeyError for a verb that is not in the table."""
    return member.role in MAY[verb]


def permit(member: Member, verb: str) -> None:
    """Raise `Forbidden` unless the member's role allows it."""
    if not may(member, verb):
        raise Forbidden(f"As {member.role} of this project you cannot {verb}.")


class Names:
    """What one member of a project may call the people who did something in it: by name, or by pseudonym. The
    pseudonyms of a project are looked up once, and only where they are needed."""

    def __init__(self, asking: Member) -> None:
        self._asking = asking
        self._pseudonyms: dict[int, str] | None = None

    def of(self, user: User | None) -> str:
        """Empty for nobody, as where a command did it, and for an operator who is no member."""
        if user is None:
            return ""
        if may(self._asking, "see names") or user.pk == self._asking.user_id:
            return user.name
        if self._pseudonyms is None:
            self._pseudonyms = dict(self._asking.project.members.values_list("user_id", "pseudonym"))
        return self._pseudonyms.get(user.pk, "")


def keep_from(object_type: str, rule: Rule) -> None:
    """Make known what of an app above is kept from a member: ``rule`` gives the ids of the objects of a type. Jobs and
    the log know them by type and id alone, so whoever shows one of these asks here."""
    _kept[object_type] = rule


def hidden_from(member: Member) -> dict[str, set[int]]:
    """The ids of what is kept from a member, by type."""
    return {object_type: rule(member) for object_type, rule in _kept.items()}


def is_about_hidden(job: Job, member: Member) -> bool:
    """Whether a job is about something that is kept from the member: it names it by its type in its parameters."""
    return any(job.params.get(object_type) in ids for object_type, ids in hidden_from(member).items() if ids)


def _nothing() -> NotFound:
    return NotFound("There is nothing here that you may see.")


def member_of(user: User, slug: str) -> Member:
    """The user's active membership in a project, with project and user loaded; `NotFound` for everybody else."""
    found = (
        Member.objects.active().select_related("project", "user").filter(project__slug=slug, user=user).first()
    )  # fmt: skip
    if found is None:
        raise _nothing()
    return found


def member_in(user: User, project_id: int | None) -> Member:
    """As `member_of`, by the project's id."""
    found = Member.objects.active().select_related("project", "user").filter(project=project_id, user=user).first()
    if found is None:
        raise _nothing()
    return found


def member_to(project: Project, member_id: int) -> Member:
    """Some member of the project, whoever asks; `NotFound` when it is another project's, or has left."""
    found = project.members.active().select_related("user", "project").filter(pk=member_id).first()
    if found is None:
        raise _nothing()
    return found


def round_of(user: User, round_id: int) -> tuple[Round, Member]:
    """A round of one of the user's projects, and the user's membership there."""
    found = Round.objects.select_related("project", "guideline", "requires_practice").filter(pk=round_id).first()
    if found is None:
        raise _nothing()
    member = member_in(user, found.project_id)
    if member.role == Role.VOLUNTEER and not found.participants.filter(member=member, left_at=None).exists():
        raise _nothing()
    return found, member


def round_at_work(user: User, round_id: int) -> Round:
    """A round in which the user works."""
    found = (
        Round.objects.worked_on_by(user)
        .select_related("project", "guideline", "requires_practice")
        .filter(pk=round_id)
        .first()
    )
    if found is None:
        raise _nothing()
    return found


def unit_of(user: User, unit_id: int) -> tuple[Unit, Member]:
    """A unit of one of the user's projects, and the user's membership there."""
    found = Unit.objects.select_related("project").filter(pk=unit_id).first()
    if found is None:
        raise _nothing()
    return found, member_in(user, found.project_id)


def answer_of(user: User, answer: UUID) -> tuple[Answer, Member]:
    """An answer in one of the user's projects, and the user's membership there."""
    found = Answer.objects.select_related("assignment__round", "assignment__unit").filter(pk=answer).first()
    if found is None:
        raise _nothing()
    return found, member_in(user, found.assignment.round.project_id)


def job_of(user: User, job_id: int) -> Job:
    """A job of one of the user's projects, or one that the user began; none about what is kept from the user."""
    found = Job.objects.select_related("project").filter(pk=job_id).first()
    if found is None:
        raise _nothing()
    if found.project_id is not None:
        if is_about_hidden(found, member_in(user, found.project_id)):
            raise Forbidden("This job is about something that is sealed from you.")
    elif found.created_by_id != user.pk:
        raise _nothing()
    return found


def require_job_report(user: User, job: Job) -> None:
    """What a job found may name raters and quote what people said: it is for those who may see both, and for whoever
    began it."""
    if job.project_id is not None and job.created_by_id != user.pk:
        permit(member_in(user, job.project_id), "read reports of jobs")


def require_job_control(user: User, job: Job) -> None:
    """Stopping a job is for the project's leads and whoever began it."""
    if job.project_id is not None and job.created_by_id != user.pk:
        permit(member_in(user, job.project_id), "control jobs")


def guideline_to(project: Project, number_id: int) -> Guideline:
    """One guideline version of the project."""
    found = project.guidelines.select_related("created_by").filter(pk=number_id).first()
    if found is None:
        raise _nothing()
    return found


def participant_link_to(round: Round, link_id: int) -> ParticipantLink:
    """One participant link of the round."""
    found = round.participant_links.select_related("round", "member__user").filter(pk=link_id).first()
    if found is None:
        raise _nothing()
    return found


def invitation_to(project: Project, invitation_id: int) -> Invitation:
    """One invitation into the project."""
    found = project.invitations.filter(pk=invitation_id).first()
    if found is None:
        raise _nothing()
    return found
