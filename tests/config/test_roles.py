"""Permissions of each role on the main routes; former members have none."""

import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.actions import make_token
from accounts.models import User
from projects.models import Member, Role
from projects.models import project as roles_table
from projects.participation.actions import make_links
from tests.builders import build_round
from tests.config.other_project import OtherProject
from tests.config.routes import API, CASES, OPEN, Route, api_routes, ask, client_of, no_ids

pytestmark = pytest.mark.django_db

L, C, A, E, V = Role.LEAD, Role.CURATOR, Role.ANNOTATOR, Role.EVALUATOR, Role.VIEWER
READ, JUDGE = {L, C, V}, {L, C}
PLAN = {"name": "new", "kind": "label", "purpose": "gold", "overlap": 1}
#: Method, route, body, roles. An allowed role gets no 403, but a value or conflict may be refused.
MAY: list[tuple[str, str, dict[str, Any] | None, set[Role]]] = [
    ("get", "projects/<slug:slug>/rounds/", None, READ),
    ("post", "projects/<slug:slug>/rounds/", PLAN, {L}),
    ("post", "projects/<slug:slug>/rounds/totals/", PLAN, {L}),
    ("post", "projects/<slug:slug>/rounds/preview/", PLAN, {L}),
    ("get", "projects/<slug:slug>/rounds/choices/", None, {L}),
    ("get", "projects/<slug:slug>/guidelines/<int:guideline_id>/change/", None, READ),
    ("post", "projects/<slug:slug>/guidelines/<int:guideline_id>/correction/", {"name": "x", "people": []}, {L}),
    ("post", "projects/<slug:slug>/guideline-changes/planned/", {"kind": "label", "scope": "all"}, {L}),
    ("get", "projects/<slug:slug>/overview/", None, READ),
    ("get", "projects/<slug:slug>/inbox/", None, JUDGE),
    ("get", "projects/<slug:slug>/inbox/totals/", None, JUDGE),
    ("post", "answers/<uuid:answer_uuid>/remarks/", {"act": "reply", "text": "x"}, JUDGE),
    ("get", "rounds/<int:round_id>/progress/", None, JUDGE),
    ("get", "rounds/<int:round_id>/agreement/", None, JUDGE),
    ("post", "rounds/<int:round_id>/agreement/", None, JUDGE),
    ("post", "rounds/<int:round_id>/preparation/", None, {L}),
    ("delete", "rounds/<int:round_id>/preparation/", None, {L}),
    ("get", "projects/<slug:slug>/endpoints/", None, {L}),
    ("post", "projects/<slug:slug>/endpoints/", {"name": "a b", "url": "x"}, {L}),
    ("get", "projects/<slug:slug>/judges/", None, {L}),
    ("post", "projects/<slug:slug>/judges/", {"name": "x", "endpoint": "none", "model": "x"}, {L}),
    ("get", "projects/<slug:slug>/judges/choices/", None, {L}),
    ("get", "projects/<slug:slug>/judge-runs/", None, {L}),
    ("get", "judge-runs/<int:run_id>/", None, {L}),
    ("get", "judge-runs/<int:run_id>/failures/", None, {L}),
    ("post", "judge-runs/<int:run_id>/stop/", None, {L}),
    ("get", "rounds/<int:round_id>/judge-sets/", None, {L}),
    ("post", "rounds/<int:round_id>/judge-runs/", {"judge": 0}, {L}),
    ("get", "rounds/<int:round_id>/", None, READ),
    ("post", "rounds/<int:round_id>/people/", {"member": 0}, {L}),
    ("delete", "rounds/<int:round_id>/people/<int:member_id>/", None, {L}),
    ("post", "rounds/<int:round_id>/close/", None, {L}),
    ("post", "projects/<slug:slug>/elsewhere/import/", {"job": 0}, {L}),
    ("post", "rounds/<int:round_id>/sheet/", {"person": 0}, {L}),
    ("post", "rounds/<int:round_id>/sheet/import/", {"job": 0}, {L}),
    ("get", "rounds/<int:round_id>/participant-links/", None, {L}),
    ("post", "rounds/<int:round_id>/participant-links/", {"labels": ["x"]}, {L}),
    ("patch", "rounds/<int:round_id>/participant-links/<int:link_id>/", {"days": 3}, {L}),
    ("delete", "rounds/<int:round_id>/participant-links/<int:link_id>/", None, {L}),
    ("get", "rounds/<int:round_id>/recruitments/", None, {L}),
    ("get", "rounds/<int:round_id>/recruitments/<int:link_id>/people/", None, {L}),
    ("get", "rounds/<int:round_id>/recruitments/<int:link_id>/people/file/", None, {L}),
    ("delete", "rounds/<int:round_id>/recruitments/<int:link_id>/people/<int:recruit_id>/external-ids/", None, {L}),
    ("get", "rounds/<int:round_id>/consent-text/", None, {L}),
    ("put", "rounds/<int:round_id>/consent-text/", {"text": "x"}, {L}),
    ("post", "units/<int:unit_id>/corrections/", {"kind": "label"}, JUDGE),
    ("post", "units/<int:unit_id>/confirmations/", {"kind": "label"}, JUDGE),
    ("post", "rounds/<int:round_id>/upheld-answers/", {"guideline": 1}, JUDGE),
    ("get", "units/<int:unit_id>/place/", None, READ),
    ("get", "units/<int:unit_id>/origin/", None, READ),
    ("get", "units/<int:unit_id>/origin/releases/", None, READ),
    ("get", "releases/<int:release_id>/row/", None, READ),
    ("get", "units/<int:unit_id>/text/", None, JUDGE),
    ("get", "projects/<slug:slug>/writers/", None, READ),
    ("post", "units/<int:unit_id>/text/", {"text": "x", "reason": "x"}, JUDGE),
    ("get", "projects/<slug:slug>/stale/", None, JUDGE),
    ("get", "projects/<slug:slug>/stale/totals/", None, JUDGE),
    ("get", "projects/<slug:slug>/outdated-answers/", None, JUDGE),
    ("get", "jobs/<int:job_id>/", None, JUDGE),
    ("post", "jobs/<int:job_id>/cancel/", None, {L}),
    ("post", "jobs/<int:job_id>/dismissal/", None, {L}),
    ("post", "projects/<slug:slug>/findings/dismissals/", {"findings": [1], "reason": "x"}, JUDGE),
    ("get", "projects/<slug:slug>/imports/", None, {L}),
    ("post", "projects/<slug:slug>/imports/confirm/", {"job": 0}, {L}),
    ("post", "projects/<slug:slug>/imports/columns/", {"job": 0}, {L}),
    ("post", "projects/<slug:slug>/imports/columns/check/", {"job": 0, "columns": "{}"}, {L}),
    ("get", "projects/<slug:slug>/mappings/", None, {L}),
    ("post", "projects/<slug:slug>/mappings/", {"name": "x", "columns": "{}"}, {L}),
    ("get", "projects/<slug:slug>/mappings/<int:mapping_id>/", None, {L}),
    ("delete", "projects/<slug:slug>/mappings/<int:mapping_id>/", None, {L}),
    ("get", "imports/<int:import_id>/", None, {L}),
    ("get", "imports/<int:import_id>/notices/", None, {L}),
    ("post", "imports/<int:import_id>/continue/", None, {L}),
    ("post", "imports/<int:import_id>/withdraw/", None, {L}),
    ("get", "projects/<slug:slug>/clusters/", None, READ),
    ("get", "clusters/<int:cluster_id>/", None, READ),
    ("get", "reviews/<int:review_id>/", None, READ),
    ("post", "projects/<slug:slug>/reviews/", {}, JUDGE),
    ("get", "reviews/<int:review_id>/curation/", None, JUDGE),
    ("post", "reviews/<int:review_id>/corrections/", {}, JUDGE),
    ("post", "reviews/<int:review_id>/clusters/", {}, JUDGE),
    ("post", "reviews/<int:review_id>/sentences/", {}, JUDGE),
    ("post", "clusters/<int:cluster_id>/propositions/", {}, JUDGE),
    ("post", "clusters/<int:cluster_id>/removal/", {}, JUDGE),
    ("post", "units/<int:unit_id>/removal/", {}, JUDGE),
    ("get", "studies/<int:study_id>/", None, READ),
    ("get", "studies/<int:study_id>/readings/", None, READ),
    ("get", "reviews/<int:review_id>/readings/", None, READ),
    ("get", "effect-pairs/<int:pair_id>/readings/", None, READ),
    ("get", "projects/<slug:slug>/summary/", None, READ),
    ("get", "projects/<slug:slug>/statistics/", None, READ),
    ("get", "projects/<slug:slug>/backends/", None, READ),
    ("get", "projects/<slug:slug>/systems/", None, READ),
    ("post", "projects/<slug:slug>/systems/", {"name": "new"}, {L}),
    ("get", "systems/<int:system_id>/", None, READ),
    ("post", "systems/<int:system_id>/versions/", {"config": {}}, {L}),
    ("get", "versions/<int:version_id>/", None, READ),
    ("post", "versions/<int:version_id>/runs/", {}, {L}),
    ("get", "runs/<int:run_id>/", None, READ),
    ("post", "runs/<int:run_id>/stop/", None, {L}),
    ("post", "runs/<int:run_id>/resume/", None, {L}),
    ("post", "runs/<int:run_id>/retry/", None, {L}),
    ("get", "runs/<int:run_id>/items/", None, READ),
    ("get", "runs/<int:run_id>/summaries/", None, READ),
    ("get", "runs/<int:run_id>/scores/", None, READ),
    ("post", "runs/<int:run_id>/scores/", {"metric": "rouge"}, {L}),
    ("get", "projects/<slug:slug>/readings/", None, {L}),
    ("get", "projects/<slug:slug>/readings/check/", {"task": "pio", "model": "none"}, {L}),
    ("post", "projects/<slug:slug>/readings/", {"task": "pio", "model": "none"}, {L}),
    ("post", "projects/<slug:slug>/readings/withdraw/", {"task": "pio", "model": "none"}, {L}),
    ("get", "projects/<slug:slug>/trainings/", None, {L}),
    ("get", "projects/<slug:slug>/trainings/choices/", None, {L}),
    (
        "post",
        "projects/<slug:slug>/trainings/",
        {"name": "BART", "trainer": "seq2seq", "split": 0, "part": "train"},
        {L},
    ),
    ("get", "trainings/<int:training_id>/", None, {L}),
    ("post", "trainings/<int:training_id>/resume/", None, {L}),
    ("delete", "trainings/<int:training_id>/checkpoints/", None, {L}),
    ("post", "trainings/<int:training_id>/version/", {"system": "BART, trained"}, {L}),
    ("get", "projects/<slug:slug>/results/", None, READ),
    ("get", "projects/<slug:slug>/results/<slug:table>/<slug:form>/", None, READ),
    ("get", "runs/<int:run_id>/embargoes/", None, READ),
    ("post", "runs/<int:run_id>/embargoes/", {"members": [1]}, {L}),
    ("post", "embargoes/<int:embargo_id>/lift/", None, {L}),
    ("get", "projects/<slug:slug>/outputs/", None, READ),
    ("get", "projects/<slug:slug>/outputs/imports/", None, READ),
    ("get", "projects/<slug:slug>/protocols/", None, READ),
    ("post", "projects/<slug:slug>/protocols/", {"name": "new", "content": {}}, {L}),
    ("get", "projects/<slug:slug>/protocols/templates/", None, READ),
    ("post", "projects/<slug:slug>/protocols/check/", {"content": {}}, {L}),
    ("get", "protocols/<int:protocol_id>/", None, READ),
    ("patch", "protocols/<int:protocol_id>/", {"name": "another"}, {L}),
    ("post", "protocols/<int:protocol_id>/versions/", {"content": {}}, {L}),
    ("get", "protocol-versions/<int:version_id>/", None, READ),
    ("get", "protocol-versions/<int:version_id>/file/", None, READ),
    ("get", "projects/<slug:slug>/methods/", None, {L, C}),
    ("post", "projects/<slug:slug>/methods/", None, {L, C}),
    ("get", "projects/<slug:slug>/releases/", None, READ),
    ("post", "projects/<slug:slug>/releases/", {"version": "2.0.0"}, {L}),
    ("get", "projects/<slug:slug>/releases/checks/", None, READ),
    ("get", "releases/<int:release_id>/", None, READ),
    ("get", "releases/<int:release_id>/verify/", None, READ),
    ("get", "releases/<int:release_id>/archive/", None, READ),
    ("get", "releases/<int:release_id>/files/<path:path>", None, READ),
]


@pytest.mark.row(41)
@pytest.mark.parametrize("role", [A, V, *(pytest.param(role, marks=pytest.mark.long) for role in (L, C, E))])
def test_each_role_may_what_the_table_says(other: OtherProject, stranger: User, role: Role) -> None:
    member = Member.objects.create(project=other.project, user=stranger, role=role, pseudonym="S")
    client, wrong = client_of(stranger), []
    for method, pattern, body, allowed in MAY:
        route = Route(pattern, frozenset({method}))
        ids = {"slug": other.project.slug} | CASES[pattern](other)
        reply = getattr(client, method)(route.address(ids), body, format="json")
        if (reply.status_code != 403) != (role in allowed) or reply.status_code >= 500:
            wrong.append(f"{method} {pattern}: {reply.status_code}")
    assert wrong == []
    assert client.get(f"/{API}rounds/{other.round.pk}/next/").status_code == 404, "not a participant of this round"
    Member.objects.filter(pk=member.pk).update(left_at="2020-01-01T00:00:00Z")
    for method, pattern, body, _ in MAY:
        ids = {"slug": other.project.slug} | CASES[pattern](other)
        reply = getattr(client, method)(Route(pattern, frozenset()).address(ids), body, format="json")
        assert reply.status_code == 404, f"{pattern} for somebody who has left"


@pytest.mark.row(41)
def test_a_revoked_role_ends_with_the_next_request(other: OtherProject, stranger: User) -> None:
    """In the signed-in browser, and for scripts."""
    member = Member.objects.create(project=other.project, user=stranger, role=Role.LEAD, pseudonym="S")
    browser, script = client_of(stranger), APIClient()
    script.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(user=stranger, name='script')[1]}")
    invitations = f"/{API}projects/{other.project.slug}/invitations/"
    owner, address = client_of(other.owner), f"/{API}projects/{other.project.slug}/members/{member.pk}/"
    assert {person.get(invitations).status_code for person in (browser, script)} == {200}
    assert owner.patch(address, {"role": "annotator"}, format="json").status_code == 200
    assert {person.get(invitations).status_code for person in (browser, script)} == {403}
    assert owner.delete(address).status_code == 204
    assert {person.get(invitations).status_code for person in (browser, script)} == {404}
    assert {person.get(f"/{API}me/").status_code for person in (browser, script)} == {200}
    User.objects.filter(pk=stranger.pk).update(is_active=False)
    assert {person.get(f"/{API}me/").status_code for person in (browser, script)} == {401}


#: Routes and methods that a volunteer reaches besides public ones.
VOLUNTEERS = {
    "session/": {"get", "delete"},
    "me/": {"get", "patch"},
    "my-work/": {"get"},
    "my-work/adjudication/": {"get"},
    "guides/": {"get"},
    "guides/picture/": {"get"},
    "participation/": {"get", "post", "delete"},
    "notifications/": {"get"},
    "notifications/read/": {"post"},
    "rounds/<int:round_id>/": {"get"},
    "rounds/<int:round_id>/next/": {"get"},
    "rounds/<int:round_id>/recent/": {"get"},
    "rounds/<int:round_id>/practice/": {"post"},
    "rounds/<int:round_id>/questions/": {"get", "post"},
    "rounds/<int:round_id>/replies/": {"get"},
    "rounds/<int:round_id>/outcomes/": {"get"},
    "answers/<uuid:answer_uuid>/": {"put"},
}


@pytest.mark.row(41)
def test_to_a_volunteer_nothing_exists_but_the_round_of_the_link(other: OtherProject) -> None:
    """Requests every method of every route with the ids of the volunteer's own project and round, and of another
    round."""
    token = make_links(round=other.round, by=other.owner, labels=["me"])[0][1]
    client = APIClient()
    shown = client.post(f"/{API}take/look/", {"token": token}, format="json").json()
    accepted = {"token": token, "digest": shown["digest"]}
    assert client.post(f"/{API}take/accept/", accepted, format="json").status_code == 200
    before, wrong, reached = other.state(), [], set()
    for route in api_routes():
        address = route.address({"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other))
        for method in route.methods - {"options", "head"} - OPEN.get(route.pattern, set()):
            if method in VOLUNTEERS.get(route.pattern, set()):
                reached.add(route.pattern)
                continue
            reply = ask(client, method, address, other)
            if reply.status_code != 404:
                wrong.append(f"{method} {route.pattern}: {reply.status_code}")
    assert wrong == []
    assert reached == set(VOLUNTEERS)
    assert other.state() == before
    another = build_round(other.project, [other.worker], name="another")
    for page in ("", "next/", "recent/", "replies/"):
        assert client.get(f"/{API}rounds/{other.round.pk}/{page}").status_code == 200
        assert client.get(f"/{API}rounds/{another.pk}/{page}").status_code == 404
    theirs = client.put(f"/{API}answers/{uuid.uuid4()}/", other.submission(), format="json")
    assert theirs.status_code == 404, "somebody else's slot"
    assert client.get("/admin/").status_code == 302
    assert client.patch(f"/{API}me/", {"name": "Ada"}, format="json").status_code == 403


#: Files that may name roles: the list of permissions, and guides, which are named for their readers.
SAID = {
    "pages/People/roles.ts": {"annotator", "evaluator", "curator", "viewer", "lead"},
    "shell/guides.ts": {"annotator", "lead"},
    # The name of a guide.
    "pages/Projects.svelte": {"lead"},
    # A scope of API tokens, not a role.
    "pages/Profile/Tokens.svelte": {"lead"},
}


def roles_in(text: str) -> set[str]:
    """Return the role names among the string literals of a source."""
    return {role for role in Role.values if re.search(rf"""(['"`]){role}\1""", text)}


def test_pages_ask_by_what_is_to_be_done_and_name_no_role() -> None:
    pages = Path(__file__).parents[2] / "frontend" / "src"
    found = {
        path.relative_to(pages).as_posix(): roles
        for path in pages.rglob("*")
        if path.suffix in (".svelte", ".ts") and not path.name.endswith((".test.ts", ".d.ts"))
        if (roles := roles_in(path.read_text(encoding="utf-8")))
    }
    assert found == SAID


def test_a_role_that_is_named_would_be_found() -> None:
    assert roles_in("const lead = role === 'lead'") == {"lead"}
    assert roles_in("Ask the lead, or a viewer") == set()


@pytest.mark.parametrize("role", [role for role in Role if role != Role.VOLUNTEER])
def test_the_session_lists_the_permissions_in_a_project(other: OtherProject, stranger: User, role: Role) -> None:
    Member.objects.create(project=other.project, user=stranger, role=role, pseudonym="S")
    [project] = client_of(stranger).get(f"/{API}session/").json()["projects"]
    assert project["may"] == [verb for verb, roles in roles_table.MAY.items() if role in roles]
