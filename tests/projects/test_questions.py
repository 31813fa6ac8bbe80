"""Questions about the guideline before a round: two attempts, then the lead."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from projects.guidelines.actions import write_guideline
from projects.models import Admission, Guideline, Member, Project, QuestionTry, Round
from projects.practice import readiness
from projects.practice.actions import NotReady
from projects.queue.actions import next_assignments
from tests.builders import answer, build_cluster, build_round

pytestmark = pytest.mark.django_db

QUESTIONS = [
    {"question": "What is polarity?", "options": ["a rise", "benefit or harm"], "right": 1, "explanation": "Of I."},
    {"question": "No evidence is no effect?", "options": ["no", "yes"], "right": 0, "explanation": "They differ."},
]


@pytest.fixture
def round(project: Project, lead: User, ann1: User, ann2: User) -> Round:
    build_cluster(project)
    write_guideline(project=project, kind="label", text="# Label\n\nSo.", questions=QUESTIONS, by=lead)
    people = [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]
    return build_round(project, people, asks_questions=True)


def say(client: APIClient, round: Round, *chosen: int) -> Any:
    return client.post(f"/api/v1/rounds/{round.pk}/questions/", {"chosen": chosen}, format="json")


def test_nothing_is_assigned_before_the_questions_are_right(client_of: Any, round: Round, ann1: User) -> None:
    client = client_of(ann1)
    first = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
    assert (first["held"], first["prerequisite"]["what"], first["prerequisite"]["state"]) == ([], "questions", "to do")
    asked = client.get(f"/api/v1/rounds/{round.pk}/questions/").json()
    assert asked["tries_left"] == 2
    assert [set(one) for one in asked["questions"]] == [{"question", "options", "chosen", "right", "explanation"}] * 2
    assert {one["right"] for one in asked["questions"]} == {None}
    assert {one["explanation"] for one in asked["questions"]} == {""}
    told = say(client, round, 1, 1).json()
    assert (told["state"], told["tries_left"]) == ("to do", 1)
    assert [(one["right"], one["explanation"]) for one in told["questions"]] == [(True, "Of I."), (False, "")]
    assert say(client, round, 1, 0).json()["state"] == "passed"
    assert len(client.get(f"/api/v1/rounds/{round.pk}/next/").json()["held"]) == 2
    assert list(QuestionTry.objects.values_list("number", "right", "passed")) == [(1, 1, False), (2, 2, True)]


def test_after_two_tries_the_lead_is_to_be_asked_and_can_let_one_in(
    client_of: Any, round: Round, lead: User, ann1: User, project: Project
) -> None:
    client = client_of(ann1)
    say(client, round, 0, 1)
    assert say(client, round, 0, 0).json()["state"] == "ask the lead"
    assert say(client, round, 1, 0).status_code == 409
    assert client.get(f"/api/v1/rounds/{round.pk}/next/").json()["prerequisite"]["state"] == "ask the lead"
    member = Member.objects.get(project=project, user=ann1)
    shown = client_of(lead).get(f"/api/v1/rounds/{round.pk}/admissions/").json()
    assert [(one["tries"], one["of"], one["passed"], one["admitted"]) for one in shown] == [
        ([0, 1], 2, False, False),
        ([], 2, False, False),
    ]
    body = {"member": member.pk, "reason": "We talked."}
    assert client.post(f"/api/v1/rounds/{round.pk}/admissions/", body, format="json").status_code == 403
    assert client_of(lead).post(f"/api/v1/rounds/{round.pk}/admissions/", body, format="json").status_code == 204
    assert client.get(f"/api/v1/rounds/{round.pk}/next/").json()["prerequisite"] is None
    assert Admission.objects.get().by == lead
    assert QuestionTry.objects.count() == 2


def test_an_answer_is_refused_before(round: Round, ann1: User, project: Project) -> None:
    slot = round.assignments.all()[0]
    slot.person = Member.objects.get(project=project, user=ann1)
    slot.save()
    with pytest.raises(NotReady, match="questions"):
        answer(ann1, slot)


def test_correct_options_are_hidden_without_permission_to_write_guidelines(
    client_of: Any, round: Round, lead: User, ann1: User
) -> None:
    guideline = Guideline.objects.get(project=round.project_id)
    address = f"/api/v1/projects/eye/guidelines/{guideline.pk}/"
    assert client_of(lead).get(address).json()["questions"] == QUESTIONS
    shown = client_of(ann1).get(address).json()
    assert (shown["questions"], shown["questions_count"]) == (None, 2)


def test_questions_are_frozen_with_their_version(client_of: Any, round: Round, lead: User, ann1: User) -> None:
    body = {"kind": "label", "text": "# Label\n\nOtherwise.", "questions": QUESTIONS[:1]}
    assert client_of(lead).post("/api/v1/projects/eye/guidelines/", body, format="json").status_code == 201
    asked = client_of(ann1).get(f"/api/v1/rounds/{round.pk}/questions/").json()
    assert len(asked["questions"]) == 2


def test_questions_are_checked(client_of: Any, round: Round, lead: User) -> None:
    for wrong in (
        QUESTIONS[0] | {"right": 2},
        QUESTIONS[0] | {"options": ["one"]},
        QUESTIONS[0] | {"question": ""},
        QUESTIONS[0] | {"hint": "x"},
    ):
        body = {"kind": "label", "text": "# Label", "questions": [wrong]}
        assert client_of(lead).post("/api/v1/projects/eye/guidelines/", body, format="json").status_code == 422


@pytest.mark.parametrize("chosen", [(1,), (1, 0, 0), (1, 2)])
def test_every_question_is_answered_by_one_of_its_options(
    client_of: Any, round: Round, ann1: User, chosen: tuple[int, ...]
) -> None:
    assert say(client_of(ann1), round, *chosen).status_code == 422
    assert not QuestionTry.objects.exists()


def test_a_round_asks_questions_only_where_its_guideline_has_some(project: Project, round: Round, lead: User) -> None:
    write_guideline(project=project, kind="label", text="# Label\n\nNo questions.", by=lead)
    with pytest.raises(Refused, match="no questions"):
        build_round(project, [round.participants.all()[0].member], name="other", asks_questions=True)


def test_a_person_outside_the_round_cannot_be_admitted(
    client_of: Any, round: Round, lead: User, evaluator: User, project: Project
) -> None:
    member = Member.objects.get(project=project, user=evaluator)
    body = {"member": member.pk}
    assert client_of(lead).post(f"/api/v1/rounds/{round.pk}/admissions/", body, format="json").status_code == 422
    assert next_assignments(user=round.participants.all()[0].member.user, round=round) == []


def test_tries_and_admissions_can_neither_be_changed_nor_deleted(
    client_of: Any, round: Round, lead: User, ann1: User, project: Project
) -> None:
    client = client_of(ann1)
    say(client, round, 0, 1)
    say(client, round, 0, 1)
    member = Member.objects.get(project=project, user=ann1)
    client_of(lead).post(f"/api/v1/rounds/{round.pk}/admissions/", {"member": member.pk}, format="json")
    for rows, field in ((QuestionTry.objects.all(), "right"), (Admission.objects.all(), "reason")):
        for act in (lambda rows=rows, field=field: rows.update(**{field: 2}), rows.delete):
            with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
                act()


def test_answered_counts_take_the_same_queries_for_any_number_of_people(
    client_of: Any, round: Round, lead: User, ann1: User, ann2: User
) -> None:
    counts = []
    for user in (ann1, ann2):
        say(client_of(user), round, 0, 1)
        with CaptureQueriesContext(connection) as queries:
            readiness.of_everyone(round)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 3
