"""Machine readings compared with what people decided, counted by hand."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from annotation.models import Effect, EffectPair, Inclusion, MachineReading, Review, Study
from annotation.reading_scores.tables import NEITHER, NONE_DECIDED, NONE_GIVEN, ReadingScoreTable, ScoreData
from projects.gold.actions import finish_round
from projects.models import Decision, Import, Member, Project, Unit
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from projects.stored_figures.actions import compute_and_store
from tests.builders import answer, build_round, include

pytestmark = pytest.mark.django_db
TEXT = "Nepralin is new . We gave nepralin to adults . Pain fell ."
ENDS = (17, 46, 58)


@pytest.fixture
def review(project: Project) -> Review:
    unit = Unit.objects.create(project=project, type="review", key="26000000")
    return Review.objects.create(project=project, pmid=unit.key, unit=unit, title="Nepralin", abstract=TEXT)


@pytest.fixture
def person(project: Project, ann1: User) -> Member:
    return Member.objects.get(project=project, user=ann1)


def read(project: Project, task: str, values: dict[str, Any], model: str = "", **of: Any) -> MachineReading:
    imported, _ = Import.objects.get_or_create(
        project=project, format="x", sha256=model, defaults={"file_name": "x", "size": 1, "created_at": timezone.now()}
    )
    fields = {"model": model, "weights": model and model * 8}
    return MachineReading.objects.create(task=task, values=values, imported=imported, **fields, **of)


def classes(*names: str) -> dict[str, Any]:
    return {"sentences": [{"end": end, "class": name} for end, name in zip(ENDS, names, strict=True)]}


def decide(
    person: Member, lead: User, kind: str, values: list[dict[str, Any]], purpose: str = "gold", **plan: Any
) -> None:
    round = build_round(person.project, [person], kind=kind, overlap=1, name=kind + purpose, purpose=purpose, **plan)
    for value in values:
        slot, *_ = next_assignments(user=person.user, round=round)
        shown = Decision.objects.filter(unit=slot.unit_id, kind=kind) if purpose != "gold" else Decision.objects.none()
        answer(person.user, slot, value, kind=kind, references=tuple(shown.values_list("pk", flat=True)))
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)


def table(project: Project) -> tuple[dict[tuple[str, str, str], list[Any]], list[str]]:
    compute_and_store(project=project)
    built = ReadingScoreTable().build(ScoreData(project))
    rows = {}
    for task, model, name, *figures in built.rows:
        rows[str(task.value), str(model.value), str(name.value)] = [
            cell.undefined or (round(cell.value, 1) if isinstance(cell.value, float) else cell.value)
            for cell in figures
        ]
    return rows, list(built.notes)


def sentence_value(*names: str) -> dict[str, Any]:
    return {"sentence_classes": [{"number": n, "said": name} for n, name in enumerate(names, start=1)]}


OF_CLASSES: dict[str, Any] = {"options": {"sentence_task": "sentence_classes"}}


def test_classes_of_sentences_by_model(project: Project, review: Review, person: Member, lead: User) -> None:
    read(project, "sentences", classes("BACKGROUND", "BACKGROUND", "EFFECT"), review=review)
    read(project, "sentences", classes("GOAL", "METHODS", "EFFECT"), "m", review=review)
    decide(person, lead, "sentences", [sentence_value("BACKGROUND", "METHODS", "EFFECT")], **OF_CLASSES)
    rows, notes = table(project)
    imported, model = "imported", "m (mmmmmmmm)"
    assert rows["Sentences", imported, "BACKGROUND"] == [1, 2, 50.0, 100.0, 66.7]
    assert rows["Sentences", imported, "METHODS"] == [1, 0, NONE_GIVEN, 0.0, 0.0]
    assert rows["Sentences", imported, "EFFECT"] == [1, 1, 100.0, 100.0, 100.0]
    assert rows["Sentences", model, "GOAL"] == [0, 1, 0.0, NONE_DECIDED, 0.0]
    assert rows["Sentences", model, "ETC"] == [0, 0, NONE_GIVEN, NONE_DECIDED, NEITHER]
    assert len(rows) == 18
    assert not any("people saw" in note for note in notes)


def test_a_confirmed_value_of_a_model_is_a_persons_and_an_unseen_one_is_not(
    project: Project, review: Review, person: Member, lead: User
) -> None:
    other = Review.objects.create(
        project=project, pmid="8", abstract=TEXT, unit=Unit.objects.create(project=project, type="review", key="8")
    )
    names = ("BACKGROUND", "METHODS", "EFFECT")
    for each in (review, other):
        read(project, "sentences", classes(*names), review=each)
    plan = OF_CLASSES | {"filters": {"review": review.pmid}}
    decide(person, lead, "sentences", [sentence_value(*names)], "review and correct", **plan)
    assert set(Decision.objects.values_list("origin", flat=True)) == {"machine"}
    rows, notes = table(project)
    assert rows["Sentences", "imported", "EFFECT"] == [1, 1, 100.0, 100.0, 100.0]
    assert any("people saw a model's value in 1 of 1 units" in note for note in notes)


def test_spans_and_words_by_element(project: Project, review: Review, person: Member, lead: User) -> None:
    # "nepralin to" instead of "nepralin": no equal span, and one of two words.
    at = TEXT.index("nepralin to")
    tags = [[at, "<int> "], [at + 11, " </int>"], [TEXT.index("Pain"), "<out> "], [TEXT.index("Pain") + 4, " </out>"]]
    read(project, "pio", {"tags": tags}, review=review)

    def span(quote: str) -> dict[str, Any]:
        return {"start": TEXT.index(quote), "end": TEXT.index(quote) + len(quote), "quote": quote}

    marked = {"population_spans": [span("adults")], "intervention_spans": [span("nepralin")]}
    value = marked | {"outcome_spans": [span("Pain")], "rejected_spans": []}
    decide(person, lead, "entity", [value], options={"abstracts": "reviews"})
    rows, _ = table(project)
    assert rows["Spans", "imported", "intervention, spans"] == [1, 1, 0.0, 0.0, 0.0]
    assert rows["Spans", "imported", "intervention, words"] == [1, 2, 50.0, 100.0, 66.7]
    assert rows["Spans", "imported", "population, spans"] == [1, 0, NONE_GIVEN, 0.0, 0.0]
    assert rows["Spans", "imported", "outcome, spans"] == [1, 1, 100.0, 100.0, 100.0]


def test_effects_of_a_review_and_its_study_and_fitness(
    project: Project, review: Review, person: Member, lead: User
) -> None:
    study = Study.objects.create(project=project, pmid="1", abstract="Pain fell. Sleep did not.")
    include(review, study)
    pairs = [
        EffectPair.objects.create(review=review, position=n, intervention="nepralin", outcome=outcome)
        for n, outcome in enumerate(("pain", "sleep"))
    ]
    said: list[dict[str, Any]] = [
        {"effect_direction": "decreased", "effect_sentence": 3},
        {"effect_direction": "not reported", "effect_sentence": None},
        {"effect_direction": "decreased", "effect_sentence": 1},
        {"effect_direction": "no difference", "effect_sentence": 2},
    ]
    decide(person, lead, "effect", said, options={"effect_texts": "both"})
    of_texts: list[dict[str, Any]] = [{"review": review}, {"inclusion": Inclusion.objects.get()}]
    for of in of_texts:
        reading = read(project, "effects", {}, "m", **of)
        for position, pair in enumerate(pairs):
            shares = {"decreased": 0.8, "no_difference": 0.1, "increased": 0.1}
            Effect.objects.create(
                reading=reading, position=position, pair=pair, direction="decreased", score=0.1, **shares
            )
    read(project, "suitability", {"probability": 0.4}, "m", review=review)
    decide(person, lead, "screen", [{"screening": "include"}])
    rows, notes = table(project)
    assert rows["Effects", "m (mmmmmmmm)", "decreased"] == [2, 3, 66.7, 100.0, 80.0]
    assert rows["Effects", "m (mmmmmmmm)", "no difference"] == [1, 0, NONE_GIVEN, 0.0, 0.0]
    assert any("left out are 1 that people found not reported" in note for note in notes)
    assert rows["Fitness", "m (mmmmmmmm)", "suitable"] == [1, 0, NONE_GIVEN, 0.0, 0.0]


def test_readings_without_labels_have_no_table(project: Project, review: Review) -> None:
    read(project, "sentences", classes("GOAL", "METHODS", "EFFECT"), review=review)
    compute_and_store(project=project)
    assert not ReadingScoreTable().is_of(ScoreData(project))
