"""Rounds in which some units are answered by more people, or twice by the same person."""

from collections import Counter
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from projects import kinds
from projects.agreement import actions as agreement_actions
from projects.agreement import queries as agreement_queries
from projects.answers import integrity
from projects.gold.actions import finish_round
from projects.jobs.running import run_job
from projects.models import Assignment, Decision, Member, Project, Round
from projects.queue.actions import next_assignments
from projects.rounds import choosing, preparing
from projects.rounds import queries as rounds_queries
from projects.rounds.actions import close_round, remove_person
from projects.rounds.planning import RoundPlan, plan_of
from tests.builders import answer, build_cluster, build_round, label_value, skip

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    for number in range(5):
        build_cluster(project, number, inputs=1)
    return [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]


def work(round: Round, person: Member, value: Any = None) -> list[Assignment]:
    """Answer everything that a person is offered."""
    done = []
    while held := next_assignments(user=person.user, round=round):
        answer(person.user, held[0], value(held[0]) if value else None)
        done.append(held[0])
    return done


def finished(round: Round) -> dict[str, int]:
    close_round(round=round, by=None)
    round.refresh_from_db()
    decisions: dict[str, int] = finish_round(round=round, by=None)["decisions"]
    return decisions


@pytest.mark.parametrize("allocation", ["pool", "dealt"])
def test_gold_of_the_block_comes_of_more_people_than_the_rest(
    project: Project, people: list[Member], allocation: str
) -> None:
    round = build_round(project, people, block_share=0.2, block_overlap=3, allocation=allocation)
    slots = Counter(round.assignments.values_list("unit", flat=True))
    assert sorted(slots.values()) == [1] * 8 + [3] * 2
    for person in people:
        work(round, person)
    assert rounds_queries.of_round(round, now=round.opened_at)["units_complete"] == 10
    assert finished(round) == {"single": 8 * 4, "unanimous": 2 * 4}
    assert agreement_queries.report(round)["measures"][0]["all_agree"] == {"count": 2, "of": 2}
    assert agreement_queries.report(round)["measures"][0]["missing_share"] == 0
    assert list(integrity.inconsistent_assignments()) == []


def test_a_unit_of_the_block_waits_for_all_its_people(project: Project, people: list[Member]) -> None:
    round = build_round(project, people, block_share=0.2, block_overlap=3)
    work(round, people[0])
    assert rounds_queries.of_round(round, now=round.opened_at)["units_complete"] == 8
    assert finished(round) == {"single": 8 * 4, "units without enough answers": 2}


def test_an_uncounted_assignment_of_an_overlap_block_is_found(project: Project, people: list[Member]) -> None:
    round = build_round(project, people, block_share=0.2, block_overlap=3)
    for person in people:
        work(round, person)
    of_block = Counter(round.assignments.values_list("unit", flat=True)).most_common(1)[0][0]
    slot = round.assignments.filter(unit=of_block).order_by("pk")[0]
    Assignment.objects.filter(pk=slot.pk).update(number=-slot.pk)
    assert [name for name, _ in integrity.inconsistent_assignments() if name == f"projects.assignment {slot.pk}"]


def test_repeats_are_separate_from_overlap(project: Project, people: list[Member]) -> None:
    round = build_round(project, people[:2], allocation="dealt", repeat_share=0.4, repeat_distance=1)
    again = {slot.pk for slot in round.assignments.filter(repeat=1)}
    assert len(again) == 4
    changed: list[int] = []

    def value(slot: Assignment) -> dict[str, Any]:
        if slot.repeat and not changed:
            changed.append(slot.pk)
            return label_value("positive")
        return label_value()

    walked = [slot for person in people[:2] for slot in work(round, person, value)]
    assert {slot.pk for slot in walked if slot.repeat} == again
    told = rounds_queries.of_round(round, now=round.opened_at)
    assert (told["assignments"], told["answered"], told["units_complete"]) == (10, 10, 10)
    assert (told["repeats"], told["repeats_answered"]) == (4, 4)
    report = agreement_queries.report(round)
    assert report["answers"] == 10
    polarity, *_ = report["repeats"]["measures"]
    assert (report["repeats"]["answers"], polarity["all_agree"]) == (4, {"count": 3, "of": 4})
    assert finished(round) == {"single": 10 * 4}
    assert not Decision.objects.filter(answer__assignment__repeat=1).exists()
    assert list(integrity.inconsistent_assignments()) == []


def test_skipping_a_unit_cancels_its_repeat(project: Project, people: list[Member]) -> None:
    round = build_round(project, people[:2], allocation="dealt", repeat_share=0.4, repeat_distance=1)
    one, two = people[:2]
    twice = round.assignments.filter(repeat=1, person=one).order_by("position")
    first = round.assignments.get(unit=twice[0].unit, person=one, repeat=0)
    skip(one.user, first)
    assert not round.assignments.counted().filter(unit=first.unit, repeat=1).exists()
    assert round.assignments.counted().filter(unit=first.unit, repeat=0, person=None).exists()
    remove_person(round=round, member=one, by=None)
    assert not round.assignments.counted().filter(repeat=1).exclude(person=two).exists()
    assert {slot.unit_id for slot in work(round, two)} == set(round.assignments.values_list("unit", flat=True))
    assert list(integrity.inconsistent_assignments()) == []


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"overlap": 2, "block_share": 0.5, "block_overlap": 2}, "block_overlap"),
        ({"allocation": "dealt", "block_share": 0.5, "block_overlap": 4}, "people"),
        ({"repeat_share": 0.1}, "repeat_share"),
    ],
)
def test_an_impossible_round_shape_is_refused_by_its_field(
    project: Project, people: list[Member], plan: dict[str, Any], field: str
) -> None:
    with pytest.raises(Refused) as refused:
        build_round(project, people, **plan)
    assert refused.value.errors[0]["field"] == field


def test_a_shape_is_planned_through_the_api_and_frozen(
    project: Project, lead: User, people: list[Member], client_of: Any
) -> None:
    client: APIClient = client_of(lead)
    body: dict[str, Any] = {
        "name": "blocks",
        "kind": "label",
        "purpose": "gold",
        "overlap": 1,
        "people": [m.pk for m in people],
        "allocation": "dealt",
        "block_share": 0.2,
        "block_overlap": 2,
        "repeat_share": 0.3,
        "repeat_distance": 2,
    }
    totals = client.post(f"/api/v1/projects/{project.slug}/rounds/totals/", body, format="json").json()
    made = client.post(f"/api/v1/projects/{project.slug}/rounds/", body, format="json").json()
    round = Round.objects.get(pk=made["id"])
    assert round.assignments.filter(repeat=0).count() == 12
    assert abs(totals["answers"] - round.assignments.count()) <= len(people), "each person's part is even to two"
    assert made["settings"][:2] == [
        {"label": "Overlap block", "value": "20% of the units, by 2 people"},
        {"label": "Repeats", "value": "30% of each person's own units, at least 2 others in between"},
    ]
    again = plan_of(round, body["people"])
    assert (again.block_share, again.block_overlap, again.repeat_share, again.repeat_distance) == (0.2, 2, 0.3, 2)


def test_a_report_is_outdated_after_an_answer_to_a_repeated_unit(project: Project, people: list[Member]) -> None:
    round = build_round(project, people[:1], allocation="dealt", repeat_share=0.3, repeat_distance=1)
    while not (slot := next_assignments(user=people[0].user, round=round)[0]).repeat:
        answer(people[0].user, slot)
    before = agreement_actions.count_inputs(round)
    answer(people[0].user, slot)
    after = agreement_actions.count_inputs(round)
    assert before["answers"] == after["answers"] > 0
    assert before != after


def test_a_round_with_a_block_that_is_being_prepared_is_no_finding(
    project: Project, lead: User, people: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "AT_ONCE", 0)
    plan = RoundPlan("large", "label", "gold", 1, [m.pk for m in people], block_share=0.3, block_overlap=3)
    round = preparing.begin_round(project=project, plan=plan, by=lead)
    units = list(project.units.filter(type="proposition").order_by("pk"))
    for number in (1, 2, 3):
        Assignment.objects.create(round=round, unit=units[0], number=number, position=0)
    assert round.status == "preparing"
    assert list(integrity.inconsistent_assignments()) == []


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A label kind that chooses every other unit itself and records its calls."""
    called: list[str] = []
    kind = type(kinds.get("label"))

    def every_other(self: kinds.Kind, round: Round, chosen: list[tuple[int, int]]) -> list[tuple[int, int]]:
        called.append("lay out")
        return chosen[::2]

    monkeypatch.setattr(kind, "create_items", every_other)
    for name in ("opened", "closed", "discarded"):
        monkeypatch.setattr(kind, name, lambda self, round, name=name: called.append(f"{name} {round.status}"))
    return called


@pytest.mark.parametrize("at_once", [True, False])
def test_a_kind_is_called_when_a_round_is_prepared_opened_and_closed(
    project: Project, lead: User, people: list[Member], hooks: list[str], monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    monkeypatch.setattr(preparing, "AT_ONCE", 5000 if at_once else 0)
    plan = RoundPlan("laid out", "label", "gold", 2, [m.pk for m in people])
    round = preparing.begin_round(project=project, plan=plan, by=lead)
    if not at_once:
        assert hooks == []
        found = preparing.job_of(round)
        assert found is not None
        assert run_job(found.pk)
    round.refresh_from_db()
    assert hooks == ["lay out", "opened open"]
    assert (round.units_count, round.assignments.count()) == (5, 10)
    assert sorted(round.assignments.values_list("position", flat=True).distinct()) == [0, 1, 2, 3, 4]
    finished(round)
    assert hooks[2:] == ["closed closed"]


def test_a_kind_is_called_when_an_unopened_round_is_discarded(
    project: Project, lead: User, people: list[Member], hooks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "AT_ONCE", 0)
    plan = RoundPlan("never", "label", "gold", 2, [m.pk for m in people])
    round = preparing.begin_round(project=project, plan=plan, by=lead)
    preparing.remove(round=round, by=lead, progress=lambda *_: None)
    assert hooks == ["discarded preparing"]


def test_a_part_of_a_unit_is_an_item_of_agreement(
    project: Project, people: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(kinds.get("label"))
    row = kind.row
    halves = ("first half", "second half")
    monkeypatch.setattr(kind, "part", "half")
    monkeypatch.setattr(kind, "rows", lambda self, value: [row(self, value) | {"half": half} for half in halves])
    round = build_round(project, people[:2], overlap=2)
    for person in people[:2]:
        work(round, person)
    report = agreement_queries.report(round)
    assert report["measures"][0]["units"] == 20
    assert report["measures"][0]["reviews"] == 5, "a part lies in the review of its unit"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"cues": "exact"}, "cues"),
        ({"suggestions": True}, "suggestions"),
        ({"policy": {"cues": "alike"}}, "policy.cues"),
        ({"options": {"hints": True}}, "options.hints"),
        ({"filters": {"role": "both"}}, "filters.role"),
        ({"filters": {"journal": "x"}}, "filters.journal"),
    ],
)
def test_undeclared_options_are_refused_by_path(
    project: Project, lead: User, people: list[Member], client_of: Any, more: dict[str, Any], field: str
) -> None:
    body = {"name": "n", "kind": "label", "purpose": "gold", "overlap": 1, "people": [people[0].pk]} | more
    reply = client_of(lead).post(f"/api/v1/projects/{project.slug}/rounds/", body, format="json")
    assert reply.status_code == 422, reply.content
    assert [error["field"] for error in reply.json()["errors"]] == [field]


def test_filters_of_answers_combine(project: Project, people: list[Member]) -> None:
    round = build_round(project, people[:2], overlap=2)
    for n, person in enumerate(people[:2]):
        work(round, person, lambda slot, n=n: label_value("negative" if n and slot.position == 3 else "no effect"))
    finished(round)

    def found(**filters: Any) -> int:
        return choosing.units(project, "label", filters).count()

    assert (found(gold="with"), found(contested=True), found(origin="unanimous")) == (10, 1, 10)
    assert found(gold="with", contested=True) == found(contested=True, origin="unanimous") == 1
    assert found(gold="without", contested=True) == found(gold="without") == 0
