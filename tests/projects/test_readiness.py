"""Prerequisites of a round: who can begin, who waits for the lead, and where each of them sees it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from projects.curation.actions import correct
from projects.guidelines.actions import write_guideline
from projects.models import Member, Project, Round, Unit
from projects.practice import readiness
from projects.queue.actions import next_assignments
from projects.rounds import previews
from projects.rounds.actions import close_round, remove_person
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db

API = "/api/v1"
GOLD, WRONG = label_value("negative", "strong"), label_value("positive", "strong")
QUESTIONS = [{"question": "What is polarity?", "options": ["a rise", "benefit or harm"], "right": 1, "explanation": ""}]
Client = Callable[[User], APIClient]


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    """Four propositions settled by the lead, and two annotators."""
    build_cluster(project, 0, inputs=1)
    build_cluster(project, 1, inputs=1)
    by = Member.objects.get(project=project, user=lead)
    for unit in Unit.objects.filter(type="proposition"):
        correct(unit=unit, kind="label", value=GOLD, reason="So.", by=by)
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def practise(project: Project, people: list[Member], name: str = "trial", **terms: int) -> Round:
    plan = {"pass_mark": 80, "tries": 1, "attempts": 1} | terms
    return build_round(project, people, name=name, purpose="practice", terms=plan)


def work(round: Round, person: Member, value: dict[str, Any]) -> None:
    while held := next_assignments(user=person.user, round=round):
        answer(person.user, held[0], value)


def let_in(client: APIClient, round: Round, member: Member) -> int:
    body = {"member": member.pk}
    status: int = client.post(f"{API}/rounds/{round.pk}/admissions/", body, format="json").status_code
    return status


def my_work(client: APIClient) -> dict[str, Any]:
    return {row["name"]: row for row in client.get(f"{API}/my-work/").json()}


def test_a_lead_admits_people_who_failed_their_last_attempt(
    client_of: Client, project: Project, people: list[Member], lead: User
) -> None:
    trial = practise(project, people)
    real = build_round(project, people, name="real", requires_practice=trial.pk)
    work(trial, people[0], WRONG)
    rows = client_of(lead).get(f"{API}/rounds/{real.pk}/admissions/").json()
    assert [(r["practice"], r["waits_for_lead"], r["of"]) for r in rows] == [
        ("ask the lead", True, 0),
        ("to do", False, 0),
    ]
    assert client_of(lead).get(f"{API}/rounds/{real.pk}/").json()["requires_practice"] == {
        "id": trial.pk,
        "name": "trial",
    }
    assert next_assignments(user=people[0].user, round=real) == []
    assert let_in(client_of(lead), real, people[0]) == 204
    assert next_assignments(user=people[0].user, round=real) != []
    answer(people[0].user, next_assignments(user=people[0].user, round=real)[0])
    assert not client_of(lead).get(f"{API}/rounds/{real.pk}/admissions/").json()[0]["waits_for_lead"]


def test_admitted_people_still_have_their_remaining_attempts(
    client_of: Client, project: Project, people: list[Member], lead: User
) -> None:
    trial = practise(project, people)
    real = build_round(project, people, name="real", requires_practice=trial.pk)
    assert let_in(client_of(lead), real, people[0]) == 204
    assert next_assignments(user=people[0].user, round=real) == []
    close_round(round=trial, by=None)
    real = Round.objects.get(pk=real.pk)
    assert next_assignments(user=people[0].user, round=real) != []
    assert next_assignments(user=people[1].user, round=real) == []


def test_people_removed_from_practice_wait_for_the_lead(
    client_of: Client, project: Project, people: list[Member], lead: User
) -> None:
    trial = practise(project, people)
    real = build_round(project, people, name="real", requires_practice=trial.pk)
    work(trial, people[1], GOLD)
    for person in people:
        remove_person(round=trial, member=person, by=None)
    rows = client_of(lead).get(f"{API}/rounds/{real.pk}/admissions/").json()
    assert [(r["practice"], r["waits_for_lead"]) for r in rows] == [("ask the lead", True), ("passed", False)]


def test_admission_is_refused_for_rounds_without_prerequisites(
    client_of: Client, project: Project, people: list[Member], lead: User
) -> None:
    assert let_in(client_of(lead), build_round(project, people), people[0]) == 409


def test_my_work_says_what_comes_first_and_as_what_its_units_are_left(
    client_of: Client, project: Project, people: list[Member], lead: User
) -> None:
    write_guideline(project=project, kind="label", text="# Label", questions=QUESTIONS, by=lead)
    trial = practise(project, people)
    real = build_round(project, people, name="real", requires_practice=trial.pk)
    asked = build_round(project, people, name="asked", asks_questions=True)
    build_round(project, people, name="plain")
    client = client_of(people[0].user)
    shown = my_work(client)
    assert {name: row["prerequisite"] for name, row in shown.items()} == {
        "plain": None,
        "trial": None,
        "real": {"what": "practice", "state": "to do", "round": trial.pk, "name": "trial"},
        "asked": {"what": "questions", "state": "to do", "round": asked.pk, "name": "asked"},
    }
    assert shown["real"]["left"] == 4
    for _ in range(2):
        client.post(f"{API}/rounds/{asked.pk}/questions/", {"chosen": [0]}, format="json")
    work(trial, people[0], WRONG)
    shown = my_work(client)
    assert (shown["asked"]["prerequisite"]["state"], shown["real"]["prerequisite"]["state"]) == (
        "ask the lead",
        "ask the lead",
    )
    for round in (asked, real):
        assert let_in(client_of(lead), round, people[0]) == 204
    assert {row["prerequisite"] for row in my_work(client).values()} == {None}


def test_my_work_says_the_same_as_the_round_itself(client_of: Client, project: Project, people: list[Member]) -> None:
    """One rule for one round and for lists of rounds."""
    twice, once = practise(project, people, attempts=2), practise(project, people[:1], name="once")
    rounds = [build_round(project, people, name=f"of {p.name}", requires_practice=p.pk) for p in (twice, once)]

    def compare() -> list[str | None]:
        states: list[str | None] = []
        for person in people:
            each = readiness.open_prerequisites(Round.objects.filter(pk__in=[r.pk for r in rounds]), person.user)
            for pk in [r.pk for r in rounds]:
                alone = readiness.open_prerequisite(Round.objects.get(pk=pk), person)
                assert each.get(pk) == alone
                states.append(alone["state"] if alone else None)
        return states

    assert compare() == ["to do", "to do", "to do", "ask the lead"]
    for trial in (twice, once):
        work(trial, people[0], WRONG)
    assert compare() == ["to do", "ask the lead", "to do", "ask the lead"]
    work(twice, people[1], GOLD)
    assert compare() == ["to do", "ask the lead", None, "ask the lead"]


def test_my_work_costs_the_same_queries_for_any_number_of_rounds(
    client_of: Client, project: Project, people: list[Member], lead: User
) -> None:
    write_guideline(project=project, kind="label", text="# Label", questions=QUESTIONS, by=lead)
    client, counts = client_of(people[0].user), []
    for n in range(3):
        trial = practise(project, people, name=f"trial {n}")
        build_round(project, people, name=f"real {n}", requires_practice=trial.pk, asks_questions=True)
        work(trial, people[0], GOLD)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"{API}/my-work/")
        counts.append(len(queries))
    assert counts[0] == counts[1] == counts[2] <= 12


def test_readiness_takes_the_same_queries_for_any_number_of_people(project: Project, people: list[Member]) -> None:
    trial, counts = practise(project, people), []
    for n, some in enumerate((people[:1], people)):
        real = build_round(project, some, name=f"real {n}", requires_practice=trial.pk)
        real = Round.objects.select_related("guideline", "requires_practice").get(pk=real.pk)
        with CaptureQueriesContext(connection) as queries:
            readiness.of_everyone(real)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


def test_a_new_round_shows_who_can_pass_the_required_practice(project: Project, people: list[Member]) -> None:
    trial = practise(project, people)
    work(trial, people[0], GOLD)
    remove_person(round=trial, member=people[1], by=None)
    (found,) = previews.choices(project)["practice"]
    assert (found["open"], found["people"], found["passed"]) == (True, [people[0].pk], [people[0].pk])
    close_round(round=trial, by=None)
    assert previews.choices(project)["practice"][0]["open"] is False


def test_passing_shows_the_rounds_that_it_opens(client_of: Client, project: Project, people: list[Member]) -> None:
    trial = practise(project, people)
    real = build_round(project, people[:1], name="real", requires_practice=trial.pk)
    build_round(project, people, name="plain")
    shown = [
        client_of(person.user).get(f"{API}/rounds/{trial.pk}/next/").json()["practice"]["opens"] for person in people
    ]
    assert shown == [[{"id": real.pk, "name": "real"}], []]


def test_a_task_says_which_guideline_ships_with_it(client_of: Client, project: Project, lead: User) -> None:
    shown = client_of(lead).get(f"{API}/projects/{project.slug}/rounds/choices/").json()
    assert all(one["guideline"].startswith("# ") for one in shown["kinds"])


def test_my_work_shows_remaining_tries_and_attempts(client_of: Client, project: Project, people: list[Member]) -> None:
    trial = practise(project, people, tries=2, attempts=2)
    client = client_of(people[0].user)

    def row() -> tuple[int, int, str]:
        shown = my_work(client)["trial"]
        return shown["answered"], shown["left"], shown["practice"]

    assert row() == (0, 4, "to do")
    for slot in trial.assignments.filter(person=people[0]):
        answer(people[0].user, slot, WRONG)
    assert row() == (0, 4, "to do")
    work(trial, people[0], WRONG)
    assert row() == (4, 0, "may begin again")
    client.post(f"{API}/rounds/{trial.pk}/practice/")
    assert row() == (4, 4, "to do")
    work(trial, people[0], GOLD)
    assert row() == (8, 0, "passed")
    close_round(round=trial, by=None)
    assert my_work(client)["trial"]["practice"] == "passed"
