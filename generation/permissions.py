"""Access rules for systems and their outputs.

Raters must not learn which system wrote a text. Annotators, evaluators and volunteers have no access here, and the
outputs of an embargoed run are hidden even from members who may read.
"""

from collections.abc import Callable, Sequence

from accounts.models import User
from api.problems import Forbidden, Refused
from projects.models import Member, Role
from projects.permissions import may, permit, permitted_member, permitted_row

from .models import Embargo, FineTuning, ProjectEndpoint, Run, System, Version

READ, RUN = "read systems and results", "register and run systems"
JUDGE = "add endpoints and run judges"
#: Returns why endpoints and judges are hidden from a member, or an empty string. Another app registers this check.
EndpointCheck = Callable[[Member], str]
_endpoint_checks: list[EndpointCheck] = []


def register_endpoint_check(reason: EndpointCheck) -> None:
    """Register a check that can hide endpoints and judges from a member."""
    _endpoint_checks.append(reason)


def require_endpoints(member: Member) -> None:
    """Raise `Forbidden` unless the member may see endpoints and judges now."""
    permit(member, JUDGE)
    if reason := next(filter(None, (check(member) for check in _endpoint_checks)), ""):
        raise Forbidden(reason)


def endpoint_lead_of(user: User, slug: str) -> Member:
    """Return the membership of a user who may see and add endpoints."""
    member = permitted_member(user, slug, JUDGE)
    require_endpoints(member)
    return member


def endpoint_of(user: User, pk: int) -> tuple[ProjectEndpoint, Member]:
    """Return an endpoint of a project, and the membership of a user who may remove it."""
    rows = ProjectEndpoint.objects.current().select_related("project")
    endpoint, member = permitted_row(user, rows, pk, lambda row: row.project_id, JUDGE)
    require_endpoints(member)
    return endpoint, member


def reader_of(user: User, slug: str) -> Member:
    """Return the membership of a user who may read a project's systems and outputs."""
    return permitted_member(user, slug, READ)


def lead_of(user: User, slug: str) -> Member:
    """Return the membership of a user who may register and run systems."""
    return permitted_member(user, slug, RUN)


def system_of(user: User, pk: int, verb: str = READ) -> tuple[System, Member]:
    """Return a system and the user's membership of its project. By default any reader has access."""
    rows = System.objects.select_related("project", "created_by")
    return permitted_row(user, rows, pk, lambda system: system.project_id, verb)


def version_of(user: User, pk: int, verb: str = READ) -> tuple[Version, Member]:
    """Return a version and the user's membership of its project. By default any reader has access."""
    rows = Version.objects.select_related("system__project", "created_by")
    return permitted_row(user, rows, pk, lambda version: version.system.project_id, verb)


def run_of(user: User, pk: int, verb: str = READ) -> tuple[Run, Member]:
    """Return a run and the user's membership of its project. By default any reader has access."""
    rows = Run.objects.select_related("version__system__project", "started_by")
    return permitted_row(user, rows, pk, lambda run: run.version.system.project_id, verb)


def open_run_of(user: User, pk: int, verb: str = READ) -> tuple[Run, Member]:
    """Like `run_of`, for views that reveal outputs.

    Raise `Forbidden` if the run is embargoed for the user, even a lead.
    """
    run, member = run_of(user, pk, verb)
    if Embargo.objects.for_member(member).filter(run=run).exists():
        raise Forbidden("This run is embargoed for you. A member who does not rate its outputs can do this.")
    return run, member


def training_of(user: User, pk: int) -> tuple[FineTuning, Member]:
    """Return a training and the membership of a user who may run systems in its project."""
    rows = FineTuning.objects.select_related("project", "split__project")
    return permitted_row(user, rows, pk, lambda training: training.project_id, RUN)


def runs_embargoed_for(member: Member) -> set[int]:
    return set(Embargo.objects.for_member(member).values_list("run", flat=True))


def embargo_of(user: User, pk: int, verb: str = READ) -> tuple[Embargo, Member]:
    """Return an embargo of a run and the user's membership of its project. By default any reader has access."""
    rows = Embargo.objects.select_related("run__version__system__project", "member__user")
    return permitted_row(user, rows, pk, lambda embargo: embargo.run.version.system.project_id, verb)


def members_to(run: Run, ids: Sequence[int]) -> list[Member]:
    """Return members of the run's project by id, in that order. Raise `Refused` if one is not found."""
    project = run.version.system.project
    members = project.members.active().exclude(role=Role.VOLUNTEER).select_related("user").in_bulk(list(ids))
    if missing := [pk for pk in ids if pk not in members]:
        raise Refused.field("members", f"There is no member {missing[0]} in this project.")
    return [members[pk] for pk in dict.fromkeys(ids)]


def sees_endpoints(member: Member) -> bool:
    """Return whether a member may see endpoints and judges now."""
    return may(member, JUDGE) and not any(check(member) for check in _endpoint_checks)
