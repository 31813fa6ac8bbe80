"""Who may reach summarisers and what they wrote. Whoever rates must not learn which system wrote a text: annotators,
evaluators and volunteers reach nothing here, and a sealed run's outputs are kept even from those who may read."""

from collections.abc import Sequence
from typing import TypeVar

from accounts.models import User
from api.problems import Forbidden, NotFound, Refused
from projects.models import Member, Role
from projects.permissions import member_in, member_of, permit

from .models import Run, Seal, System, Version

_Row = TypeVar("_Row")
READ, RUN = "read systems and results", "register and run systems"


def reader_of(user: User, slug: str) -> Member:
    """The membership of someone who may read a project's systems and outputs."""
    member = member_of(user, slug)
    permit(member, READ)
    return member


def lead_of(user: User, slug: str) -> Member:
    """The membership of someone who may register and run systems."""
    member = member_of(user, slug)
    permit(member, RUN)
    return member


def system_of(user: User, pk: int, verb: str = READ) -> tuple[System, Member]:
    """A system and the user's membership of its project; by default any reader's."""
    found = System.objects.select_related("project", "created_by").filter(pk=pk).first()
    return _given(found), _member(user, found.project_id if found else None, verb)


def version_of(user: User, pk: int, verb: str = READ) -> tuple[Version, Member]:
    found = Version.objects.select_related("system__project", "created_by").filter(pk=pk).first()
    return _given(found), _member(user, found.system.project_id if found else None, verb)


def run_of(user: User, pk: int, verb: str = READ) -> tuple[Run, Member]:
    found = Run.objects.select_related("version__system__project", "started_by").filter(pk=pk).first()
    return _given(found), _member(user, found.version.system.project_id if found else None, verb)


def open_run_of(user: User, pk: int, verb: str = READ) -> tuple[Run, Member]:
    """As `run_of`, for what would tell of the run: `Forbidden` where it is sealed from the user, lead or not."""
    run, member = run_of(user, pk, verb)
    if Seal.objects.upon(member).filter(run=run).exists():
        raise Forbidden("This run is sealed from you: somebody else, who is not to rate what it wrote, can do this.")
    return run, member


def runs_sealed_from(member: Member) -> set[int]:
    return set(Seal.objects.upon(member).values_list("run", flat=True))


def seal_of(user: User, pk: int, verb: str = READ) -> tuple[Seal, Member]:
    found = Seal.objects.select_related("run__version__system__project", "member__user").filter(pk=pk).first()
    return _given(found), _member(user, found.run.version.system.project_id if found else None, verb)


def members_to(run: Run, ids: Sequence[int]) -> list[Member]:
    """Members of the run's project by their ids, in that order; `Refused` where one is none of them."""
    project = run.version.system.project
    found = project.members.active().exclude(role=Role.VOLUNTEER).select_related("user").in_bulk(list(ids))
    if missing := [pk for pk in ids if pk not in found]:
        raise Refused.field("members", f"There is no member {missing[0]} in this project.")
    return [found[pk] for pk in dict.fromkeys(ids)]


def _given(found: _Row | None) -> _Row:
    if found is None:
        raise NotFound("There is nothing here that you may see.")
    return found


def _member(user: User, project_id: int | None, verb: str) -> Member:
    member = member_in(user, project_id)
    permit(member, verb)
    return member
