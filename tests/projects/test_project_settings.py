"""Projects, their settings, and the audit trail."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from audit.actions import create_checkpoints
from audit.models import Entry
from projects.models import Project, Round
from projects.people import actions as people_actions
from projects.queue.actions import next_assignments
from tests.builders import answer, build_cluster, build_round, label_value

ClientOf = Callable[[User], APIClient]
PROJECTS, EYE = "/api/v1/projects/", "/api/v1/projects/eye/"


def test_the_creator_of_a_project_is_its_lead(stranger: User, client_of: ClientOf) -> None:
    client = client_of(stranger)
    made = client.post(PROJECTS, {"name": "Retina & co."}, format="json")
    assert (made.status_code, made.json()["slug"], made.json()["role"]) == (201, "retina-co", "lead")
    assert [p["slug"] for p in client.get(PROJECTS).json()["results"]] == ["retina-co"]
    assert list(Entry.objects.order_by("id").values_list("verb", flat=True)) == ["create project", "add member"]


def test_the_project_list_shows_progress(project: Project, lead: User, ann1: User, client_of: ClientOf) -> None:
    mine = list(project.members.filter(user=ann1))
    build_cluster(project)
    build_round(project, mine, name="done")
    Round.objects.update(status=Round.Status.CLOSED)
    round = build_round(project, mine, name="open")
    answer(ann1, next_assignments(user=ann1, round=round)[0], label_value("positive"))
    [row] = client_of(lead).get(PROJECTS).json()["results"]
    assert row["progress"] == {"rounds": 2, "open_rounds": 1, "answered": 1, "assignments": round.units_count}
    assert client_of(ann1).get(PROJECTS).json()["results"][0]["progress"] is None


def test_a_short_name_is_unique(project: Project, stranger: User, client_of: ClientOf) -> None:
    """The second project gets another name and learns nothing of the first (test_existence)."""
    reply = client_of(stranger).post(PROJECTS, {"name": "Mine", "slug": "eye"}, format="json")
    assert reply.status_code == 201
    assert reply.json()["slug"] != "eye"
    assert not project.members.filter(user=stranger).exists()


def test_a_name_without_letters_asks_for_a_short_name(stranger: User, client_of: ClientOf) -> None:
    reply = client_of(stranger).post(PROJECTS, {"name": "???"}, format="json")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "slug")


def test_the_lead_changes_settings_and_the_log_has_before_and_after(
    project: Project, lead: User, client_of: ClientOf
) -> None:
    body = {"name": "Eye", "licence": "CC-BY-4.0"}
    assert client_of(lead).patch(EYE, body, format="json").json()["licence"] == "CC-BY-4.0"
    entry = Entry.objects.get()
    assert (entry.verb, entry.before, entry.after) == ("change project", {"licence": ""}, {"licence": "CC-BY-4.0"})


@pytest.mark.parametrize("text", ["CC BY 4.0", "free for research", "CC-BY-5.0"])
def test_a_licence_that_is_no_spdx_id_is_refused_at_its_field(
    project: Project, lead: User, client_of: ClientOf, text: str
) -> None:
    reply = client_of(lead).patch(EYE, {"licence": text}, format="json")
    assert reply.status_code == 422
    assert [error["field"] for error in reply.json()["errors"]] == ["licence"]


def test_a_licence_gets_the_capitals_of_spdx(project: Project, lead: User, client_of: ClientOf) -> None:
    assert client_of(lead).patch(EYE, {"licence": "cc-by-4.0"}, format="json").json()["licence"] == "CC-BY-4.0"


def test_publishing_comments_is_off_until_the_lead_chooses_it_which_is_logged(
    project: Project, lead: User, ann1: User, client_of: ClientOf
) -> None:
    assert client_of(lead).get(EYE).json()["publish_comments"] is False
    assert client_of(ann1).patch(EYE, {"publish_comments": True}, format="json").status_code == 403
    assert client_of(lead).patch(EYE, {"publish_comments": True}, format="json").json()["publish_comments"] is True
    entry = Entry.objects.get()
    assert (entry.before, entry.after) == ({"publish_comments": False}, {"publish_comments": True})


@pytest.mark.parametrize("body", [{"slug": "mine"}, {"illustrative": True}, {"role": "lead"}, {"name": ""}])
def test_project_settings_refuse_other_fields(
    project: Project, lead: User, client_of: ClientOf, body: dict[str, Any]
) -> None:
    assert client_of(lead).patch(EYE, body, format="json").status_code == 422
    project.refresh_from_db()
    assert (project.slug, project.name, project.illustrative) == ("eye", "Eye", False)


def test_a_list_holds_only_ones_own_active_projects(
    project: Project, lead: User, ann1: User, client_of: ClientOf
) -> None:
    Project.objects.create(slug="ear", name="Ear")
    client = client_of(ann1)
    assert [(p["slug"], p["role"]) for p in client.get(PROJECTS).json()["results"]] == [("eye", "annotator")]
    people_actions.remove_member(member=project.members.get(user=ann1), by=lead)
    assert client.get(PROJECTS).json()["results"] == []


def test_lists_of_projects_cost_the_same_however_many(
    project: Project, lead: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    for n in range(20):
        people_actions.create_project(name=f"P {n}", by=lead)
    client = client_of(lead)
    with django_assert_num_queries(6):
        assert len(client.get(PROJECTS).json()["results"]) == 21
    with django_assert_num_queries(3):
        assert len(client.get("/api/v1/session/").json()["projects"]) == 21


def test_the_audit_log_lists_who_did_what_newest_first(
    project: Project, lead: User, ann1: User, client_of: ClientOf
) -> None:
    member = project.members.get(user=ann1)
    people_actions.change_role(member=member, role="curator", by=lead)
    create_checkpoints()
    people_actions.change_project(project=project, by=lead, name="Eyes")
    people_actions.create_project(name="Ear", by=lead)
    found = client_of(ann1).get(f"{EYE}audit/").json()["results"]
    assert [(e["verb"], e["actor"], e["checkpoint"]) for e in found] == [
        ("change project", "Lead", None),
        ("change role", "Lead", 1),
    ]
    of_member = client_of(lead).get(f"{EYE}audit/", {"object_type": "member", "object_id": str(member.pk)}).json()
    assert [e["after"] for e in of_member["results"]] == [{"role": "curator"}]


@pytest.mark.parametrize(
    "asked", [{"actor__password__startswith": "a"}, {"ordering": "actor__password"}, {"search": "x"}]
)
def test_the_audit_log_ignores_unknown_filters(
    project: Project, lead: User, client_of: ClientOf, asked: dict[str, str]
) -> None:
    people_actions.change_project(project=project, by=lead, name="Eyes")
    client = client_of(lead)
    assert client.get(f"{EYE}audit/", asked).json() == client.get(f"{EYE}audit/").json()


def test_nul_in_a_filter_is_refused(project: Project, lead: User, client_of: ClientOf) -> None:
    assert client_of(lead).get(f"{EYE}audit/", {"object_type": "\0"}).status_code == 422
    assert client_of(lead).get(f"{EYE}guidelines/", {"kind": "\0"}).status_code == 422


def test_the_trail_costs_the_same_however_long(
    project: Project, lead: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    for n in range(30):
        people_actions.change_project(project=project, by=lead, name=f"Eye {n}")
    create_checkpoints()
    client = client_of(lead)
    with django_assert_num_queries(13):
        assert len(client.get(f"{EYE}audit/").json()["results"]) == 30
