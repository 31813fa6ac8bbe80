"""Members: roles, names and pseudonyms, the last lead, leaving."""

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Conflict
from audit.models import Entry
from projects.models import Assignment, Member, Project
from projects.people import actions as people_actions
from projects.queue import actions as queue_actions
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round

ClientOf = Callable[[User], APIClient]
MEMBERS = "/api/v1/projects/eye/members/"


def one(project: Project, user: User) -> Member:
    return project.members.get(user=user)


def listed(client: APIClient) -> dict[str, dict[str, Any]]:
    return {row["pseudonym"]: row for row in client.get(MEMBERS).json()["results"]}


def test_a_lead_sees_names_and_addresses_a_curator_names_others_pseudonyms(
    project: Project, lead: User, ann1: User, ann2: User, client_of: ClientOf
) -> None:
    seen = listed(client_of(lead))["R2"]
    assert (seen["name"], seen["email"]) == ("Ann2", "ann2@example.org")
    seen = listed(client_of(ann1))
    assert (seen["R2"]["name"], seen["R2"]["email"]) == (None, None)
    assert (seen["R1"]["name"], seen["R1"]["is_me"]) == ("Ann1", True)
    people_actions.change_role(member=one(project, ann1), role="curator", by=lead)
    seen = listed(client_of(ann1))
    assert (seen["R2"]["name"], seen["R2"]["email"]) == ("Ann2", None)


def test_pseudonyms_are_random_and_unlike_in_every_project(project: Project, lead: User, stranger: User) -> None:
    member = people_actions.add_member(project=project, user=stranger, role="annotator", by=lead)
    assert re.fullmatch(r"R-[2-9A-Z]{4}", member.pseudonym)
    other = people_actions.create_project(name="Ear", by=stranger)
    assert one(other, stranger).pseudonym != member.pseudonym


def test_a_pseudonym_that_is_taken_is_drawn_again(
    project: Project, lead: User, stranger: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = iter(["R1", "R2", "R-FREE"])
    monkeypatch.setattr(people_actions, "new_pseudonym", lambda: next(draws))
    assert people_actions.add_member(project=project, user=stranger, role="viewer", by=lead).pseudonym == "R-FREE"


def test_returning_members_keep_their_pseudonym(project: Project, lead: User, ann1: User) -> None:
    member = one(project, ann1)
    people_actions.remove_member(member=member, by=lead)
    back = people_actions.add_member(project=project, user=ann1, role="curator", by=lead)
    assert (back.pk, back.pseudonym, back.role, back.left_at) == (member.pk, member.pseudonym, "curator", None)


def test_an_active_member_stays_as_is_when_added_again(project: Project, lead: User) -> None:
    assert people_actions.add_member(project=project, user=lead, role="viewer", by=lead).role == "lead"


def test_the_last_lead_neither_leaves_nor_gives_the_role_up(
    project: Project, lead: User, ann1: User, client_of: ClientOf
) -> None:
    mine, client = one(project, lead).pk, client_of(lead)
    assert client.delete(f"{MEMBERS}{mine}/").status_code == 409
    assert client.patch(f"{MEMBERS}{mine}/", {"role": "viewer"}, format="json").status_code == 409
    assert client.patch(f"{MEMBERS}{one(project, ann1).pk}/", {"role": "lead"}, format="json").status_code == 200
    assert client.delete(f"{MEMBERS}{mine}/").status_code == 204
    assert project.members.active().get(role="lead").user == ann1


@pytest.mark.django_db(transaction=True)
def test_two_leads_who_demote_each_other_at_once_leave_one(project: Project, lead: User, ann1: User) -> None:
    people_actions.change_role(member=one(project, ann1), role="lead", by=lead)
    start, outcomes = threading.Barrier(2), []

    def demote(by: User, whom: User) -> None:
        try:
            member = Member.objects.select_related("project").get(project=project, user=whom)
            start.wait()
            people_actions.change_role(member=member, role="viewer", by=by)
            outcomes.append("done")
        except Conflict:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=demote, args=pair) for pair in ((lead, ann1), (ann1, lead))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "refused"]
    assert project.members.active().filter(role="lead").count() == 1


def test_a_removed_role_has_no_effect_from_the_next_request_on(
    project: Project, lead: User, ann1: User, client_of: ClientOf
) -> None:
    people_actions.change_role(member=one(project, ann1), role="lead", by=lead)
    client = client_of(ann1)
    url = f"{MEMBERS}{one(project, lead).pk}/"
    assert client.patch(url, {"role": "curator"}, format="json").status_code == 200
    people_actions.change_role(member=one(project, lead), role="lead", by=ann1)
    people_actions.change_role(member=one(project, ann1), role="annotator", by=lead)
    assert client.patch(url, {"role": "viewer"}, format="json").status_code == 403
    people_actions.remove_member(member=one(project, ann1), by=lead)
    assert client.get(MEMBERS).status_code == 404
    assert client.get("/api/v1/session/").json()["projects"] == []


@pytest.mark.parametrize("how", ["removed", "made a viewer"])
def test_people_who_cannot_work_any_more_free_their_assignments(
    project: Project, lead: User, ann1: User, ann2: User, how: str
) -> None:
    build_cluster(project, inputs=3)
    round = build_round(project, [one(project, ann1), one(project, ann2)])
    done, held = queue_actions.next_assignments(user=ann1, round=round)
    answer(ann1, done)
    if how == "removed":
        people_actions.remove_member(member=one(project, ann1), by=lead)
    else:
        people_actions.change_role(member=one(project, ann1), role="viewer", by=lead)
    left = Assignment.objects.filter(round=round, person=one(project, ann1)).counted()
    assert [slot.pk for slot in left] == [done.pk]
    assert held.unit_id in [slot.unit_id for slot in queue_actions.next_assignments(user=ann2, round=round)]


@pytest.mark.parametrize("body", [{"role": "lead", "left_at": None}, {"role": "boss"}, {}, {"pseudonym": "R9"}])
def test_only_the_role_of_a_member_can_be_changed(
    project: Project, lead: User, ann1: User, client_of: ClientOf, body: dict[str, Any]
) -> None:
    url = f"{MEMBERS}{one(project, ann1).pk}/"
    assert client_of(lead).patch(url, body, format="json").status_code == 422
    assert (one(project, ann1).role, one(project, ann1).pseudonym) == ("annotator", "R1")


def test_author_and_earlier_value_are_logged(project: Project, lead: User, ann1: User) -> None:
    people_actions.change_role(member=one(project, ann1), role="curator", by=lead)
    people_actions.remove_member(member=one(project, ann1), by=lead)
    role, left = Entry.objects.order_by("id")
    assert (role.actor, role.project, role.before, role.after) == (
        lead,
        project.pk,
        {"role": "annotator"},
        {"role": "curator"},
    )
    assert (left.verb, left.object_id) == ("remove member", str(one(project, ann1).pk))


def test_the_list_shows_open_rounds_and_to_curators_the_last_answer(
    project: Project, lead: User, ann1: User, ann2: User, client_of: ClientOf
) -> None:
    build_cluster(project)
    for name in ("first", "second"):
        round = build_round(project, [one(project, ann1)], name=name)
    answered = answer(ann1, queue_actions.next_assignments(user=ann1, round=round)[0]).answer
    close_round(round=round, by=lead)

    def activity(user: User) -> dict[str, tuple[int, Any]]:
        return {name: (m["open_rounds"], m["last_answer_at"]) for name, m in listed(client_of(user)).items()}

    own = one(project, ann1).pseudonym
    at = answered.received_at.isoformat().replace("+00:00", "Z")
    assert activity(lead)[own] == activity(ann1)[own] == (1, at)
    assert activity(ann2)[own] == (1, None)
    assert activity(lead)[one(project, ann2).pseudonym] == (0, None)


def test_the_list_costs_the_same_however_many_members(
    project: Project, lead: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    client = client_of(lead)
    with django_assert_num_queries(5):
        assert len(listed(client)) == 4
    for n in range(30):
        user = User.objects.create_user(email=f"p{n}@example.org", name=f"P {n}")
        people_actions.add_member(project=project, user=user, role="annotator", by=lead)
    with django_assert_num_queries(5):
        assert len(listed(client)) == 34
