"""Count how often each model's readings equal what people decided.

A person has decided if an answer was adopted, or if an answer confirmed the model's value. Memory holds a few numbers
per model and class, and the values of some units at a time.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from measures.pio import spans_of
from measures.span_agreement import tokens_touched
from measures.spans import Range, blank_separated
from projects.gold.queries import values_of
from projects.jobs.batches import Progress
from projects.models import Decision, Project, Reference, Unit
from projects.purposes import which

from ..kinds.effect.values import DIRECTION
from ..kinds.entity.machine import ELEMENTS
from ..kinds.entity.values import FIELDS as SPAN_FIELDS
from ..kinds.screen.kind import FIELD as SCREENING
from ..models import (
    NOT_REPORTED,
    SENTENCE_CLASSES,
    AbstractReading,
    AbstractUnit,
    Direction,
    Effect,
    EffectUnit,
    Element,
    MachineReading,
    ReadingTask,
    Screened,
    Sentence,
)

Json = dict[str, Any]
BATCH = 200
CLASSES = str(AbstractReading.Task.CLASSES)
#: A probability of at least this counts as suitable.
SUITABLE_FROM = 0.5
SUITABLE, UNSUITABLE = "suitable", "unsuitable"
SPANS, WORDS = "spans", "words"
#: Ranges of an abstract by element.
Marked = Mapping[Element, Collection[Range]]


class Model(NamedTuple):
    """A model that ran here, or the readings of imported files, which have neither name nor weights."""

    name: str
    weights: str


class Tally:
    """Counts of one task by model and class: equal values, people's values, and the model's."""

    def __init__(self) -> None:
        self.counts: dict[Model, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.skipped: Counter[str] = Counter()

    def add(self, model: Model, name: str, equal: int, people: int, given: int) -> None:
        self.counts[model][name].update({"equal": equal, "people": people, "given": given})

    def add_pair(self, model: Model, people: str, given: str) -> None:
        self.add(model, people, int(people == given), 1, 0)
        self.add(model, given, 0, 0, 1)


def scores(project: Project, progress: Progress) -> list[Json]:
    """Return the counts of each task for which people have decided values that a model read."""
    rows = []
    for task, title, kind, fields, classes, compare in TASKS:
        tally, shown, decided = Tally(), 0, 0
        for units, values, shown_units in decided_values(project, kind, fields, progress):
            compare(units, values, tally)
            shown, decided = shown + len(shown_units), decided + len(values)
        for model, counts in sorted(tally.counts.items()):
            rows.append(
                {
                    "task": task,
                    "title": title,
                    "model": model.name,
                    "weights": model.weights,
                    "units": decided,
                    "shown": shown,
                    "classes": [{"name": name, **{each: counts[name][each] for each in COUNTS}} for name in classes],
                    "skipped": tally.skipped[NOT_REPORTED],
                }
            )
    return rows


COUNTS = ("equal", "people", "given")


def decided_values(
    project: Project, kind: str, fields: Sequence[str], progress: Progress
) -> Iterator[tuple[list[Unit], dict[int, Any], set[int]]]:
    """Yield units, what people decided on them by unit, and the units where a model's value was shown."""
    confirmed = Exists(Reference.objects.filter(decision=OuterRef("pk"), same=True))
    decisions = Decision.objects.of_project(project).filter(kind=kind, field__in=fields).current()
    mine = decisions.filter(Q(answer__isnull=False) | Q(confirmed)).order_by("unit_id", "pk")
    ids = iter(dict.fromkeys(mine.values_list("unit", flat=True)))
    done = 0
    while batch := list(islice(ids, BATCH)):
        progress(done, None, "comparing readings with labels")
        done += len(batch)
        rows = list(mine.filter(unit__in=batch).select_related("round"))
        units = list(Unit.objects.filter(pk__in=batch))
        shows = which("shows_value")
        shown = {row.unit_id for row in rows if row.answer_id is None or (row.round and row.round.purpose in shows)}
        yield units, values_of(units, kind, rows), shown


def _model(name: str, weights: str) -> Model:
    return Model(name if weights else "", weights)


def _readings(task: ReadingTask, **of: Any) -> QuerySet[MachineReading]:
    return MachineReading.objects.filter(task=task, **of).order_by("pk")


def _compare_sentences(units: Sequence[Unit], values: Mapping[int, Any], tally: Tally) -> None:
    rows = Sentence.objects.filter(review__unit__in=units).values_list("review__unit", "number", "end")
    ends = {(unit, number): end for unit, number, end in rows}
    for reading in _readings(ReadingTask.SENTENCES, review__unit__in=units).select_related("review"):
        assert reading.review
        unit = reading.review.unit_id
        read = {sentence.get("end"): sentence["class"] for sentence in reading.values["sentences"]}
        for sentence in values[unit].get(CLASSES, ()):
            # A sentence of another splitting is none that the model read.
            if (given := read.get(ends[unit, sentence["number"]])) is not None:
                tally.add_pair(_model(reading.model, reading.weights), sentence["said"], given)


def _compare_spans(units: Sequence[Unit], values: Mapping[int, Any], tally: Tally) -> None:
    asked = AbstractUnit.objects.filter(unit__in=units).select_related("review", "study")
    for owner in ("review", "study"):
        article_of = {getattr(row, f"{owner}_id"): (row.article, row.unit_id) for row in asked}
        article_of.pop(None, None)
        for reading in _readings(ReadingTask.PIO, **{f"{owner}__in": list(article_of)}):
            article, unit = article_of[getattr(reading, f"{owner}_id")]
            found: dict[Element, set[Range]] = defaultdict(set)
            for span in spans_of(article.abstract, reading.values["tags"])[0]:
                found[ELEMENTS[span.kind]].add(span.range)
            people = {
                element: {(span["start"], span["end"]) for span in values[unit][field]}
                for element, field in SPAN_FIELDS.items()
                if field in values[unit]
            }
            _add_spans(article.abstract, people, found, _model(reading.model, reading.weights), tally)


def _add_spans(text: str, people: Marked, found: Marked, model: Model, tally: Tally) -> None:
    words = blank_separated(text)
    for element, ranges in people.items():
        given = found.get(element, ())
        tally.add(model, named(element, SPANS), len(set(ranges) & set(given)), len(ranges), len(given))
        theirs, mine = (tokens_touched(words, sorted(each)) for each in (ranges, given))
        tally.add(model, named(element, WORDS), len(theirs & mine), len(theirs), len(mine))


def named(element: Element, what: str) -> str:
    return f"{element.label.lower()}, {what}"


def _compare_effects(units: Sequence[Unit], values: Mapping[int, Any], tally: Tally) -> None:
    asked = {(row.pair_id, row.study_id): row.unit_id for row in EffectUnit.objects.filter(unit__in=units)}
    for direction in (values[unit].get(DIRECTION) for unit in asked.values()):
        tally.skipped[NOT_REPORTED] += direction == NOT_REPORTED
    effects = Effect.objects.filter(pair__in={pair for pair, _ in asked}).order_by("pk")
    columns = ("pair", "reading__inclusion__study", "direction", "reading__model", "reading__weights")
    for pair, study, given, name, weights in effects.values_list(*columns):
        direction = values[asked[pair, study]].get(DIRECTION) if (pair, study) in asked else None
        if direction and direction != NOT_REPORTED:
            tally.add_pair(_model(name, weights), direction, given)


def _compare_fitness(units: Sequence[Unit], values: Mapping[int, Any], tally: Tally) -> None:
    for reading in _readings(ReadingTask.SUITABILITY, review__unit__in=units).select_related("review"):
        assert reading.review
        people = SUITABLE if values[reading.review.unit_id][SCREENING] == Screened.INCLUDE else UNSUITABLE
        given = SUITABLE if reading.values["probability"] >= SUITABLE_FROM else UNSUITABLE
        tally.add_pair(_model(reading.model, reading.weights), people, given)


Compare = Callable[[Sequence[Unit], Mapping[int, Any], Tally], None]
_ELEMENT_CLASSES: Iterable[str] = [named(element, what) for element in SPAN_FIELDS for what in (SPANS, WORDS)]
#: Task, its name in the table, kind and fields of people's decisions, classes, and the comparison of some units.
TASKS: Sequence[tuple[str, str, str, Sequence[str], Sequence[str], Compare]] = (
    (ReadingTask.SENTENCES, "Sentences", "sentences", (CLASSES,), SENTENCE_CLASSES, _compare_sentences),
    (ReadingTask.PIO, "Spans", "entity", tuple(SPAN_FIELDS.values()), tuple(_ELEMENT_CLASSES), _compare_spans),
    (ReadingTask.EFFECTS, "Effects", "effect", (DIRECTION,), tuple(Direction.values), _compare_effects),
    (ReadingTask.SUITABILITY, "Fitness", "screen", (SCREENING,), (SUITABLE, UNSUITABLE), _compare_fitness),
)
