"""Recruitment links: ids of the platform, places, ends, and what the lead and others see."""

import csv
import io
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from audit.models import Entry
from projects.models import (
    Answer,
    Assignment,
    ExternalId,
    Member,
    ParticipantLink,
    Project,
    Recruit,
    Recruitment,
    Round,
)
from projects.recruitment import actions
from projects.rounds.actions import close_round, remove_person
from tests.builders import build_cluster, build_round, label_value, submission
from tests.recruiting import (
    ENDS,
    PID,
    QUESTION,
    SESSION,
    STUDY,
    accept,
    counts,
    create_link,
    expire,
    held,
    look,
    no_place_is_lost,
    people,
    place,
    post_link,
    query_of,
    screen,
)

ClientOf = Callable[[User], APIClient]
pytestmark = pytest.mark.django_db


@pytest.fixture
def round(project: Project) -> Round:
    build_cluster(project, inputs=5)
    return build_round(project, [project.members.get(pseudonym="R1")], allocation="pool", overlap=3)


def answer_units(client: APIClient, round: Round, most: int = 100, ms: int = 60_000) -> int:
    """Answer the held units until none is left, and return how many."""
    for number in range(most):
        ids = held(client, round)
        if not ids:
            return number
        body = {
            "assignment": ids[0],
            "revision": 0,
            "kind": "label",
            "shown": 1,
            "outcome": "answered",
            "value": label_value(),
            "active_ms": ms,
            "have": [],
        }
        reply = client.put(f"/api/v1/answers/{submission(Assignment(pk=ids[0])).uuid}/", body, format="json")
        assert reply.status_code == 201, reply.content
    return most


def test_a_person_completes_and_sees_the_code_only_at_the_end(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round)
    client = APIClient()
    replies = [look(client, token, query_of()), accept(client, token)]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert answer_units(client, round, 1) == 1
    assert client.get("/api/v1/my-work/").json()[0]["left"] == 1
    assert place(client) | {"due_at": None} == {
        "state": "in progress",
        "questions": [],
        "code": "",
        "address": "",
        "due_at": None,
    }
    texts = b"".join(reply.content for reply in [*replies, client.get("/api/v1/participation/")])
    assert not any(end.encode() in texts for end in ENDS.values())
    assert PID.encode() not in texts
    assert answer_units(client, round) == 1, "two units per person"
    assert (place(client)["state"], place(client)["code"]) == ("completed", "DONE1")
    row = people(client_of(lead), round)[PID]
    assert (row["state"], row["answers"], row["active_minutes"]) == ("completed", 2, 2.0)
    assert (row["study_id"], row["session_id"]) == (STUDY, SESSION)
    assert accept(APIClient(), token).json()["place"]["code"] == "DONE1", "the same person, and no second place"
    assert counts(client_of(lead), round)["completed"] == 1
    assert no_place_is_lost()


def test_the_same_id_resumes_the_same_person_without_earlier_answers(
    round: Round, lead: User, client_of: ClientOf
) -> None:
    token = create_link(client_of(lead), round)
    first, second = APIClient(), APIClient()
    accept(first, token)
    answered = held(first, round)[0]
    answer_units(first, round, 1)
    assert look(second, token, query_of()).json()["agreed"] is True
    reply = accept(second, token, **query_of(session="session-2"))
    assert reply.json()["session"]["user"] == first.get("/api/v1/session/").json()["user"]
    assert held(second, round) == held(first, round)
    assert people(client_of(lead), round)[PID]["session_id"] == "session-2"
    assert Member.objects.filter(role="volunteer").count() == 1
    recent = f"/api/v1/rounds/{round.pk}/recent/"
    assert [len(client.get(recent).json()["cards"]) for client in (first, second)] == [1, 0]
    body = {"assignment": answered, "revision": 0, "kind": "label", "shown": 1, "outcome": "skipped", "have": []}
    body |= {"reason": "unclear"}
    change = second.put(f"/api/v1/answers/{submission(Assignment(pk=answered)).uuid}/", body, format="json")
    assert (change.status_code, change.json()["type"]) == (409, "/problems/conflict")
    assert "current" not in change.json()
    answer_units(second, round)
    assert len(second.get(recent).json()["cards"]) == 1
    assert place(second)["state"] == place(first)["state"] == "completed"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({}, "has no participant id (PROLIFIC_PID)"),
        ({"PROLIFIC_PID": "x" * 101}, "at most 100 letters"),
        ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "is invalid"),
        ({"PROLIFIC_PID": "=1+1"}, "is invalid"),
        ({"PROLIFIC_PID": PID, "SESSION_ID": "a b"}, "session id in the address (SESSION_ID) is invalid"),
    ],
)
def test_a_faulty_id_is_named_and_takes_no_place(
    round: Round, lead: User, client_of: ClientOf, query: dict[str, str], words: str
) -> None:
    token = create_link(client_of(lead), round)
    client = APIClient()
    digest = look(client, token, query_of()).json()["digest"]
    body = {"token": token, "digest": digest, "query": query}
    reply = client.post("/api/v1/take/accept/", body, format="json")
    assert reply.status_code == 422, reply.content
    assert words in reply.json()["errors"][0]["message"]
    assert not Recruit.objects.exists()


def test_mturk_shows_a_preview_before_the_task_is_accepted(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round, platform="mturk")
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"}
    shown = look(APIClient(), token, preview).json()
    assert (shown["preview"], shown["missing_id"]) == (True, "")
    assert accept(APIClient(), token, **preview).status_code == 409
    accepted = accept(APIClient(), token, workerId="W1", assignmentId="A1", hitId="H1")
    assert accepted.status_code == 200
    row = people(client_of(lead), round)["W1"]
    assert (row["session_id"], row["study_id"]) == ("A1", "H1")


def test_a_wrong_answer_to_a_screening_question_screens_out(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round, capacity=2, questions=[QUESTION])
    out, fits = APIClient(), APIClient()
    asked = accept(out, token, "A1").json()["place"]["questions"]
    assert asked == [{"question": QUESTION["question"], "options": QUESTION["options"]}]
    assert out.get(f"/api/v1/rounds/{round.pk}/next/").status_code == 404, "no unit before the questions"
    assert screen(out).status_code == 422
    assert screen(out, 9).status_code == 422
    assert screen(out, 0).json()["code"] == "OUT1"
    assert screen(out, 2).status_code == 409, "once"
    assert out.get(f"/api/v1/rounds/{round.pk}/next/").status_code == 404
    again = accept(APIClient(), token, "A1").json()["place"]
    assert (again["state"], again["code"], again["questions"]) == ("screened out", "OUT1", [])
    accept(fits, token, "B1")
    assert screen(fits, 1).json()["state"] == "in progress"
    assert held(fits, round)
    assert (counts(client_of(lead), round)["free"], counts(client_of(lead), round)["screened_out"]) == (1, 1)
    assert no_place_is_lost()


def test_time_out_returns_the_place_and_the_person_can_resume(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round, capacity=2)
    slow, other, third = APIClient(), APIClient(), APIClient()
    accept(slow, token, "S1")
    answer_units(slow, round, 1)
    accept(other, token, "O1")
    assert look(third, token, query_of("T1")).json()["full"] is True
    assert accept(third, token, "T1").status_code == 409
    expire("S1")
    assert look(third, token, query_of("T1")).json()["full"] is False
    assert accept(third, token, "T1").status_code == 200, "the place is returned when the next person comes"
    assert place(slow)["state"] == "timed out"
    assert slow.get(f"/api/v1/rounds/{round.pk}/next/").status_code == 404
    assert not Assignment.objects.filter(person__user__name=people(client_of(lead), round)["S1"]["pseudonym"]).filter(
        current_answer=None, number__gte=1
    )
    assert Answer.objects.count() == 1, "answers stay"
    refused = accept(APIClient(), token, "S1")
    assert (refused.status_code, "no place" in refused.json()["detail"]) == (409, True)
    expire("T1")
    assert actions.return_late_places() == 1
    assert accept(APIClient(), token, "S1").status_code == 200
    assert answer_units(slow, round) == 1, "the first answer counts"
    assert place(slow)["code"] == "DONE1"
    assert no_place_is_lost()


def test_a_person_who_answered_everything_is_not_timed_out(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round)
    client = APIClient()
    accept(client, token)
    answer_units(client, round)
    expire(PID)
    assert actions.return_late_places() == 0
    assert place(client)["state"] == "completed"


def test_nobody_completes_without_an_answer(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round)
    client = APIClient()
    accept(client, token)
    close_round(round=round, by=lead)
    assert place(client)["state"] == "in progress"


def test_a_person_whom_a_lead_removed_cannot_resume(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round)
    client = APIClient()
    accept(client, token)
    answer_units(client, round, 1)
    remove_person(round=round, member=Member.objects.get(role="volunteer"), by=lead)
    assert place(client)["state"] == "in progress"
    assert accept(APIClient(), token).status_code == 409
    expire(PID)
    assert actions.return_late_places() == 1
    refused = accept(APIClient(), token)
    assert (refused.status_code, "removed" in refused.json()["detail"]) == (409, True)
    assert no_place_is_lost()


def test_withdrawing_returns_the_place(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round)
    client = APIClient()
    digest = look(client, token, query_of()).json()["digest"]
    accept(client, token)
    assert client.delete("/api/v1/participation/").status_code == 200
    assert place(client)["state"] == "withdrawn"
    assert counts(client_of(lead), round)["returned"] == 1
    assert no_place_is_lost()
    assert client.post("/api/v1/participation/", {"digest": digest}, format="json").status_code == 200
    assert held(client, round)
    assert place(client)["state"] == "in progress"
    assert no_place_is_lost()


def test_an_id_takes_one_place_in_all_links_of_a_round(round: Round, lead: User, client_of: ClientOf) -> None:
    of_lead = client_of(lead)
    first = create_link(of_lead, round)
    body = {"labels": ["second"], "capacity": 5, "recruitment": {"platform": "prolific", "completed_end": "DONE2"}}
    second = of_lead.post(f"/api/v1/rounds/{round.pk}/participant-links/", body, format="json").json()["links"][0]
    accept(APIClient(), first)
    digest = look(APIClient(), second["token"], query_of("else")).json()["digest"]
    body = {"token": second["token"], "digest": digest, "query": query_of()}
    reply = APIClient().post("/api/v1/take/accept/", body, format="json")
    assert (reply.status_code, "another link" in reply.json()["detail"]) == (409, True)
    assert ParticipantLink.objects.get(label="second").used == 0


def test_deleted_ids_resume_nobody_and_take_no_second_place(round: Round, lead: User, client_of: ClientOf) -> None:
    of_lead = client_of(lead)
    token = create_link(of_lead, round)
    accept(APIClient(), token)
    row = people(of_lead, round)[PID]
    link = ParticipantLink.objects.get(parent=None)
    address = f"/api/v1/rounds/{round.pk}/recruitments/{link.pk}/people/{row['id']}/external-ids/"
    assert [of_lead.delete(address).status_code for _ in range(2)] == [204, 204]
    assert people(of_lead, round)[""]["pseudonym"] == row["pseudonym"]
    reply = APIClient().post("/api/v1/take/accept/", {"token": token, "digest": "", "query": query_of()}, format="json")
    assert (reply.status_code, "deleted" in reply.json()["detail"]) == (409, True)
    assert Entry.objects.filter(verb="delete external ids").count() == 1
    assert PID not in str(list(Entry.objects.values())), "the log names no id"


def test_the_daily_sweep_deletes_ids_after_the_set_period(round: Round, lead: User, client_of: ClientOf) -> None:
    token = create_link(client_of(lead), round, keep_days=10)
    accept(APIClient(), token)
    now = timezone.now()
    assert actions.sweep(now + timedelta(days=9)) == 0
    close_round(round=round, by=lead)
    assert actions.sweep(now + timedelta(days=9)) == 0
    assert actions.sweep(now + timedelta(days=11)) == 1
    assert (ExternalId.objects.count(), Recruit.objects.count()) == (0, 1)
    assert actions.sweep(now + timedelta(days=11)) == 0


def test_the_file_has_ids_times_and_pay_without_formulas(round: Round, lead: User, client_of: ClientOf) -> None:
    of_lead = client_of(lead)
    token = create_link(of_lead, round, pay="3.00", currency="EUR")
    client = APIClient()
    accept(client, token)
    answer_units(client, round, ms=15 * 60_000)
    place(client)
    # Older rows may contain what is refused today.
    ExternalId.objects.update(external_id="=HYPERLINK(1)")
    link = ParticipantLink.objects.get(parent=None)
    reply = of_lead.get(f"/api/v1/rounds/{round.pk}/recruitments/{link.pk}/people/file/")
    (row,) = csv.DictReader(io.StringIO(b"".join(reply).decode()))
    assert row["external id"] == "'=HYPERLINK(1)"
    wanted = {"state": "completed", "active minutes": "30.0", "pay": "3.00", "pay per hour": "6.0", "currency": "EUR"}
    assert {name: row[name] for name in wanted} == wanted
    assert counts(of_lead, round)["median_per_hour"] == 6.0


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"completed_end": "http://example.org/x"}, "completed_end"),
        ({"completed_end": "javascript:alert(1)"}, "completed_end"),
        ({"completed_end": "https://user@example.org/"}, "completed_end"),
        ({"completed_end": "https://example.org:99999/"}, "completed_end"),
        ({"completed_end": "https://..org/"}, "completed_end"),
        ({"completed_end": "https://example.org/\u202egro"}, "completed_end"),
        ({"completed_end": ""}, "completed_end"),
        ({"screened_out_end": "DONE1"}, "completed_end"),
        ({"parameters": {"id": "a b"}}, "parameters.id"),
        ({"parameters": {"id": "a", "study": "a"}}, "parameters.id"),
        ({"questions": [QUESTION | {"accepted": [3]}]}, "questions.0.accepted"),
        ({"questions": [QUESTION | {"accepted": []}]}, "questions.0.accepted"),
        ({"currency": "euro"}, "currency"),
    ],
)
def test_faulty_settings_are_named_by_field(
    round: Round, lead: User, client_of: ClientOf, settings: dict[str, Any], field: str
) -> None:
    reply = post_link(client_of(lead), round, **settings)
    assert reply.status_code == 422, reply.content
    assert f"recruitment.{field}" in {error["field"] for error in reply.json()["errors"]}
    assert not ParticipantLink.objects.exists()


def test_a_recruitment_link_is_shared(round: Round, lead: User, client_of: ClientOf) -> None:
    assert post_link(client_of(lead), round, capacity=1).json()["errors"][0]["field"] == "capacity"


def test_the_people_list_costs_the_same_however_many_people(
    round: Round, lead: User, client_of: ClientOf, django_assert_max_num_queries: Any
) -> None:
    of_lead = client_of(lead)
    token = create_link(of_lead, round, capacity=30)
    for n in range(12):
        accept(APIClient(), token, f"P{n}")
    with django_assert_max_num_queries(10):
        assert len(people(of_lead, round)) == 12


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_give_each_id_one_place_and_no_place_twice(project: Project, lead: User) -> None:
    """Twelve requests of six ids, two each, for four places; one late person's place is returned meanwhile."""
    build_cluster(project, inputs=4)
    round = build_round(project, [project.members.get(pseudonym="R1")], allocation="pool", overlap=9)
    of_lead = APIClient()
    of_lead.force_login(lead)
    token = create_link(of_lead, round, capacity=4)
    accept(APIClient(), token, "late")
    expire("late")
    ids = [f"P{n}" for n in range(6)] * 2
    digest = look(APIClient(), token, query_of("x")).json()["digest"]
    start, replies = threading.Barrier(len(ids)), list[tuple[str, Any]]()

    def press(pid: str) -> None:
        try:
            start.wait(timeout=30)
            body = {"token": token, "digest": digest, "query": query_of(pid)}
            replies.append((pid, APIClient().post("/api/v1/take/accept/", body, format="json")))
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[pid]) for pid in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert {reply.status_code for _, reply in replies} == {200, 409}
    accepted = {pid for pid, reply in replies if reply.status_code == 200}
    assert len(accepted) == 4
    assert Recruit.objects.filter(state="in progress").count() == 4
    assert Recruit.objects.filter(state="timed out").count() == 1
    assert no_place_is_lost()
    assert Recruitment.objects.get().link.used == 4
