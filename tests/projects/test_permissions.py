"""Permissions of each role for each route; for a stranger nothing exists."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db.transaction import atomic, set_rollback
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Forbidden, NotFound
from projects.guidelines import actions as guidelines_actions
from projects.models import Job, Member, Project, Role, Round
from projects.models.project import MAY
from projects.people import actions as people_actions
from projects.people import invitations
from projects.permissions import (
    job_of,
    member_to,
    permit,
    require_job_control,
    require_job_report,
    round_at_work,
    round_of,
    unit_of,
)
from tests.builders import build_cluster, build_round

ClientOf = Callable[[User], APIClient]

LEAD, LEAD_AND_CURATOR, ALL = {Role.LEAD}, {Role.LEAD, Role.CURATOR}, set(Role)
#: Method, route, body, roles. A refused value (422) shows that the role was allowed.
ROUTES: list[tuple[str, str, dict[str, Any] | None, set[Role]]] = [
    ("get", "", None, ALL),
    ("patch", "", {"description": "x"}, LEAD),
    ("get", "members/", None, ALL),
    ("patch", "members/{member}/", {"role": "viewer"}, LEAD),
    ("delete", "members/{member}/", None, LEAD),
    ("get", "invitations/", None, LEAD),
    ("post", "invitations/", {"email": "x@example.org", "role": "viewer"}, LEAD),
    ("delete", "invitations/{invitation}/", None, LEAD),
    ("get", "guidelines/", None, ALL),
    ("post", "guidelines/", {"kind": "label", "text": "x"}, LEAD),
    ("get", "guidelines/{guideline}/", None, ALL),
    ("get", "audit/", None, LEAD_AND_CURATOR),
]


@pytest.fixture
def ids(project: Project, lead: User, ann2: User) -> dict[str, int]:
    return {
        "member": project.members.get(user=ann2).pk,
        "invitation": invitations.invite(project=project, email="i@example.org", role="viewer", by=lead)[0].pk,
        "guideline": guidelines_actions.write_guideline(project=project, kind="label", text="t", by=lead).pk,
    }


def ask(client: APIClient, slug: str, method: str, route: str, body: dict[str, Any] | None, ids: dict[str, int]) -> int:
    url = f"/api/v1/projects/{slug}/{route.format(**ids)}"
    return int(getattr(client, method)(url, body, format="json").status_code)


@pytest.mark.parametrize("role", [role for role in Role if role != Role.VOLUNTEER])
def test_each_role_may_what_the_table_says(
    project: Project, ann1: User, ids: dict[str, int], client_of: ClientOf, role: Role
) -> None:
    project.members.filter(user=ann1).update(role=role)
    client, wrong = client_of(ann1), []
    for method, route, body, allowed in ROUTES:
        with atomic():
            status = ask(client, "eye", method, route, body, ids)
            set_rollback(True)
        if not ((status < 300) if role in allowed else (status == 403)):
            wrong.append((method, route, status))
    assert wrong == []


def test_strangers_former_members_and_signed_out_people_see_no_project(
    project: Project, lead: User, ann1: User, stranger: User, ids: dict[str, int], client_of: ClientOf
) -> None:
    people_actions.remove_member(member=project.members.get(user=ann1), by=lead)
    for client, expected in ((client_of(stranger), 404), (client_of(ann1), 404), (APIClient(), 401)):
        found = [(method, route, ask(client, "eye", method, route, body, ids)) for method, route, body, _ in ROUTES]
        assert [one for one in found if one[2] != expected] == []


def test_a_lead_of_one_project_cannot_reach_objects_of_another(
    project: Project, stranger: User, ids: dict[str, int], client_of: ClientOf
) -> None:
    people_actions.create_project(name="Ear", by=stranger)
    client = client_of(stranger)
    for method, route, body, _ in ROUTES:
        if "{" in route:
            assert ask(client, "ear", method, route, body, ids) == 404, (method, route)
            assert ask(client, "eye", method, route, body, ids) == 404, (method, route)


def test_an_unknown_verb_is_a_programming_error(project: Project, lead: User) -> None:
    with pytest.raises(KeyError):
        permit(project.members.get(user=lead), "fly")
    assert all(roles <= set(Role) for roles in MAY.values())


def table() -> list[str]:
    """Return the table of roles from the guide."""
    roles = [role for role in Role if role != Role.VOLUNTEER]
    rows = [["may", *roles], ["---"] * (len(roles) + 1)]
    rows += [[verb, *("yes" if role in allowed else "" for role in roles)] for verb, allowed in MAY.items()]
    return ["| " + " | ".join(row) + " |" for row in rows]


def test_the_guide_prints_the_table() -> None:
    assert "\n\n" + "\n".join(table()) + "\n\n" in (settings.ROOT / "docs" / "roles.md").read_text(encoding="utf-8")


#: A literal role other than volunteer, which is no ordinary member.
NAMED = re.compile(r"Role\.(?!VOLUNTEER|choices)[A-Z]+|\.role (?:in|==|!=)")


def test_no_view_page_serializer_or_permission_names_a_role() -> None:
    """Code asks the table of roles for an action, never for a role."""
    found = {}
    for app in ("projects", "annotation", "generation", "evaluation", "releases"):
        for room in ("views", "pages", "serializers", "permissions"):
            for path in [*(settings.ROOT / app).glob(f"{room}.py"), *(settings.ROOT / app / room).rglob("*.py")]:
                if names := NAMED.findall(path.read_text(encoding="utf-8")):
                    found[str(path.relative_to(settings.ROOT))] = names
    assert found == {"projects/permissions.py": [".role in", ".role =="]}
    assert NAMED.findall("member.role in (Role.LEAD,)") == [".role in", "Role.LEAD"]


def test_every_verb_is_asked_for_and_every_one_that_is_asked_for_is_in_the_table() -> None:
    """Every verb of the table is used in some other file."""
    said = "".join(
        path.read_text(encoding="utf-8")
        for app in ("projects", "annotation", "generation", "evaluation", "releases")
        for path in (settings.ROOT / app).rglob("*.py")
        if path.name != "roles.py"
    )
    assert [verb for verb in MAY if f'"{verb}"' not in said] == []
    asked = set(re.findall(r"\b(?:may|permit)\([^\n]*, \"([^\"\n]+)\"\)", said))
    assert len(asked) > 10
    assert asked <= set(MAY)


@pytest.fixture
def round(project: Project, ann1: User) -> Round:
    build_cluster(project)
    return build_round(project, [project.members.get(user=ann1)])


def test_rounds_and_units_are_reached_through_membership(
    round: Round, project: Project, ann2: User, stranger: User
) -> None:
    unit = project.units.first()
    assert unit is not None
    assert round_of(ann2, round.pk)[0] == unit_of(ann2, unit.pk)[0].project.rounds.get()
    for reach in (lambda: round_of(stranger, round.pk), lambda: unit_of(stranger, unit.pk)):
        with pytest.raises(NotFound):
            reach()


def test_only_who_works_in_a_round_is_at_work_there(round: Round, ann1: User, ann2: User, lead: User) -> None:
    assert round_at_work(ann1, round.pk) == round
    for user in (ann2, lead):
        with pytest.raises(NotFound):
            round_at_work(user, round.pk)


def test_a_job_is_visible_to_evaluators_and_stopped_by_leads_and_its_owner(
    project: Project, lead: User, ann1: User, ann2: User, stranger: User
) -> None:
    job = Job.objects.create(project=project, kind="import", created_by=ann1)
    assert job_of(ann2, job.pk) == job
    for user in (lead, ann1):
        require_job_report(user, job)
    with pytest.raises(Forbidden):
        require_job_report(ann2, job)
    require_job_control(lead, job)
    require_job_control(ann1, job)
    with pytest.raises(Forbidden):
        require_job_control(ann2, job)
    with pytest.raises(NotFound):
        job_of(stranger, job.pk)
    own = Job.objects.create(project=None, kind="import", created_by=stranger)
    assert job_of(stranger, own.pk) == own
    with pytest.raises(NotFound):
        job_of(lead, own.pk)


def test_a_member_of_another_project_or_one_who_left_is_not_found_here(
    project: Project, lead: User, ann1: User, stranger: User
) -> None:
    elsewhere = people_actions.create_project(name="Ear", by=stranger).members.get()
    left = Member.objects.get(project=project, user=ann1)
    people_actions.remove_member(member=left, by=lead)
    for member in (elsewhere, left):
        with pytest.raises(NotFound):
            member_to(project, member.pk)
