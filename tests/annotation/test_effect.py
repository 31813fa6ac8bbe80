"""Effects of interventions: units, cards, answers, gold, agreement and suggestions."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation.kinds.effect.current import decided_effects
from annotation.kinds.effect.kind import EffectValueSerializer
from annotation.models import Effect, EffectPair, EffectUnit, Inclusion, MachineReading, Review, Study
from api.problems import Refused
from projects.agreement.queries import report
from projects.gold.actions import finish_round
from projects.gold.queries import current_values
from projects.models import Decision, Import, Member, Project, Round, Unit
from projects.queue.actions import next_assignments
from projects.queue.queries import cards
from projects.rounds.actions import close_round
from projects.rounds.planning import RoundPlan, count_asked, matching_units
from tests.builders import answer, build_round, include

pytestmark = pytest.mark.django_db
KIND = "effect"
TEXT = "We compared nepralin with placebo. Nepralin reduced attacks. Nausea did not differ."
BOTH = {"effect_texts": "both"}


@pytest.fixture
def people(project: Project, ann1: User, ann2: User) -> list[Member]:
    return [Member.objects.get(project=project, user=user) for user in (ann1, ann2)]


def build_import(project: Project) -> Import:
    return Import.objects.create(
        project=project, format="ms2", file_name="r.jsonl", sha256="a" * 64, size=1, created_at=timezone.now()
    )


def build_review(project: Project, number: int, *outcomes: str) -> Review:
    unit = Unit.objects.create(project=project, type="review", key=str(26_000_000 + number))
    review = Review.objects.create(project=project, pmid=unit.key, unit=unit, title="Nepralin", abstract=TEXT)
    for n, outcome in enumerate(outcomes):
        EffectPair.objects.create(review=review, position=n, intervention="nepralin", outcome=outcome)
    return review


@pytest.fixture
def study(project: Project) -> Study:
    return Study.objects.create(project=project, pmid="1", abstract="Nepralin reduced attacks. Pain did not differ.")


@pytest.fixture
def review(project: Project, study: Study) -> Review:
    review = build_review(project, 0, "attacks", "nausea")
    include(review, study)
    return review


def value(direction: str, sentence: int | None, suggestion: str = "") -> dict[str, Any]:
    return {"effect_direction": direction, "effect_sentence": sentence, "suggestion": suggestion}


def work(round: Round, person: Member, *values: dict[str, Any]) -> None:
    for each in values:
        slot = next_assignments(user=person.user, round=round)[0]
        answer(person.user, slot, each, kind=KIND)


def test_a_study_of_two_reviews_is_asked_about_the_pairs_of_each(
    project: Project, review: Review, study: Study, people: list[Member]
) -> None:
    include(build_review(project, 1, "pain"), study)
    round = build_round(project, people[:1], kind=KIND, options=BOTH)
    asked = round.assignments.order_by("position").values_list("unit__key", flat=True)
    assert list(asked) == [
        "26000000 pair 1",
        "26000000 pair 2",
        "26000000 pair 1 study 1",
        "26000000 pair 2 study 1",
        "26000001 pair 1",
        "26000001 pair 1 study 1",
    ]
    again = build_round(project, people[:1], kind=KIND, name="again", options={"effect_texts": "studies"})
    assert (again.units_count, EffectUnit.objects.count()) == (3, 6), "a second round finds the units of the first"


def test_answers_become_gold_by_direction_and_by_sentence(
    project: Project, review: Review, people: list[Member], lead: User
) -> None:
    round = build_round(project, people, kind=KIND, options={"effect_texts": "reviews"}, overlap=2)
    for person, second in zip(people, (value("no difference", 3), value("not reported", None)), strict=True):
        work(round, person, value("decreased", 2), second)
    close_round(round=round, by=lead)
    assert finish_round(round=round, by=lead)["decisions"] == {"unanimous": 2, "contested": 2}
    attacks = Unit.objects.get(key="26000000 pair 1")
    gold = current_values([attacks], KIND)[attacks.pk]
    assert (gold["effect_direction"], gold["effect_sentence"]) == ("decreased", 2)
    [direction] = report(round)["measures"]
    assert direction["all_agree"] == {"count": 1, "of": 2}


def test_a_sentence_that_the_abstract_lacks_and_a_direction_without_one_are_refused(
    project: Project, review: Review, people: list[Member]
) -> None:
    round = build_round(project, people[:1], kind=KIND, options={"effect_texts": "reviews"})
    slot = next_assignments(user=people[0].user, round=round)[0]
    with pytest.raises(Refused) as refused:
        answer(people[0].user, slot, value("decreased", 4), kind=KIND)
    assert refused.value.errors[0]["field"] == "value.effect_sentence"
    for wrong in (value("decreased", None), value("not reported", 1)):
        submitted = EffectValueSerializer(data=wrong)
        assert not submitted.is_valid()
        assert set(submitted.errors) == {"effect_sentence"}


def test_suggestions_are_those_of_this_text_and_only_if_the_round_shows_them(
    project: Project, review: Review, study: Study, people: list[Member], lead: User
) -> None:
    imported = build_import(project)
    inclusion = Inclusion.objects.get(review=review, study=study)
    of_review = MachineReading.objects.create(task="effects", review=review, imported=imported)
    of_study = MachineReading.objects.create(task="effects", inclusion=inclusion, imported=imported)
    pair = EffectPair.objects.get(review=review, position=0)
    for reading, direction, start, end in ((of_review, "decreased", 35, 60), (of_study, "increased", 0, 25)):
        Effect.objects.create(
            reading=reading, position=0, pair=pair, direction=direction, decreased=0.7, no_difference=0.2,
            increased=0.1, start=start, end=end, score=0.03,
        )  # fmt: skip
    plain = build_round(project, people[:1], kind=KIND, options=BOTH)
    assert [card["suggested"] for card in cards(plain, list(plain.assignments.all()))] == [None] * 4
    assisted = build_round(project, people[:1], kind=KIND, name="assisted", options=BOTH | {"suggest_effects": True})
    slots = list(assisted.assignments.select_related("unit", "round"))
    with CaptureQueriesContext(connection) as queries:
        shown = {card["unit"]["key"]: card["suggested"] for card in cards(assisted, slots)}
    assert len(queries) < 12
    assert shown["26000000 pair 1"]["direction"] == "decreased"
    assert shown["26000000 pair 1"]["sentence"] == 2
    assert shown["26000000 pair 1 study 1"]["direction"] == "increased"
    assert shown["26000000 pair 1 study 1"]["sentence"] == 1
    assert shown["26000000 pair 2"] is None
    assert report(assisted)["suggestions_shown"]


def read_effect(reading: MachineReading, outcome: str, direction: str, text: str, sentence: str | None) -> Effect:
    start = text.index(sentence) if sentence else None
    return Effect.objects.create(
        reading=reading,
        position=reading.effects.count(),
        pair=EffectPair.objects.get(outcome=outcome),
        direction=direction,
        decreased=0.2,
        no_difference=0.2,
        increased=0.6,
        start=start,
        end=start + len(sentence) if sentence and start is not None else None,
        evidence="" if sentence else "Elsewhere.",
        score=0.01,
    )


def test_a_correction_round_starts_from_the_effects_of_a_model(
    project: Project, review: Review, study: Study, people: list[Member], lead: User
) -> None:
    imported = build_import(project)
    inclusion = Inclusion.objects.get(study=study)
    own, of_study = (
        MachineReading.objects.create(task="effects", imported=imported, **of)
        for of in ({"review": review}, {"inclusion": inclusion})
    )
    read_effect(own, "attacks", "decreased", TEXT, "Nepralin reduced attacks.")
    # Without evidence in the abstract, so people choose the sentence.
    read_effect(own, "nausea", "no difference", TEXT, None)
    read_effect(of_study, "attacks", "increased", study.abstract, "Nepralin reduced attacks.")
    plan = RoundPlan(name="x", kind=KIND, purpose="review and correct", overlap=1, people=(), options=BOTH)
    assert count_asked(project, plan, matching_units(project, plan)) == 3
    assert not Decision.objects.exists()
    round = build_round(project, people[:1], kind=KIND, purpose="review and correct", overlap=1, options=BOTH)
    asked = list(round.assignments.order_by("position").values_list("unit__key", flat=True))
    assert asked == ["26000000 pair 1", "26000000 pair 2", "26000000 pair 1 study 1"]
    assert set(Decision.objects.values_list("origin", "imported")) == {("machine", imported.pk)}
    card, without_evidence = cards(round, list(round.assignments.order_by("position")[:2]))
    assert (card["value"]["effect_direction"], card["value"]["effect_sentence"]) == ("decreased", 2)
    assert without_evidence["value"] == {"effect_direction": "no difference"}
    # Nobody has decided yet, so pages and releases have the model's values.
    assert decided_effects([review]) == {}
    for given in (value("decreased", 2), value("no difference", 3), value("decreased", 1)):
        slot, *_ = next_assignments(user=people[0].user, round=round)
        shown = tuple(Decision.objects.filter(unit=slot.unit_id).values_list("pk", flat=True))
        answer(people[0].user, slot, given, kind=KIND, references=shown)
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    fields = {one["field"]: (one["corrected"], one["reviewed"]) for one in report(round)["review"]["fields"]}
    assert fields == {"effect_direction": (1, 3), "effect_sentence": (0, 2)}, "the third sentence was not shown"
    pair, other = EffectPair.objects.order_by("position").values_list("pk", flat=True)
    assert decided_effects([review]) == {
        (pair, None): ("decreased", "Nepralin reduced attacks."),
        (other, None): ("no difference", "Nausea did not differ."),
        (pair, study.pk): ("decreased", "Nepralin reduced attacks."),
    }
    again = build_round(
        project, people[:1], kind=KIND, name="again", purpose="review and correct", overlap=1, options=BOTH
    )
    assert again.units_count == 3, "the same pairs, with their decided values"
