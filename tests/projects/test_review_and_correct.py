"""Correction rounds: the current value is shown, and an answer records the decisions that were shown."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from projects.agreement import queries as agreement_queries
from projects.curation.actions import correct
from projects.gold.actions import finish_round, insert_decisions
from projects.gold.queries import current_values
from projects.management.commands.agreement import as_text
from projects.models import Assignment, Decision, Import, Member, Project, Reference, Round, Unit
from projects.queue import queries as queue_queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.sheets.actions import hold_for_sheet
from tests.builders import answer, build_cluster, build_round, label_value

pytestmark = pytest.mark.django_db

TRUTH = label_value("no effect", "moderate", polarity_cue=[(0, 7)])
PLANTED = label_value("positive", "moderate", polarity_cue=[(0, 7)])


@pytest.fixture
def people(project: Project, lead: User, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]


def settled(project: Project, by: Member, units: int, errors: int) -> list[Unit]:
    """Create labelled propositions, the first of which are wrong. Every other of the rest is negative, so that kappa
    is defined."""
    for number in range(-(-units // 5)):
        build_cluster(project, number, inputs=4)
    found = list(Unit.objects.filter(project=project, type="proposition").order_by("pk")[:units])
    for n, unit in enumerate(found):
        correct(unit=unit, kind="label", value=PLANTED if n < errors else TRUTH, reason="First pass.", by=by)
    return found


def review(round: Round, person: Member) -> int:
    """Confirm correct values and correct the others, as the page does; return the number of answers."""
    done = 0
    while held := next_assignments(user=person.user, round=round):
        card = queue_queries.cards(round, held[:1])[0]
        assert card["value"]["polarity"] in ("no effect", "positive")
        value = card["value"] if card["value"]["polarity"] == "no effect" else TRUTH
        answer(person.user, held[0], value, references=card["references"])
        done += 1
    return done


def finished(round: Round) -> dict[str, int]:
    close_round(round=round, by=None)
    round.refresh_from_db()
    decisions: dict[str, int] = finish_round(round=round, by=None)["decisions"]
    return decisions


@pytest.mark.long
def test_100_labels_with_23_planted_errors_report_23_and_kappa_and_n(project: Project, people: list[Member]) -> None:
    units = settled(project, people[0], 100, 23)
    before = Decision.objects.count()
    round = build_round(project, people[1:2], purpose="review and correct")
    assert review(round, people[1]) == 100
    decisions = finished(round)
    found = agreement_queries.report(round)["review"]
    assert (found["corrected"], found["reviewed"], found["confirmed"]) == (23, 100, 77)
    assert {f["field"]: f["corrected"] for f in found["fields"]} == {
        "polarity": 23,
        "polarity_cue": 0,
        "modality": 0,
        "modality_cue": 0,
    }
    polarity = next(m for m in found["measures"] if m["name"] == "polarity")
    # Shown: 23 positive, 77 no effect; answered: 100 no effect. Po = Pe = .77.
    assert (polarity["n"], polarity["same"], polarity["kappa"]) == (100, 77, pytest.approx(0.0))
    # Confirmed values are not decided again.
    assert decisions == {"single": 23}
    assert Decision.objects.count() == before + 23
    values = current_values(units, "label")
    assert {v["polarity"] for v in values.values()} == {"no effect"}


def test_kappa_is_that_of_the_table_of_shown_and_given(project: Project, people: list[Member]) -> None:
    units = settled(project, people[0], 10, 4)
    round = build_round(project, people[1:2], purpose="review and correct")
    wrong = {u.pk for u in units[:2]}
    while held := next_assignments(user=people[1].user, round=round):
        card = queue_queries.cards(round, held[:1])[0]
        value = TRUTH if held[0].unit_id in wrong else card["value"]
        answer(people[1].user, held[0], value, references=card["references"])
    report = agreement_queries.report(round)
    polarity = report["review"]["measures"][0]
    printed = "\n".join(as_text(report))
    assert "2 of 10 corrected. This is not independent labelling" in printed
    assert "polarity, shown and corrected: 0.545" in printed
    # Shown 4 + 6, answered 2 + 8: Po = .8, Pe = .4 x .2 + .6 x .8 = .56.
    assert polarity["kappa"] == pytest.approx((0.8 - 0.56) / 0.44)


def test_correction_rounds_have_no_agreement_between_raters(project: Project, people: list[Member]) -> None:
    settled(project, people[0], 10, 3)
    round = build_round(project, people[1:], purpose="review and correct", overlap=2)
    for person in people[1:]:
        review(round, person)
    report = agreement_queries.report(round)
    assert (report["measures"], report["spans"], report["raters"]) == ([], [], ["R1", "R2"])
    assert report["review"]["reviewed"] == 20


def test_an_answer_knows_which_decisions_were_shown_though_they_changed_meanwhile(
    project: Project, people: list[Member]
) -> None:
    (unit,) = settled(project, people[0], 1, 0)
    round = build_round(project, people[1:2], purpose="review and correct")
    slot = next_assignments(user=people[1].user, round=round)[0]
    card = queue_queries.cards(round, [slot])[0]
    newer = correct(unit=unit, kind="label", value=PLANTED, reason="Read again.", by=people[0])
    stored = answer(people[1].user, slot, card["value"], references=card["references"]).answer
    assert set(Reference.objects.filter(answer=stored).values_list("decision", flat=True)) == set(card["references"])
    assert newer[0].pk not in card["references"]
    # It confirmed the value that was shown, so a later decision stays.
    assert finished(round) == {}
    assert current_values([unit], "label")[unit.pk]["polarity"] == "positive"


def test_a_reopened_answer_is_compared_with_the_value_first_shown(project: Project, people: list[Member]) -> None:
    (unit,) = settled(project, people[0], 1, 1)
    round = build_round(project, people[1:2], purpose="review and correct")
    slot = next_assignments(user=people[1].user, round=round)[0]
    first = queue_queries.cards(round, [slot])[0]
    answer(people[1].user, slot, TRUTH, references=first["references"])
    correct(unit=unit, kind="label", value=TRUTH, reason="Read again.", by=people[0])
    again = queue_queries.recent(round, people[1], 1)[0]
    assert again["references"] == first["references"]
    assert again["value"]["polarity"] == "no effect"


def test_an_answer_must_say_what_was_shown_and_cannot_name_anothers_decisions(
    project: Project, people: list[Member]
) -> None:
    settled(project, people[0], 2, 0)
    round = build_round(project, people[1:2], purpose="review and correct")
    slot, other = next_assignments(user=people[1].user, round=round)
    for references in ([], queue_queries.cards(round, [other])[0]["references"], [10**9]):
        with pytest.raises(Refused) as refused:
            answer(people[1].user, slot, TRUTH, references=references)
        assert refused.value.errors[0]["field"] == "references"
    assert not Reference.objects.exists()


def test_disagreeing_correctors_keep_the_value_and_make_no_contest(project: Project, people: list[Member]) -> None:
    (unit,) = settled(project, people[0], 1, 1)
    round = build_round(project, people[1:], purpose="review and correct", overlap=2)
    for person, value in zip(people[1:], (TRUTH, label_value("negative", "moderate")), strict=True):
        slot = next_assignments(user=person.user, round=round)[0]
        answer(person.user, slot, value, references=queue_queries.cards(round, [slot])[0]["references"])
    finished(round)
    assert not Decision.objects.contested().exists()
    assert current_values([unit], "label")[unit.pk]["polarity"] == "positive"


def test_the_card_of_the_api_shows_the_value_and_the_report_counts(
    client_of: Any, project: Project, people: list[Member]
) -> None:
    settled(project, people[0], 3, 1)
    client: APIClient = client_of(people[0].user)
    plan = {
        "name": "second look",
        "kind": "label",
        "purpose": "review and correct",
        "overlap": 1,
        "people": [people[1].pk],
    }
    round = Round.objects.get(pk=client.post("/api/v1/projects/eye/rounds/", plan, format="json").json()["id"])
    card = client_of(people[1].user).get(f"/api/v1/rounds/{round.pk}/next/").json()["fetched"][0]
    assert (card["value"]["polarity"], len(card["references"])) == ("positive", 4)
    review(round, people[1])
    shown = client.get(f"/api/v1/rounds/{round.pk}/agreement/").json()
    assert (shown["review"]["corrected"], shown["review"]["reviewed"], shown["measures"]) == (1, 3, [])


def test_review_is_not_done_in_a_spreadsheet(project: Project, people: list[Member]) -> None:
    settled(project, people[0], 1, 0)
    round = build_round(project, people[1:2], purpose="review and correct")
    with pytest.raises(Refused, match="browser"):
        hold_for_sheet(round=round, member=people[1], by=people[0].user)
    assert Assignment.objects.filter(round=round, person=people[1]).count() == 0


@pytest.mark.parametrize("kind", ["tuple", "discourse"])
def test_other_kinds_are_corrected_in_the_same_way(project: Project, people: list[Member], kind: str) -> None:
    cluster = build_cluster(project, 0)
    blank = {"text": "", "fragments": []}
    values: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
        "tuple": (
            {"p": blank, "i": blank | {"text": "nepralin"}, "c": blank | {"stands_for": ""}, "o": blank},
            {"p": blank, "i": blank | {"text": "placebo"}, "c": blank | {"stands_for": ""}, "o": blank},
            "i",
        ),
        "discourse": ({"relation": "agreement"}, {"relation": "contradiction"}, "relation"),
    }
    before, after, field = values[kind]
    correct(unit=cluster.unit, kind=kind, value=before, reason="First.", by=people[0])
    round = build_round(project, people[1:], kind=kind, overlap=2, purpose="review and correct")
    for person, other in zip(people[1:], (None, after), strict=True):
        slot = next_assignments(user=person.user, round=round)[0]
        card = queue_queries.cards(round, [slot])[0]
        answer(person.user, slot, other or card["value"], kind=kind, references=card["references"])
    found = agreement_queries.report(round)["review"]
    assert (found["corrected"], found["reviewed"]) == (1, 2)
    assert [f["field"] for f in found["fields"] if f["corrected"]] == [field]


def test_an_imported_tuple_can_be_reviewed(project: Project, people: list[Member], lead: User) -> None:
    cluster = build_cluster(project, 0)
    cluster.imported = Import.objects.create(
        project=project, format="m3", file_name="f", sha256="0" * 64, size=1, created_by=lead, created_at=timezone.now()
    )
    cluster.save()
    round = build_round(project, people[1:2], kind="tuple", purpose="review and correct")
    slot = next_assignments(user=people[1].user, round=round)[0]
    card = queue_queries.cards(round, [slot])[0]
    assert len(card["references"]) == 4
    answer(people[1].user, slot, card["value"], kind="tuple", references=card["references"])
    assert agreement_queries.report(round)["review"]["corrected"] == 0


def test_cards_cost_the_same_queries_for_any_number_of_units(project: Project, people: list[Member]) -> None:
    settled(project, people[0], 10, 0)
    round = build_round(project, people[1:2], purpose="review and correct", allocation="dealt")
    slots = list(round.assignments.select_related("unit", "current_answer").order_by("position"))
    counts = []
    for some in (slots[:3], slots):
        with CaptureQueriesContext(connection) as queries:
            queue_queries.cards(round, some)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_report_costs_the_same_queries_for_any_number_of_answers(project: Project, people: list[Member]) -> None:
    settled(project, people[0], 10, 5)
    counts = []
    for n, sample in enumerate((2, 10)):
        round = build_round(project, people[1:2], name=f"r{n}", purpose="review and correct", sample=sample)
        review(round, people[1])
        with CaptureQueriesContext(connection) as queries:
            agreement_queries.report(round)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_reverted_value_is_not_shown_on_new_cards(project: Project, people: list[Member]) -> None:
    """A card that was fetched before may still be answered; a new card does not show the value."""
    (unit,) = settled(project, people[0], 1, 0)
    round = build_round(project, people[1:2], purpose="review and correct")
    slot = next_assignments(user=people[1].user, round=round)[0]
    shown = queue_queries.cards(round, [slot])[0]["references"]
    insert_decisions(
        Decision(unit=unit, kind="label", field=name, origin="reopened", decided_at=timezone.now())
        for name in ("polarity", "polarity_cue", "modality", "modality_cue")
    )
    assert queue_queries.cards(round, [slot])[0]["value"] is None
    stored = answer(people[1].user, slot, TRUTH, references=shown).answer
    assert Reference.objects.filter(answer=stored).count() == 4
