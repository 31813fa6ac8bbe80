"""Labels of people as training data: sentence classes, spans, directions of effects, and fitness of abstracts.

Labels are the current values that people decided, in the reviews of a part. Values of a model are never trained on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from annotation.kinds.effect.values import DIRECTION
from annotation.kinds.effect.values import SENTENCE as EFFECT_SENTENCE
from annotation.kinds.entity.values import FIELDS as SPAN_FIELDS
from annotation.kinds.screen.kind import FIELD as SCREENING
from annotation.models import (
    NOT_REPORTED,
    SENTENCE_CLASSES,
    AbstractUnit,
    Direction,
    EffectUnit,
    Inclusion,
    ReadingTask,
    Review,
    Screened,
    Sentence,
    Study,
)
from annotation.reading_scores.queries import CLASSES, SUITABLE, UNSUITABLE, decided_values
from projects.jobs.batches import silent
from projects.models import Project, Unit

from ..exposure import key_of
from .protocol import Example, LeftOut

Values = Mapping[int, Any]
#: MS^2's tags of words, with the beginning of each span.
TAGS = ("O", "B-P", "I-P", "B-I", "I-I", "B-O", "I-O")
LABELS: Mapping[str, Sequence[str]] = {
    ReadingTask.SENTENCES: SENTENCE_CLASSES,
    ReadingTask.PIO: TAGS,
    ReadingTask.EFFECTS: tuple(Direction.values),
    ReadingTask.SUITABILITY: (UNSUITABLE, SUITABLE),
}


def examples(project: Project, task: str, part: Mapping[int, str]) -> Iterator[Example | LeftOut]:
    """Yield the labelled texts of the reviews of a part. ``part``: the units of reviews and their keys."""
    reviews = dict(Review.objects.filter(unit__in=part).values_list("pk", "pmid"))
    kind, fields, read = _TASKS[ReadingTask(task)]
    for units, values, _ in decided_values(project, kind, fields, silent):
        yield from read(units, values, reviews)


def _key(article: Review | Study) -> str:
    return key_of(article.pmid, article.abstract)


def _of_sentences(units: Sequence[Unit], values: Values, reviews: Mapping[int, str]) -> Iterator[Example | LeftOut]:
    labels = {
        (unit, one["number"]): one["said"] for unit, value in values.items() for one in value.get(CLASSES, ()) if one
    }
    rows = Sentence.objects.filter(review__in=reviews, review__unit__in=units).select_related("review")
    for sentence in rows.order_by("review", "number"):
        assert sentence.review
        if label := labels.get((sentence.review.unit_id, sentence.number)):
            pmid = reviews[sentence.review.pk]
            yield Example(
                f"{pmid}/{sentence.number}", {"text": sentence.text, "label": label}, (_key(sentence.review),)
            )


def _of_abstracts(units: Sequence[Unit], values: Values, reviews: Mapping[int, str]) -> Iterator[Example | LeftOut]:
    rows = AbstractUnit.objects.filter(unit__in=units).select_related("review", "study").order_by("unit")
    included = set(Inclusion.objects.filter(review__in=reviews).values_list("study", flat=True))
    for row in rows:
        if row.review_id not in reviews and row.study_id not in included:
            continue
        spans = [
            {"element": element.value, "start": span["start"], "end": span["end"]}
            for element, field in SPAN_FIELDS.items()
            for span in values[row.unit_id].get(field, ())
        ]
        content = {"text": row.article.abstract, "spans": spans}
        yield Example(row.article.pmid, content, (_key(row.article),))


def _of_effects(units: Sequence[Unit], values: Values, reviews: Mapping[int, str]) -> Iterator[Example | LeftOut]:
    rows = EffectUnit.objects.filter(unit__in=units, pair__review__in=reviews)
    for row in rows.select_related("pair__review", "study").order_by("unit"):
        value, article = values[row.unit_id], row.study or row.pair.review
        key = f"{reviews[row.pair.review_id]}/{row.pair.position}/{article.pmid}"
        label, number = value.get(DIRECTION), value.get(EFFECT_SENTENCE)
        if not label or label == NOT_REPORTED:
            yield LeftOut(key, "The effect is not reported.")
            continue
        owner = {"study": row.study} if row.study else {"review": row.pair.review}
        sentence = Sentence.objects.filter(number=number, **owner).first() if number is not None else None
        if sentence is None:
            yield LeftOut(key, "No sentence shows the effect.")
            continue
        query = [row.pair.intervention, row.pair.outcome]
        yield Example(
            key, {"query": query, "text": sentence.text, "label": label}, (_key(article), _key(row.pair.review))
        )


def _of_screening(units: Sequence[Unit], values: Values, reviews: Mapping[int, str]) -> Iterator[Example | LeftOut]:
    rows = {review.unit_id: review for review in Review.objects.filter(pk__in=reviews, unit__in=units)}
    for unit in sorted(rows):
        review = rows[unit]
        if review.abstract and (decision := values[unit].get(SCREENING)):
            label = SUITABLE if decision == Screened.INCLUDE else UNSUITABLE
            yield Example(review.pmid, {"text": review.abstract, "label": label}, (_key(review),))


Read = Callable[[Sequence[Unit], Values, Mapping[int, str]], Iterator[Example | LeftOut]]
_TASKS: Mapping[ReadingTask, tuple[str, Sequence[str], Read]] = {
    ReadingTask.SENTENCES: ("sentences", (CLASSES,), _of_sentences),
    ReadingTask.PIO: ("entity", tuple(SPAN_FIELDS.values()), _of_abstracts),
    ReadingTask.EFFECTS: ("effect", (DIRECTION, EFFECT_SENTENCE), _of_effects),
    ReadingTask.SUITABILITY: ("screen", (SCREENING,), _of_screening),
}
