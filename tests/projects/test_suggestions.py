"""Suggestions by models in correction rounds: what is shown, what is stored, and what the report says."""

from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from projects.agreement.queries import report as agreement_report
from projects.curation.actions import correct
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.kinds import Value
from projects.models import Decision, Member, Project, Round, Suggestion, SuggestionOutcome, SuggestionSet, Unit
from projects.models import SuggestionSource as Source
from projects.queue import queries as queue_queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.suggestions.actions import SetPlan, create_set, store_suggestions, suggestion
from projects.suggestions.checking import checked_value, page_round
from projects.suggestions.queries import is_blind
from tests.builders import answer, build_cluster, build_round, label_value, skip

pytestmark = pytest.mark.django_db

SUGGESTED = label_value("positive", "strong", polarity_cue=[(0, 7)])
OTHER = label_value("negative", "weak")


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def build_suggestions(project: Project, clusters: int = 5, value: Value | None = None) -> SuggestionSet:
    """Create propositions with one suggestion each."""
    for number in range(clusters):
        build_cluster(project, number, inputs=3)
    plan = SetPlan("label", "Tiny 1", Source.FILE, "tiny", {"sha256": "0" * 64})
    made = create_set(project=project, plan=plan, by=None)
    units = Unit.objects.filter(project=project, type="proposition").order_by("pk")
    with transaction.atomic():
        store_suggestions(made, [suggestion(made, unit, value or SUGGESTED) for unit in units])
    return made


def open_with(project: Project, people: list[Member], made: SuggestionSet, blind: int = 50, **plan: Any) -> Round:
    terms = {"suggestions": made.pk, "blind_share": blind}
    return build_round(project, people, purpose="review and correct", terms=terms, seed=7, **plan)


def work(round: Round, person: Member, value: Value | None = None, **fields: Any) -> dict[bool, int]:
    """Confirm what is shown, and answer blind units with ``value``. Return the numbers of shown and blind units."""
    counts = {True: 0, False: 0}
    while held := next_assignments(user=person.user, round=round):
        card = queue_queries.cards(round, held[:1])[0]
        assert card.get("is_suggestion", False) == (card["value"] is not None)
        counts[card["value"] is not None] += 1
        answer(person.user, held[0], card["value"] or value or OTHER, **fields)
    return counts


def test_about_half_of_each_persons_units_show_the_suggestion_and_the_others_nothing(
    project: Project, people: list[Member]
) -> None:
    made = build_suggestions(project, 10)
    round = open_with(project, people, made, overlap=2)
    assert round.units_count == 40  # units without a current value take part
    for person in people:
        counts = work(round, person)
        assert counts[True] + counts[False] == 40
        assert 12 <= counts[True] <= 28
    units = Unit.objects.filter(type="proposition")
    drawn = [[is_blind(round, unit.pk, person.pk) for person in people] for unit in units]
    assert {tuple(one) for one in drawn} == {(True, True), (True, False), (False, True), (False, False)}


def test_a_suggestion_is_never_a_decision_before_a_person_has_answered(project: Project, people: list[Member]) -> None:
    made = build_suggestions(project)
    round = open_with(project, people[:1], made, blind=0)
    assert not Decision.objects.exists()
    work(round, people[0])
    assert not Decision.objects.exists()
    close_round(round=round, by=None)
    round.refresh_from_db()
    assert finish_round(round=round, by=None)["decisions"] == {"single": 80}
    units = list(Unit.objects.filter(type="proposition"))
    assert {v["polarity"] for v in current_values(units, "label").values()} == {"positive"}


def test_the_current_value_of_a_unit_is_not_shown_beside_a_suggestion(
    project: Project, people: list[Member], lead: User
) -> None:
    made = build_suggestions(project)
    curator = Member.objects.get(project=project, user=lead)
    for unit in Unit.objects.filter(type="proposition"):
        correct(unit=unit, kind="label", value=label_value("negative", "weak"), reason="First pass.", by=curator)
    round = open_with(project, people, made)
    seen = []
    while held := next_assignments(user=people[0].user, round=round):
        card = queue_queries.cards(round, held[:1])[0]
        seen.append(card["value"] and card["value"]["polarity"])
        assert card["references"] == []
        answer(people[0].user, held[0], OTHER)
    assert set(seen) == {None, "positive"}


def test_accepted_edited_and_rejected_are_stored_by_field(project: Project, people: list[Member]) -> None:
    made = build_suggestions(project)
    round = open_with(project, people[:1], made, blind=0)
    user = people[0].user
    edited = SUGGESTED | {"modality": "weak"}
    for value, rejects in ((SUGGESTED, False), (edited, False), (OTHER, True)):
        answer(user, next_assignments(user=user, round=round)[0], value, rejects_suggestion=rejects)
    rows = list(SuggestionOutcome.objects.order_by("pk").values_list("field", "was_shown", "same", "rejected"))
    fields = ("polarity", "polarity_cue", "modality", "modality_cue")
    assert rows[:4] == [(field, True, True, False) for field in fields]
    assert rows[4:8] == [(field, True, field != "modality", False) for field in fields]
    # The suggestion has no modality cue, and neither has the new answer.
    assert rows[8:] == [(field, True, field == "modality_cue", True) for field in fields]
    figures = agreement_report(round)
    whole, polarity = figures["suggestions"]["fields"][:2]
    assert [whole[name] for name in ("accepted", "edited", "rejected")] == [1, 1, 1]
    assert [polarity[name] for name in ("accepted", "edited", "rejected")] == [2, 0, 1]
    assert figures["suggestions_shown"]
    assert figures["measures"] == []
    assert "not independent" in figures["suggestions"]["note"]


def test_a_later_revision_keeps_that_the_suggestion_was_rejected(project: Project, people: list[Member]) -> None:
    made = build_suggestions(project)
    round = open_with(project, people[:1], made, blind=0)
    user = people[0].user
    held = next_assignments(user=user, round=round)[0]
    answer(user, held, OTHER, rejects_suggestion=True)
    held.refresh_from_db()
    stored = answer(user, held, label_value("negative", "moderate")).answer
    assert set(stored.suggestion_outcomes.values_list("rejected", flat=True)) == {True}


def test_a_blind_unit_cannot_be_rejected_and_a_skip_stores_nothing(project: Project, people: list[Member]) -> None:
    made = build_suggestions(project)
    round = open_with(project, people, made, blind=90)
    user = people[0].user
    held = next_assignments(user=user, round=round)
    blind = next(one for one in held if is_blind(round, one.unit_id, people[0].pk))
    stored = answer(user, blind, OTHER, rejects_suggestion=True).answer
    assert set(stored.suggestion_outcomes.values_list("was_shown", "rejected")) == {(False, False)}
    before = SuggestionOutcome.objects.count()
    skip(user, next_assignments(user=user, round=round)[0])
    assert SuggestionOutcome.objects.count() == before
    skipped = agreement_report(round)["suggestions"]["skipped"]
    assert sum(skipped.values()) == 1


def test_gold_of_the_report_comes_from_before_the_round_and_not_from_assisted_answers(
    project: Project, people: list[Member], lead: User
) -> None:
    made = build_suggestions(project)
    curator = Member.objects.get(project=project, user=lead)
    units = list(Unit.objects.filter(type="proposition").order_by("pk"))
    for unit in units[:10]:
        correct(unit=unit, kind="label", value=OTHER, reason="Known.", by=curator)
    first = open_with(project, people[:1], made, blind=0)
    work(first, people[0])
    close_round(round=first, by=None)
    first.refresh_from_db()
    finish_round(round=first, by=None)
    figures = agreement_report(first)["suggestions"]
    assert figures["with_gold"] == 10
    whole = figures["fields"][0]
    # The suggestion is wrong in the 10 units with gold, and was kept in all of them.
    assert (whole["wrong_kept"]["shown"]["hits"], whole["wrong_kept"]["shown"]["n"]) == (10, 10)
    assert whole["right"]["shown"]["hits"] == 0
    # All units now have a value that people confirmed with the suggestion before them: no gold for another round.
    second = open_with(project, people[1:], made, name="second", blind=0)
    work(second, people[1])
    assert agreement_report(second)["suggestions"]["with_gold"] == 0


def test_an_ordinary_correction_round_is_as_before(project: Project, people: list[Member], lead: User) -> None:
    build_suggestions(project)
    curator = Member.objects.get(project=project, user=lead)
    unit = Unit.objects.filter(type="proposition").order_by("pk")[0]
    correct(unit=unit, kind="label", value=OTHER, reason="Known.", by=curator)
    round = build_round(project, people[:1], purpose="review and correct")
    assert (round.units_count, round.terms) == (1, {})
    card = queue_queries.cards(round, next_assignments(user=people[0].user, round=round)[:1])[0]
    assert card["value"]["polarity"] == "negative"
    assert card["references"]
    assert "is_suggestion" not in card


def test_sets_of_another_task_or_project_or_without_values_are_refused(project: Project, people: list[Member]) -> None:
    made = build_suggestions(project)
    empty = create_set(project=project, plan=SetPlan("label", "Empty", Source.FILE, "m", {}), by=None)
    for terms in ({"suggestions": made.pk + 1000}, {"suggestions": empty.pk}):
        with pytest.raises(Refused) as refused:
            build_round(project, people, purpose="review and correct", terms=terms)
        assert refused.value.errors[0]["field"] == "terms.suggestions"
    with pytest.raises(Refused, match="Models cannot suggest"):
        create_set(project=project, plan=SetPlan("screen", "A", Source.FILE, "m", {}), by=None)
    with pytest.raises(Refused, match="already has suggestions named"):
        create_set(project=project, plan=SetPlan("label", "Tiny 1", Source.FILE, "m", {}), by=None)


def test_suggested_values_are_checked_by_the_rules_of_the_task(project: Project) -> None:
    build_cluster(project)
    round, unit = page_round(project, "label", {}), Unit.objects.filter(type="proposition")[0]
    assert checked_value(round, unit, SUGGESTED)["polarity"] == "positive"
    moved = SUGGESTED | {"polarity_cue": [{"start": 1, "end": 8, "quote": "Neither"}]}
    for wrong in ({}, SUGGESTED | {"polarity": "up"}, SUGGESTED | {"modality": "no evidence"}, moved):
        with pytest.raises(Refused):
            checked_value(round, unit, wrong)


def test_participants_do_not_learn_the_seed_of_the_draw(
    project: Project, people: list[Member], lead: User, client_of: Any
) -> None:
    round = open_with(project, people, build_suggestions(project))
    api: APIClient = client_of(people[0].user)
    assert api.get(f"/api/v1/rounds/{round.pk}/").json()["seed"] is None
    assert client_of(lead).get(f"/api/v1/rounds/{round.pk}/").json()["seed"] == 7


def test_suggestions_and_outcomes_cannot_be_changed(project: Project, people: list[Member]) -> None:
    round = open_with(project, people, build_suggestions(project), blind=0)
    work(round, people[0])
    for change in (
        partial(Suggestion.objects.update, attempts=2),
        partial(SuggestionOutcome.objects.update, rejected=True),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
