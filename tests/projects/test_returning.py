"""Returning gold items: unmarked in the loop, and counting for nothing but the person's accuracy."""

import json
import uuid
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Review
from api.problems import Refused
from measures import drift
from projects.adjudication.queries import queued_units
from projects.agreement import queries as agreement_queries
from projects.answers.integrity import inconsistent_assignments
from projects.answers.queries import opinions
from projects.concerns.queries import GuidelineChange
from projects.curation.actions import correct
from projects.drift import actions as drift_actions
from projects.drift.queries import accuracy_of, series
from projects.gold.actions import finish_round
from projects.guidelines.actions import write_guideline
from projects.models import AccuracyEvent, Assignment, Decision, Member, Notification, Project, Round, Unit
from projects.models.round import RETURNED
from projects.queue.actions import next_assignments
from projects.rounds import queries as rounds_queries
from projects.rounds.actions import add_person, close_round
from projects.staleness.queries import outdated
from releases.formats import answers as answers_format
from releases.formats import rounds as rounds_format
from releases.formats.notes import Notes
from tests.builders import answer, build_cluster, build_round, label_value, skip

pytestmark = pytest.mark.django_db

CUES = {"polarity_cue": [(0, 7)], "modality_cue": [(8, 16)]}
RIGHT, WRONG = label_value("negative", "strong", **CUES), label_value("positive", "strong", **CUES)


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    """Twenty clusters of three propositions. Those of the first eight are decided by the lead."""
    for number in range(20):
        build_cluster(project, number, inputs=2)
    members = [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]
    for unit in Unit.objects.filter(type="proposition").order_by("pk")[:24]:
        correct(unit=unit, kind="label", value=RIGHT, reason="It reads so.", by=members[0])
    return members


def monitored(project: Project, people: list[Member], **plan: Any) -> Round:
    """A round of the undecided propositions, in which decided ones return."""
    return build_round(project, people, **{"filters": {"gold": "without"}, "order": "shuffled"} | SHARE | plan)


SHARE = {"return_share": 0.2}


def work(round: Round, *people: Member, value: dict[str, Any] = RIGHT, wrong_after: int = 1000) -> list[Assignment]:
    """Let people answer in turn until nobody holds a unit, with wrong answers later; return the assignments."""
    done: list[Assignment] = []
    while held := [(one, own[0]) for one in people if (own := next_assignments(user=one.user, round=round))]:
        for person, first in held:
            answer(person.user, first, value if len(done) < wrong_after else WRONG)
            done.append(first)
    return done


@pytest.mark.parametrize("allocation", ["pool", "dealt"])
@pytest.mark.parametrize("overlap", [1, 2])
def test_each_unit_gets_k_counted_answers_and_everyone_gets_a_share_of_returning_items(
    project: Project, people: list[Member], allocation: str, overlap: int
) -> None:
    round = monitored(project, people[1:], allocation=allocation, overlap=overlap)
    done = work(round, *people[1:])
    counted = Counter(opinions(round).values_list("assignment__unit", flat=True))
    assert len(counted) == round.units_count == 36
    assert set(counted.values()) == {overlap}
    for person in people[1:]:
        own = [one for one in done if one.person_id == person.pk]
        returned = [one.unit_id for one in own if one.repeat == RETURNED]
        assert len(returned) == len(set(returned))
        assert 0.1 <= len(returned) / (len(own) - len(returned)) <= 0.3
    assert list(inconsistent_assignments()) == []


@pytest.mark.parametrize("allocation", ["pool", "dealt"])
def test_ids_and_positions_of_returning_items_are_like_those_of_other_units(
    project: Project, people: list[Member], allocation: str
) -> None:
    round = monitored(project, people[1:2], allocation=allocation)
    rows = list(Assignment.objects.filter(round=round, number__gte=1).order_by("position"))
    assert [row.position for row in rows] == list(range(len(rows)))
    assert [row.pk for row in rows] == sorted(row.pk for row in rows)
    assert 0 < sum(row.repeat == RETURNED for row in rows) < len(rows)


@pytest.mark.parametrize("allocation", ["pool", "dealt"])
def test_items_of_a_context_return_together_and_between_contexts(
    project: Project, people: list[Member], allocation: str
) -> None:
    round = monitored(project, people[1:2], allocation=allocation, return_share=0.25)
    rows = Assignment.objects.filter(round=round, number__gte=1).order_by("position")
    contexts = list(rows.values_list("unit__context", flat=True))
    changes = sum(one != other for one, other in pairwise(contexts))
    assert changes == len(set(contexts)) - 1


def put(client: APIClient, card: dict[str, Any], have: list[int], **fields: Any) -> Any:
    body = {name: card[name] for name in ("assignment", "revision", "kind", "shown")}
    body |= {"outcome": "answered", "active_ms": 4000, "value": RIGHT, "have": have} | fields
    return client.put(f"/api/v1/answers/{uuid.uuid4()}/", json.dumps(body), content_type="application/json")


@pytest.mark.parametrize("allocation", ["pool", "dealt"])
def test_nothing_in_the_loop_tells_a_returning_item_apart(
    project: Project, people: list[Member], ann1: User, client_of: Any, allocation: str
) -> None:
    round, client = monitored(project, people[1:2], allocation=allocation), client_of(ann1)
    reply = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
    total, cards = reply["progress"]["total"], {c["assignment"]: c for c in reply["fetched"]}
    costs: dict[Any, Any] = {}
    assert not reply["progress"]["is_upper_bound"]
    assert client.get(f"/api/v1/rounds/{round.pk}/").json()["units"] == total
    assert client.get("/api/v1/my-work/").json()[0]["left"] == total
    held, replies, done = reply["held"], [], []
    while held:
        with CaptureQueriesContext(connection) as seen:
            reply = put(client, cards[held[0]], list(cards)[-20:])
        body = reply.json()
        done.append(Assignment.objects.get(pk=held[0]))
        replies.append((sorted(body), sorted(body["answer"]), body["answer"]["counted"], body["feedback"]))
        costs.setdefault(done[-1].repeat, []).append((len(seen), len(body["fetched"])))
        held, cards = body["held"], cards | {c["assignment"]: c for c in body["fetched"]}
    assert len(done) == total
    assert len({str(one) for one in replies}) == 1
    assert {str(sorted(card)) for card in cards.values()} == {str(sorted(next(iter(cards.values()))))}
    # The number of queries depends on the cards that follow, not on the item that was answered.
    assert {cost for cost in costs[RETURNED] if cost[1]} <= set(costs[0])
    assert client.get(f"/api/v1/rounds/{round.pk}/next/").json()["progress"]["done"] == total


def test_an_answer_costs_as_many_queries_as_in_a_round_without_returning_items(
    project: Project, people: list[Member], ann1: User, client_of: Any
) -> None:
    client, costs = client_of(ann1), []
    for plan in ({"return_share": 0.0, "name": "plain"}, {"name": "monitored"}):
        round = monitored(project, people[1:2], **plan)
        reply = client.get(f"/api/v1/rounds/{round.pk}/next/").json()
        seen = []
        for _ in range(6):
            with CaptureQueriesContext(connection) as queries:
                answered = put(client, reply["fetched"][0], [])
            seen.append(len(queries))
            reply = answered.json()
        costs.append(seen)
    assert costs[0] == costs[1]


def test_answers_to_returning_items_count_for_nothing_else(
    project: Project, people: list[Member], lead: User, client_of: Any
) -> None:
    round = monitored(project, people[1:], overlap=2)
    plain = monitored(project, people[1:], overlap=2, return_share=0.0, name="plain")
    before = set(Decision.objects.values_list("pk", flat=True))
    for one in (round, plain):
        work(one, *people[1:], value=WRONG)
    progress = [rounds_queries.of_round(one, now=one.opened_at) for one in (round, plain)]
    for name in ("assignments", "answered", "units", "units_complete", "repeats", "uncounted", "days"):
        assert progress[0][name] == progress[1][name], name
    for one in (round, plain):
        close_round(round=one, by=None)
        one.refresh_from_db()
        finish_round(round=one, by=None)
    asked = set(Assignment.objects.filter(round=round, repeat=0).values_list("unit", flat=True))
    assert {d.unit_id for d in Decision.objects.exclude(pk__in=before)} == asked
    reports = [agreement_queries.report(one) for one in (round, plain)]
    assert reports[0]["answers"] == reports[1]["answers"] == 72
    assert "repeats" not in reports[0]
    files = dict(answers_format.files(project, Notes()))
    lines = b"".join(files["answers/label.csv"]).decode().splitlines()
    returned = [line.split(",") for line in lines if ",returned," in line]
    header = lines[0].split(",")
    assert len(returned) == Assignment.objects.filter(round=round, current_answer__isnull=False).returned().count()
    assert {line[header.index("counted")] for line in returned} == {"false"}
    unit = Unit.objects.get(key=returned[0][header.index("unit")])
    steps = client_of(lead).get(f"/api/v1/units/{unit.pk}/origin/").json()["steps"]
    assert {step["is_counted"] for step in steps if step["round"] == "round"} == {False}
    cluster = unit.proposition.cluster_id
    assert '"counted":false' in (page := client_of(lead).get(f"/api/v1/clusters/{cluster}/").content.decode())
    assert '"counted":true' not in page
    (_, content), *_ = rounds_format.files(project, Notes())
    designs = {one["round"]: one for one in map(json.loads, b"".join(content).splitlines())}
    stored = designs["round"]["sampling"]["returned"]
    assert stored["answers"] == len(returned) == sum(one["answers"] for one in stored["raters"])
    assert {one["right"] for one in stored["raters"]} == {0}
    assert "units" not in stored


def test_returning_items_do_not_become_outdated_or_flagged_for_adjudication(
    project: Project, people: list[Member], lead: User
) -> None:
    round = monitored(project, people[1:2])
    while held := next_assignments(user=people[1].user, round=round):
        answer(people[1].user, held[0], RIGHT, flag=held[0].repeat == RETURNED)
    write_guideline(project=project, kind="label", text="Another text.", by=lead)
    asked = set(Assignment.objects.filter(round=round, repeat=0).values_list("unit", flat=True))
    assert {one.assignment.unit_id for one in outdated(project) if one.assignment.round_id == round.pk} == asked
    assert queued_units(round) == []


def test_returning_items_neither_concern_nor_revisit_units(project: Project, people: list[Member], lead: User) -> None:
    """A guideline version concerns the strong values of the eight clusters until a round asks about them."""
    round = monitored(project, people[1:2])
    assert next_assignments(user=people[1].user, round=round)
    scope: dict[str, Any] = {
        "scope": "values",
        "concerns": [{"field": "modality", "values": ["strong"]}],
        "reason": "Clearer.",
    }
    version = write_guideline(project=project, kind="label", text="New.", by=lead, **scope)

    def ids(name: str) -> set[int]:
        units: QuerySet[Unit] = getattr(GuidelineChange.of(version), name)()
        return set(units.values_list("pk", flat=True))

    concerned = ids("affected")
    assert len(concerned) == 24
    later = monitored(project, people[2:], name="later")
    assert ids("correctable") == concerned, "items in an open round are not assigned"
    work(later, people[2], value=WRONG)
    assert ids("affected") == concerned, "items are not revisited"
    work(round, people[1])
    asked = set(Assignment.objects.filter(round=round, repeat=0).values_list("unit", flat=True))
    assert ids("concerned") == concerned | asked


def test_nobody_gets_an_item_whose_answer_they_know(project: Project, people: list[Member]) -> None:
    first, second = people[1:]
    decided = list(Unit.objects.filter(type="proposition").order_by("pk")[:24])
    practice = build_round(project, [first], name="practice", purpose="practice", sample=6)
    practised = set(Assignment.objects.filter(round=practice).values_list("unit", flat=True))
    for allocation in ("pool", "dealt"):
        round = monitored(project, people, name=allocation, allocation=allocation, overlap=3, return_share=0.3)
        items: dict[Member, set[int]] = {one: set() for one in people}
        for slot in work(round, *people):
            if slot.repeat == RETURNED:
                items[next(one for one in people if one.pk == slot.person_id)].add(slot.unit_id)
        assert items[people[0]] == set()  # the lead decided them all
        assert items[second] <= {unit.pk for unit in decided}
        assert items[second]
        assert items[first]
        assert not items[first] & practised


def test_a_later_practice_withholds_items_that_a_person_holds(project: Project, people: list[Member]) -> None:
    person = people[1]
    round = monitored(project, [person], return_share=0.3)
    practice = build_round(project, people[2:], name="practice", purpose="practice")
    add_person(round=practice, member=person, by=None)
    assert all(slot.repeat != RETURNED for slot in work(round, person))


def test_a_skipped_item_goes_to_the_next_person_like_a_unit(project: Project, people: list[Member]) -> None:
    first, second = people[1:]
    round = monitored(project, [first, second])
    skipped = set()
    while held := next_assignments(user=first.user, round=round):
        if held[0].repeat == RETURNED:
            skipped.add(held[0].unit_id)
            skip(first.user, held[0])
        else:
            answer(first.user, held[0], RIGHT)
    assert {slot.unit_id for slot in work(round, second) if slot.repeat == RETURNED} >= skipped
    assert series(round).keys() == {second.pk}


def test_a_person_who_joins_a_fixed_allocation_gets_items_too(project: Project, people: list[Member]) -> None:
    round = monitored(project, people[1:2], allocation="dealt", return_share=0.3)
    add_person(round=round, member=people[2], by=None)
    work(round, *people[1:])
    lengths = [len(series(round)[one.pk]) for one in people[1:]]
    assert sum(lengths) == 11
    assert min(lengths) >= 1


def test_a_person_whose_accuracy_falls_is_warned_once_and_can_practise(
    project: Project, people: list[Member], lead: User, ann1: User, client_of: Any
) -> None:
    person = people[1]
    round = monitored(project, [person], return_share=0.3)
    work(round, person, wrong_after=12)
    assert drift_actions.check_open_rounds() == 1
    assert drift_actions.check_open_rounds() == 0
    assert drift_actions.check(round) == []
    warning = AccuracyEvent.objects.get()
    assert warning.score >= warning.threshold == drift.threshold_of(85)
    assert {one.user_id for one in Notification.objects.filter(what="accuracy")} == {lead.pk, ann1.pk}
    own = client_of(ann1).get("/api/v1/my-work/").json()[0]["accuracy"]
    assert (own["right"], own["window"], own["practice"]) == (warning.right, warning.window, None)
    assert client_of(ann1).get(f"/api/v1/rounds/{round.pk}/next/").json()["accuracy"] == own
    url = f"/api/v1/rounds/{round.pk}/accuracy/"
    assert client_of(ann1).get(url).status_code == 403
    page = client_of(lead).get(url).json()
    (row,) = page["people"]
    assert row["warned"]
    assert row["answers"] == sum(one["n"] for one in row["windows"]) == 11
    assert row["values"]["n"] == 47
    opened = client_of(lead).post(f"{url}{person.pk}/practice/")
    assert opened.status_code == 201, opened.json()
    practice = Round.objects.get(pk=opened.json()["round"])
    assert practice.meaning.gives_feedback
    had = set(Assignment.objects.filter(round=round, person=person, number__gte=1).values_list("unit", flat=True))
    assert not had & set(practice.assignments.values_list("unit", flat=True))
    assert client_of(ann1).get("/api/v1/my-work/").json()[-1]["accuracy"]["practice"] == practice.pk
    assert client_of(lead).post(f"{url}{person.pk}/practice/").status_code == 409
    assert accuracy_of(round)["people"][0]["warnings"][0]["practice"] == practice.pk  # type: ignore[index]
    (_, content), *_ = rounds_format.files(project, Notes())
    (line,) = (one for one in map(json.loads, b"".join(content).splitlines()) if one["round"] == round.name)
    (rater,) = line["sampling"]["returned"]["raters"]
    assert rater["rater"] == person.pseudonym
    assert [one["right"] for one in rater["warnings"]] == [warning.right]


@pytest.mark.parametrize(
    ("field", "plan"),
    [
        ("order", {"order": "corpus"}),
        ("rolling", {"rolling": True, "order": "corpus"}),
        ("return_bar", {"return_bar": 99}),
        ("return_from", {"return_from": 10**6}),
        ("return_share", {"purpose": "review and correct", "filters": {}}),
        ("return_from", {"filters": {"gold": "with"}}),
    ],
)
def test_a_plan_that_would_reveal_or_lack_items_is_refused(
    project: Project, people: list[Member], field: str, plan: dict[str, Any]
) -> None:
    with pytest.raises(Refused) as refused:
        monitored(project, people[1:], **plan)
    assert refused.value.errors[0]["field"] == field


def test_reviews_return_in_a_screening_round_and_every_decided_field_counts(
    project: Project, lead: User, ann1: User, client_of: Any
) -> None:
    by, person = (Member.objects.get(project=project, user=user) for user in (lead, ann1))
    for number in range(40):
        key = str(26_000_000 + number)
        unit = Unit.objects.create(project=project, type="review", key=key)
        Review.objects.create(project=project, pmid=key, unit=unit, title="Nepralin", abstract="Trials.")
        if number < 12:
            correct(unit=unit, kind="screen", value={"screening": "include"}, reason="It fits.", by=by)
    round = monitored(project, [person], kind="screen", return_share=0.3)
    units: list[Assignment] = []
    while held := next_assignments(user=ann1, round=round):
        said = "include" if len(units) < 14 else "not relevant"
        answer(ann1, held[0], {"screening": said}, kind="screen")
        units.append(held[0])
    assert len(units) == 28 + 9
    right = [index < 14 for index, slot in enumerate(units) if slot.repeat == RETURNED]
    assert series(round) == {person.pk: right}
    assert drift_actions.check_open_rounds() == 1
    shown = client_of(lead).get(f"/api/v1/rounds/{round.pk}/accuracy/").json()["people"][0]
    assert (shown["answers"], shown["right"]) == (9, sum(right))
    assert shown["values"]["value"] == "not relevant"
