"""Practice: units with gold and immediate feedback; the answers count for nothing else."""

import json
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Conflict, Refused
from audit.actions import create_checkpoints
from audit.verify import findings
from projects.agreement import queries as agreement_queries
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.models import Answer, Assignment, Decision, Member, Project, Reference, Round, Unit
from projects.practice import queries as practice_queries
from projects.practice.actions import NotReady, start_attempt
from projects.queue.actions import next_assignments
from projects.rounds import choosing
from projects.rounds import queries as rounds_queries
from projects.rounds.actions import add_person, close_round, remove_person
from projects.staleness.queries import outdated
from releases.formats import answers as answers_format
from releases.formats.notes import Notes
from releases.sources import state
from tests.builders import TEXT, answer, build_cluster, build_round, label_value, skip

pytestmark = pytest.mark.django_db

GOLD = label_value("negative", "strong", polarity_cue=[(0, 7)], modality_cue=[(8, 16)])
RIGHT = label_value("negative", "strong", polarity_cue=[(0, 7)], modality_cue=[(8, 16)])
WRONG = label_value("positive", "strong", polarity_cue=[(0, 7)], modality_cue=[(8, 16)])


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    """Ten propositions, all settled by the lead but those of the last cluster."""
    for number in range(6):
        build_cluster(project, number, inputs=1)
    members = [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]
    for unit in Unit.objects.filter(type="proposition").order_by("pk")[:10]:
        correct(unit=unit, kind="label", value=GOLD, reason="It reads so.", by=members[0])
    return members


def practise(project: Project, people: list[Member], **plan: Any) -> Round:
    terms = {"pass_mark": 80, "tries": 1, "attempts": 1} | plan.pop("terms", {})
    return build_round(project, people, name=plan.pop("name", "practice"), purpose="practice", terms=terms, **plan)


def work(round: Round, person: Member, wrong: int) -> int:
    """Answer with a simulated annotator that is wrong in some units; return the number of answers."""
    bad = set(practice_queries.units_of(round).values_list("unit", flat=True)[:wrong])
    done = 0
    while held := next_assignments(user=person.user, round=round):
        answer(person.user, held[0], WRONG if held[0].unit_id in bad else RIGHT)
        done += 1
    return done


def test_a_good_simulated_annotator_passes_and_a_bad_one_needs_a_second_attempt(
    project: Project, people: list[Member]
) -> None:
    _, good, bad = people
    trial = practise(project, people[1:], terms={"attempts": 2})
    real = build_round(project, people[1:], name="real", requires_practice=trial.pk)
    assert next_assignments(user=good.user, round=real) == []
    assert work(trial, good, wrong=2) == 10
    assert work(trial, bad, wrong=3) == 10
    assert next_assignments(user=good.user, round=real) != []
    assert next_assignments(user=bad.user, round=real) == []
    start_attempt(round=trial, user=bad.user)
    assert work(trial, bad, wrong=1) == 10
    assert next_assignments(user=bad.user, round=real) != []
    first, second = practice_queries.attempts(trial, [bad.pk])[bad.pk]
    assert (first.right, first.units, first.passed) == (7, 10, False)
    assert (second.right, second.units, second.passed) == (9, 10, True)
    assert [one["passed"] for one in practice_queries.of_everyone(trial)] == [True, True]


def finished(round: Round, *said: tuple[Member, dict[str, Any]]) -> None:
    """Each person gives one value to all units; the round is closed and its gold formed."""
    for person, value in said:
        while held := next_assignments(user=person.user, round=round):
            answer(person.user, held[0], value)
    close_round(round=round, by=None)
    finish_round(round=Round.objects.get(pk=round.pk), by=None)


def last_cluster(project: Project, people: list[Member], **plan: Any) -> Round:
    """A round over the two undecided propositions."""
    unit = Unit.objects.filter(type="proposition").order_by("pk")[11]
    filters = {"cluster": unit.key.split("/")[0]}
    return build_round(
        project, people, name=f"last {Round.objects.count()}", overlap=len(people), filters=filters, **plan
    )


def count(project: Project, purpose: str = "practice", **options: Any) -> int:
    return choosing.units(project, "label", {}, purpose, options or None).count()


def test_practice_takes_units_that_a_curator_one_person_or_all_decided(project: Project, people: list[Member]) -> None:
    assert practise(project, people[1:]).units_count == count(project) == 10
    one, other = people[:2]
    finished(last_cluster(project, [one]), (one, RIGHT))
    assert set(Decision.objects.order_by("-pk").values_list("origin", flat=True)[:8]) == {"single"}
    assert count(project) == 12
    finished(last_cluster(project, [one, other]), (one, WRONG), (other, WRONG))
    assert Decision.objects.latest("pk").origin == "unanimous"
    assert count(project) == 12


def test_practice_takes_no_unit_of_which_a_field_is_contested(project: Project, people: list[Member]) -> None:
    one, other = people[:2]
    finished(last_cluster(project, [one]), (one, RIGHT))
    finished(last_cluster(project, [one, other]), (one, RIGHT), (other, WRONG))
    assert Decision.objects.contested().filter(field="polarity").count() == 2
    assert count(project) == 10
    assert count(project, "review and correct") == 12


def test_practice_looks_only_at_the_fields_that_it_asks(project: Project, people: list[Member]) -> None:
    uncued = label_value("negative", "strong")
    finished(last_cluster(project, people[:1], options={"with_cues": False}), (people[0], uncued))
    assert (count(project, with_cues=True), count(project, with_cues=False)) == (10, 12)


def test_a_contested_field_is_not_compared_with_answers(project: Project, people: list[Member]) -> None:
    one, other = people[:2]
    finished(last_cluster(project, [one]), (one, RIGHT))
    trial = practise(project, people[2:])
    finished(last_cluster(project, [one, other]), (one, RIGHT), (other, WRONG))
    assert work(trial, people[2], wrong=12) == 12
    held = Reference.objects.filter(decision__field="polarity")
    assert held.count() == 10
    assert not held.filter(same=True).exists()


def test_practice_asks_everyone_every_unit_without_skips(project: Project, people: list[Member]) -> None:
    round = practise(project, people[1:], overlap=1, allocation="pool", repeat_share=0.0)
    assert (round.overlap, round.allocation) == (2, "dealt")
    with pytest.raises(Refused, match="cannot be skipped"):
        skip(people[1].user, next_assignments(user=people[1].user, round=round)[0])


def test_the_expected_value_is_shown_after_the_last_try_with_its_reason(
    client_of: Any, project: Project, people: list[Member]
) -> None:
    round = practise(project, people[1:], terms={"tries": 2})
    person = people[1]
    slot = next_assignments(user=person.user, round=round)[0]
    stored = answer(person.user, slot, WRONG).answer
    told = practice_queries.feedback(round, stored)
    assert (told["right"], told["tries_left"]) == (False, 1)
    polarity, cue = told["fields"][0], told["fields"][1]
    assert (polarity["field"], polarity["right"], polarity["said"], polarity["expected"]) == (
        "polarity",
        False,
        "positive",
        None,
    )
    assert cue["right"]
    slot.refresh_from_db()
    stored = answer(person.user, slot, WRONG).answer
    told = practice_queries.feedback(round, stored)
    assert (told["right"], told["tries_left"]) == (False, 0)
    assert told["fields"][0] == {
        "field": "polarity",
        "right": False,
        "said": "positive",
        "expected": "negative",
        "reason": "It reads so.",
        "heading": "Polarity: is the effect good or bad?",
    }
    slot.refresh_from_db()
    with pytest.raises(Refused, match="No try is left"):
        answer(person.user, slot, RIGHT)
    assert slot.answers.count() == 2


def test_a_wrong_practice_unit_is_offered_again_and_a_right_one_is_not(project: Project, people: list[Member]) -> None:
    round = practise(project, people[1:], terms={"tries": 2})
    person = people[1]
    slot = next_assignments(user=person.user, round=round)[0]
    held = answer(person.user, slot, WRONG).held
    assert held[0].pk == slot.pk
    held = answer(person.user, held[0], RIGHT).held
    assert slot.pk not in {one.pk for one in held}
    slot.refresh_from_db()
    with pytest.raises(Refused, match="No try is left"):
        answer(person.user, slot, WRONG)
    assert work(round, person, wrong=9) == 9 + 8  # one of the nine is correct by now
    (attempt,) = practice_queries.attempts(round, [person.pk])[person.pk]
    assert (attempt.done, attempt.right) == (10, 2)


def test_no_card_holds_what_is_expected(client_of: Any, project: Project, people: list[Member]) -> None:
    round = practise(project, people[1:])
    client: APIClient = client_of(people[1].user)
    reply = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
    card = reply["fetched"][0]
    assert (card["value"], card["references"]) == (None, [])
    assert "negative" not in json.dumps(reply)
    assert "strong" not in json.dumps(reply)
    assert "It reads so." not in json.dumps(reply)


def test_the_reply_to_an_answer_says_what_was_expected_and_says_it_again(
    client_of: Any, project: Project, people: list[Member]
) -> None:
    round = practise(project, people[1:])
    client: APIClient = client_of(people[1].user)
    card = client.get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    body = {
        "kind": "label",
        "assignment": card["assignment"],
        "revision": 0,
        "outcome": "answered",
        "shown": 1,
        "value": WRONG,
        "have": [],
    }
    address = "/api/v1/answers/6f0d1c9e-9e2a-4c2e-8a57-6d1f3a0b4c11/"
    first, again = (client.put(address, body, format="json").json() for _ in range(2))
    assert first["feedback"]["fields"][0]["expected"] == "negative"
    assert again["feedback"] == first["feedback"]


def test_a_later_decision_changes_no_practice_mark(project: Project, people: list[Member]) -> None:
    round = practise(project, people[1:])
    person = people[1]
    slot = next_assignments(user=person.user, round=round)[0]
    stored = answer(person.user, slot, RIGHT).answer
    correct(unit=slot.unit, kind="label", value=WRONG, reason="After all.", by=people[0])
    assert practice_queries.feedback(round, stored)["right"]
    assert practice_queries.feedback(round, stored)["fields"][0]["expected"] == "negative"


def test_practice_reaches_neither_gold_nor_agreement_nor_release(project: Project, people: list[Member]) -> None:
    before = Decision.objects.count()
    newest = state.newest_change(project)
    round = practise(project, people[1:])
    for person in people[1:]:
        work(round, person, wrong=5)
    close_round(round=round, by=None)
    round.refresh_from_db()
    assert finish_round(round=round, by=None)["decisions"] == {}
    assert Decision.objects.count() == before
    assert Decision.objects.contested().count() == 0
    report = agreement_queries.report(round)
    assert (report["measures"], report["spans"]) == ([], [])
    released = {path: b"".join(rows) for path, rows in answers_format.files(project, Notes())}
    assert b"practice" not in released["answers/label.csv"]
    assert state.newest_change(project) == newest
    assert outdated(project).filter(assignment__round=round).count() == 0
    assert choosing.units(project, "label", {"unasked": True}).count() == 12


def test_a_checkpoint_covers_the_decisions_that_an_answer_was_compared_with(
    project: Project, people: list[Member]
) -> None:
    round = practise(project, people[1:])
    answer(people[1].user, next_assignments(user=people[1].user, round=round)[0], WRONG)
    create_checkpoints()
    assert list(findings()) == []
    reference = Reference.objects.get(same=False)
    assert reference.decision.field == "polarity"


def test_late_participants_practise_everything_and_returning_ones_continue(
    project: Project, people: list[Member]
) -> None:
    round = practise(project, people[1:2])
    late = people[2]
    add_person(round=round, member=late, by=None)
    answer(late.user, next_assignments(user=late.user, round=round)[0], RIGHT)
    remove_person(round=round, member=late, by=None)
    assert Assignment.objects.filter(round=round, person=None).count() == 0
    add_person(round=round, member=late, by=None)
    assert work(round, late, wrong=0) == 9
    (attempt,) = practice_queries.attempts(round, [late.pk])[late.pk]
    assert (attempt.units, attempt.right, attempt.passed) == (10, 10, True)


def test_a_second_attempt_needs_permission_and_a_failed_first_one(project: Project, people: list[Member]) -> None:
    once = practise(project, people[1:2])
    work(once, people[1], wrong=10)
    with pytest.raises(Conflict):
        start_attempt(round=once, user=people[1].user)
    twice = practise(project, people[1:], name="twice", terms={"attempts": 2})
    with pytest.raises(Conflict):
        start_attempt(round=twice, user=people[1].user)
    work(twice, people[1], wrong=0)
    with pytest.raises(Conflict):
        start_attempt(round=twice, user=people[1].user)


def test_the_policy_of_cues_holds_in_practice_too(project: Project, people: list[Member]) -> None:
    shifted = label_value("negative", "strong", polarity_cue=[(0, 16)], modality_cue=[(8, 16)])
    for n, (policy, right) in enumerate((("overlap", True), ("exact", False), ("ignore", True))):
        round = practise(project, people[1:], name=f"cues {n}", policy={"cues": policy})
        stored = answer(people[1].user, next_assignments(user=people[1].user, round=round)[0], shifted).answer
        assert practice_queries.feedback(round, stored)["right"] is right, policy
    assert TEXT[0:16] == "Neither nepralin"


def test_an_answer_to_a_fixed_assignment_is_refused_until_practice_is_passed(
    client_of: Any, project: Project, people: list[Member]
) -> None:
    trial = practise(project, people[1:])
    real = build_round(project, people[1:], name="real", allocation="dealt", requires_practice=trial.pk)
    mine = real.assignments.filter(person=people[1]).select_related("unit", "round")[0]
    with pytest.raises(NotReady):
        answer(people[1].user, mine)
    assert not Answer.objects.filter(assignment=mine).exists()
    reply = client_of(people[1].user).get(f"/api/v1/rounds/{real.pk}/next/").json()
    assert (reply["held"], reply["fetched"]) == ([], [])
    assert reply["prerequisite"] == {"what": "practice", "state": "to do", "round": trial.pk, "name": "practice"}
    work(trial, people[1], wrong=10)
    reply = client_of(people[1].user).get(f"/api/v1/rounds/{real.pk}/next/").json()
    assert reply["prerequisite"]["state"] == "ask the lead"


def test_a_round_can_only_require_practice_of_its_own_task(project: Project, people: list[Member]) -> None:
    gold = build_round(project, people[1:], name="gold")
    with pytest.raises(Refused, match="no practice round of this task"):
        build_round(project, people[1:], name="real", requires_practice=gold.pk)


def test_terms_are_checked_by_their_declarations(project: Project, people: list[Member]) -> None:
    for terms in ({"tries": 3}, {"pass_mark": 0}, {"attempts": 9}, {"retries": 1}):
        with pytest.raises(Refused):
            practise(project, people[1:], terms=terms)


def test_passed_people_take_the_same_queries_for_any_number_of_people(project: Project, people: list[Member]) -> None:
    counts = []
    for n, some in enumerate((people[1:2], people)):
        round = practise(project, some, name=f"p{n}")
        for person in some:
            work(round, person, wrong=1)
        with CaptureQueriesContext(connection) as queries:
            practice_queries.of_everyone(round)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 2


def test_only_leads_and_curators_see_practice_results_of_others(
    client_of: Any, project: Project, people: list[Member]
) -> None:
    round = practise(project, people[1:])
    work(round, people[1], wrong=3)
    shown = client_of(people[0].user).get(f"/api/v1/rounds/{round.pk}/practice/people/").json()
    assert [(one["pseudonym"], one["passed"], [a["right"] for a in one["attempts"]]) for one in shown] == [
        ("R1", False, [7]),
        ("R2", False, [0]),
    ]
    assert client_of(people[1].user).get(f"/api/v1/rounds/{round.pk}/practice/people/").status_code == 403
    assert rounds_queries.of_round(round, now=round.opened_at)["assignments"] == 20


def test_the_gold_of_an_answer_can_neither_be_changed_nor_deleted(project: Project, people: list[Member]) -> None:
    round = practise(project, people[1:])
    answer(people[1].user, next_assignments(user=people[1].user, round=round)[0], WRONG)
    wrong = Reference.objects.filter(same=False)
    for act in (lambda: wrong.update(same=True), wrong.all().delete):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            act()
    assert wrong.count() == 1
