"""Attacks on practice, questions, review and adjudication: reading or doing what a person may not."""

import uuid as uuids
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from api.fields import LARGEST
from audit.verify import findings
from projects.curation.actions import correct
from projects.guidelines.actions import write_guideline
from projects.models import Answer, Assignment, Decision, Member, Project, QuestionTry, Round, Unit
from projects.participation.actions import make_links
from projects.practice import queries as practice_queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import remove_person
from tests.builders import answer, build_cluster, build_round, label_value
from tests.config.other_project import make_other_project, released
from tests.config.routes import CASES, api_routes, client_of, no_ids
from tests.projects.adjudication import APART, adjudication_detail, answer_by, closed_round, queue, send, take, unit_of

pytestmark = pytest.mark.django_db

API = "/api/v1"
GOLD, WRONG = label_value("negative", "strong"), label_value("positive", "strong")
SECRET = "Only who has answered reads this."
QUESTIONS = [{"question": "Which?", "options": ["one", "other"], "right": 1, "explanation": SECRET}]


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    """Four propositions settled by the lead, and two annotators."""
    by = Member.objects.get(project=project, user=lead)
    write_guideline(project=project, kind="label", text="# Label", questions=QUESTIONS, by=lead)
    for n in range(2):
        build_cluster(project, 50 + n, inputs=1)
    for unit in Unit.objects.filter(type="proposition", project=project):
        correct(unit=unit, kind="label", value=GOLD, reason=SECRET, by=by)
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


@pytest.fixture
def two(project: Project, ann1: User, ann2: User) -> list[Member]:
    """The two annotators, without a unit."""
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def practise(project: Project, people: list[Member], **terms: int) -> Round:
    plan = {"pass_mark": 80, "tries": 1, "attempts": 1} | terms
    return build_round(project, people, name="trial", purpose="practice", terms=plan)


def body_of(slot: Assignment, value: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "label",
        "assignment": slot.pk,
        "revision": slot.revision,
        "outcome": "answered",
        "shown": 1,
        "value": value or WRONG,
        "have": [],
    } | fields


def put(client: APIClient, body: dict[str, Any], uuid: str = "") -> Any:
    return client.put(f"{API}/answers/{uuid or uuids.uuid4()}/", body, format="json")


@pytest.mark.parametrize(
    "who",
    [
        "worker",
        pytest.param("evaluator", marks=pytest.mark.long),
        pytest.param("volunteer", marks=pytest.mark.long),
        pytest.param("stranger", marks=pytest.mark.long),
    ],
)
def test_no_reply_to_annotators_reveals_expected_values_or_right_options(stranger: User, lead: User, who: str) -> None:
    """Checks the whole API for a person without answers."""
    secret = Project.objects.create(slug="secret", name="Secret")
    Member.objects.create(project=secret, user=lead, role="lead", pseudonym="L")
    other_project = make_other_project(secret, lead)
    by = other_project.project.members.get(user=lead)
    write_guideline(project=other_project.project, kind="label", text="# Label", questions=QUESTIONS, by=lead)
    for unit in Unit.objects.filter(type="proposition", project=other_project.project):
        correct(unit=unit, kind="label", value=GOLD, reason=SECRET, by=by)
    user, members = stranger, [other_project.worker]
    if who == "worker":
        user = other_project.worker.user
    elif who == "evaluator":
        members.append(Member.objects.create(project=other_project.project, user=user, role="evaluator", pseudonym="S"))
    other_project.round = build_round(
        other_project.project,
        members,
        name="trial",
        purpose="practice",
        asks_questions=True,
        terms={"pass_mark": 80, "tries": 1, "attempts": 1},
    )
    client = client_of(user)
    if who == "volunteer":
        client = volunteer_of(other_project.round, lead)
    asked, told = 0, []
    for route in api_routes():
        if "get" not in route.methods or route.pattern == "schema/":
            continue
        reply = client.get(
            route.address({"slug": other_project.project.slug} | CASES.get(route.pattern, no_ids)(other_project))
        )
        content = reply.getvalue() if reply.streaming else reply.content
        asked += reply.status_code == 200
        if SECRET.encode() in content:
            told.append(route.pattern)
    assert told == []
    assert asked >= (3 if who == "stranger" else 5)


def volunteer_of(round: Round, lead: User) -> APIClient:
    """Return a volunteer who joined by a link."""
    ((_, token),) = make_links(round=round, labels=["v"], by=lead)
    client = APIClient()
    text = client.post(f"{API}/take/look/", {"token": token}, format="json").json()
    body = {"token": token, "digest": text["digest"]}
    reply = client.post(f"{API}/take/accept/", body, format="json")
    assert reply.status_code in (200, 201), reply.json()
    return client


def test_practice_of_another_person_can_be_neither_answered_nor_read(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], stranger: User
) -> None:
    round = practise(project, people)
    theirs = round.assignments.filter(person=people[0])[0]
    for user in (people[1].user, stranger):
        reply = put(client_of(user), body_of(theirs))
        assert (reply.status_code, SECRET in reply.content.decode()) == (404, False)
    assert not Answer.objects.filter(assignment__round=round).exists()


def test_the_uuid_of_another_persons_answer_reveals_nothing(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member]
) -> None:
    round, used = practise(project, people), str(uuids.uuid4())
    slots = [round.assignments.filter(person=person).order_by("position")[0] for person in people]
    assert SECRET in put(client_of(people[0].user), body_of(slots[0]), used).content.decode()
    for body in (body_of(slots[1]), body_of(slots[0])):
        reply = put(client_of(people[1].user), body, used)
        assert (reply.status_code in (404, 409), SECRET in reply.content.decode()) == (True, False)
    assert Answer.objects.filter(assignment__round=round).count() == 1


@pytest.mark.parametrize(
    "revision",
    [
        1,
        pytest.param(0, marks=pytest.mark.long),
        pytest.param(2, marks=pytest.mark.long),
        pytest.param(7, marks=pytest.mark.long),
        pytest.param(2**31, marks=pytest.mark.long),
        pytest.param(2**62, marks=pytest.mark.long),
    ],
)
def test_answers_after_feedback_are_refused(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], revision: int
) -> None:
    round = practise(project, people)
    slot = round.assignments.filter(person=people[0]).order_by("position")[0]
    assert put(client_of(people[0].user), body_of(slot)).status_code == 201
    reply = put(client_of(people[0].user), body_of(slot, GOLD, revision=revision))
    assert reply.status_code in (409, 422), reply.json()
    assert SECRET not in reply.content.decode()
    (attempt,) = practice_queries.attempts(round, [people[0].pk])[people[0].pk]
    assert (attempt.done, attempt.right) == (1, 0)


def test_two_tabs_begin_one_second_attempt(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member]
) -> None:
    round, client = practise(project, people, attempts=2), client_of(people[0].user)
    assert client.post(f"{API}/rounds/{round.pk}/practice/").status_code == 409
    while held := next_assignments(user=people[0].user, round=round):
        answer(people[0].user, held[0], WRONG)
    codes = [client.post(f"{API}/rounds/{round.pk}/practice/").status_code for _ in range(3)]
    assert codes == [200, 409, 409]
    assert round.assignments.filter(person=people[0]).count() == 8


def test_a_text_that_is_corrected_while_people_practise_leaves_the_practice(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], lead: User
) -> None:
    round, by = practise(project, people), Member.objects.get(project=project, user=lead)
    first, second = round.assignments.filter(person=people[0]).order_by("position")[:2]
    stale = put(client_of(people[0].user), body_of(first, GOLD))
    assert stale.status_code == 201
    for slot in (first, second):
        old = Proposition.objects.get(unit=slot.unit)
        supersede_text(proposition=old, text=old.text + " Again.", reason="A word was missing.", by=by)
    # An outdated card that is sent now is stored, but does not count.
    assert put(client_of(people[0].user), body_of(second, GOLD)).json()["answer"]["counted"] is False
    while held := next_assignments(user=people[0].user, round=round):
        answer(people[0].user, held[0], GOLD)
    (attempt,) = practice_queries.attempts(round, [people[0].pk])[people[0].pk]
    assert (attempt.units, attempt.right, attempt.passed) == (2, 2, True)
    assert list(findings()) == []


def test_a_practice_round_with_only_corrected_texts_refers_people_to_the_lead(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], lead: User
) -> None:
    """Nobody can pass it any more; people are told to ask the lead, who can admit them."""
    round, by = practise(project, people), Member.objects.get(project=project, user=lead)
    real = build_round(project, people, name="real", requires_practice=round.pk)
    for old in Proposition.objects.filter(cluster__project=project):
        supersede_text(proposition=old, text=old.text + " Again.", reason="A word was missing.", by=by)
    first = client_of(people[0].user).get(f"{API}/rounds/{real.pk}/next/").json()["prerequisite"]
    assert first["state"] == "ask the lead"


def test_a_guideline_published_between_two_tries_changes_no_question(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], lead: User
) -> None:
    round = build_round(project, people, name="asked", asks_questions=True)
    client, say = client_of(people[0].user), f"{API}/rounds/{round.pk}/questions/"
    assert client.post(say, {"chosen": [0]}, format="json").json()["state"] == "to do"
    write_guideline(project=project, kind="label", text="# Otherwise", questions=QUESTIONS * 3, by=lead)
    reply = client.post(say, {"chosen": [1]}, format="json")
    assert (reply.json()["state"], len(reply.json()["questions"])) == ("passed", 1)


def test_removed_people_cannot_answer_questions_and_see_nothing(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member]
) -> None:
    round = build_round(project, people, name="asked", asks_questions=True)
    remove_person(round=round, member=people[0], by=None)
    client = client_of(people[0].user)
    for reply in (
        client.get(f"{API}/rounds/{round.pk}/questions/"),
        client.post(f"{API}/rounds/{round.pk}/questions/", {"chosen": [1]}, format="json"),
        client.post(f"{API}/rounds/{round.pk}/practice/"),
    ):
        assert (reply.status_code, SECRET in reply.content.decode()) == (404, False)
    assert not QuestionTry.objects.exists()


ODD: tuple[Any, ...] = (None, -1, 0, 2**63 - 1, 2**63, 10**30, "x", "\0", [], {}, [[]], 1.5, True, "9" * 400)


@pytest.mark.long
@pytest.mark.parametrize("route", ["questions/", "admissions/", "practice/"])
def test_no_body_about_prerequisites_causes_a_server_error(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], lead: User, route: str
) -> None:
    round = build_round(project, people, name="asked", asks_questions=True)
    for user in (lead, people[0].user):
        client = client_of(user)
        client.raise_request_exception = False
        for odd in ODD:
            for body in (
                {"chosen": odd},
                {"chosen": [odd]},
                {"member": odd},
                {"member": people[0].pk, "reason": odd},
                odd,
            ):
                reply = client.post(f"{API}/rounds/{round.pk}/{route}", body, format="json")
                assert reply.status_code < 500, (route, body)


@pytest.mark.long
def test_no_body_of_adjudication_causes_a_server_error(
    client_of: Callable[[User], APIClient], project: Project, people: list[Member], lead: User, evaluator: User
) -> None:
    three = [*people, Member.objects.get(project=project, user=evaluator)]
    other = Project.objects.create(slug="fresh", name="Fresh")
    for one in three:
        Member.objects.create(project=other, user=one.user, role="annotator", pseudonym=one.pseudonym)
    Member.objects.create(project=other, user=lead, role="lead", pseudonym="L")
    round = closed_round(other, list(other.members.exclude(role="lead").order_by("pk")), [APART])
    client, unit = client_of(lead), unit_of(round)
    client.raise_request_exception = False
    good: dict[str, dict[str, Any]] = {
        f"{unit.pk}/": {"seen": LARGEST, "reason": "So.", "value": label_value()},
        f"{unit.pk}/reopen/": {"seen": LARGEST, "reason": "So."},
        "undo/": {"act": str(uuids.uuid4())},
        "at-once/": {"agreement": 0.5, "units": 1, "reason": "So.", "tied": False},
    }
    asked = 0
    for below, body in good.items():
        for field in {*body, "answer", "uuid", "value"}:
            for odd in ODD:
                reply = send(client, round, below, **(body | {field: odd}))
                assert reply.status_code < 500, (below, field, odd)
                asked += 1
    for field in GOLD:
        for odd in (*ODD, [{"start": -1, "end": 2**62, "quote": "x"}], [{"start": 0, "end": 3, "quote": "\0"}]):
            body = {"seen": LARGEST, "reason": "So.", "value": GOLD | {field: odd}}
            assert send(client, round, f"{unit.pk}/", **body).status_code < 500, (field, odd)
    assert asked > 200


def test_a_unit_an_answer_and_an_act_of_another_project_are_nothing_here(
    client_of: Callable[[User], APIClient], project: Project, two: list[Member], lead: User, stranger: User
) -> None:
    mine = closed_round(project, two, [APART[:2]])
    other = Project.objects.create(slug="other", name="Other")
    Member.objects.create(project=other, user=stranger, role="lead", pseudonym="S")
    for one in two:
        Member.objects.create(project=other, user=one.user, role="annotator", pseudonym=one.pseudonym)
    workers = list(other.members.filter(role="annotator").order_by("pk"))
    theirs = closed_round(other, workers, [APART[:2]])
    act, unit = str(uuids.uuid4()), unit_of(theirs)
    assert take(client_of(stranger), theirs, unit, answer_by(theirs, unit, workers[0]), uuid=act).status_code == 201
    client, before = client_of(lead), Decision.objects.count()
    body = {"answer": str(answer_by(theirs, unit, workers[1]).pk), "seen": LARGEST, "reason": "So."}
    assert client.get(f"{API}/rounds/{theirs.pk}/adjudication/{unit.pk}/").status_code == 404
    assert client.get(f"{API}/rounds/{mine.pk}/adjudication/{unit.pk}/").status_code == 404
    assert send(client, mine, f"{unit.pk}/", **body).status_code == 404
    assert send(client, mine, f"{unit.pk}/reopen/", seen=LARGEST, reason="So.").status_code == 404
    assert send(client, mine, f"{unit_of(mine).pk}/", **body).status_code == 422
    assert send(client, mine, "undo/", act=act).status_code == 404
    assert send(client, theirs, "undo/", act=act).status_code == 404
    # The UUID of another person's act reveals neither its existence nor its result.
    again = send(client, mine, f"{unit_of(mine).pk}/", **(body | {"uuid": act, "answer": body["answer"]}))
    assert again.status_code in (409, 422)
    assert (Decision.objects.count(), "decisions" in again.content.decode()) == (before, False)


def test_a_text_corrected_between_reading_and_deciding_is_not_decided(
    client_of: Callable[[User], APIClient], project: Project, two: list[Member], lead: User
) -> None:
    round, client = closed_round(project, two, [APART[:2], APART[:2]], name="closed"), client_of(lead)
    unit, act = unit_of(round), str(uuids.uuid4())
    seen = adjudication_detail(client, round, unit)["seen"]
    take(client, round, unit_of(round, 1), answer_by(round, unit_of(round, 1), two[0]), uuid=act)
    by = Member.objects.get(project=project, user=lead)
    for one in (unit, unit_of(round, 1)):
        old = Proposition.objects.get(unit=one)
        supersede_text(proposition=old, text=old.text + " Again.", reason="A word was missing.", by=by)
    body = {"answer": str(answer_by(round, unit, two[0]).pk), "seen": seen, "reason": "So."}
    before = Decision.objects.count()
    assert send(client, round, f"{unit.pk}/", **body).status_code in (409, 422)
    # A decision on a replaced text cannot be undone, because nothing shows it any more.
    for reply in (
        send(client, round, "undo/", act=act),
        send(client, round, f"{unit_of(round, 1).pk}/reopen/", seen=LARGEST, reason="So."),
    ):
        assert reply.status_code in (409, 422), reply.json()
    assert Decision.objects.count() == before
    assert queue(client, round)["counts"]["waiting"] == 0


def test_reopening_does_not_change_earlier_releases(
    client_of: Callable[[User], APIClient], project: Project, two: list[Member], lead: User
) -> None:
    round, client = closed_round(project, two, [APART[:2]], name="closed"), client_of(lead)
    unit = unit_of(round)
    take(client, round, unit, answer_by(round, unit, two[0]))
    release = released(project, "1.0.0", lead)
    seen = adjudication_detail(client, round, unit)["seen"]
    assert send(client, round, f"{unit.pk}/reopen/", seen=seen, reason="After all.").status_code == 201
    assert client.get(f"{API}/releases/{release.pk}/verify/").json()["findings"] == []
    assert list(findings()) == []
