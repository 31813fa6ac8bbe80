"""Decisions on the classes of sentences that a file gives as a model's. They are written when a round needs them."""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet

from projects.gold.actions import insert_decisions
from projects.models import Decision, Origin, Unit

from ...clusters.sentences import IMPORTED, split, unsplit
from ...models import AbstractReading, MachineReading, ReadingTask, Review, Sentence, SentenceMark

KIND, FIELD = "sentences", str(AbstractReading.Task.CLASSES)


def _readings() -> QuerySet[MachineReading]:
    return MachineReading.objects.filter(task=ReadingTask.SENTENCES, weights="", review__isnull=False)


def undecided(units: QuerySet[Unit]) -> QuerySet[Unit]:
    """Return the units of reviews with imported classes but without any decision on classes."""
    decided = Decision.objects.filter(unit=OuterRef("pk"), kind=KIND, field=FIELD)
    has_reading = Exists(_readings().filter(review__unit=OuterRef("pk"), values__sentences__0__has_key="end"))
    return units.filter(has_reading).exclude(Exists(decided))


def decide(units: Sequence[Unit]) -> None:
    """Write the decisions on these units with imported classes. Idempotent, with a fixed number of queries."""
    ids = list(undecided(Unit.objects.filter(pk__in=[unit.pk for unit in units])).values_list("pk", flat=True))
    if not ids:
        return
    split(unsplit(Review.objects.filter(unit__in=ids)))
    sentences: dict[int, list[int]] = {}
    rows = Sentence.objects.filter(review__unit__in=ids, splitter=IMPORTED).order_by("review", "number")
    for review, pk in rows.values_list("review", "pk"):
        sentences.setdefault(review or 0, []).append(pk)
    found = _readings().filter(review__unit__in=ids).select_related("review", "imported").defer("imported__report")
    # An abstract that was split in another way has other sentences than its classes.
    usable = [one for one in found if len(sentences.get(one.review_id or 0, ())) == len(one.values["sentences"])]
    readings = AbstractReading.objects.bulk_create(
        AbstractReading(unit_id=one.review.unit_id, imported_id=one.imported_id, task=FIELD)
        for one in usable
        if one.review
    )
    SentenceMark.objects.bulk_create(
        SentenceMark(reading=reading, sentence_id=sentence, label=value["class"])
        for reading, one in zip(readings, usable, strict=True)
        for sentence, value in zip(sentences[one.review_id or 0], one.values["sentences"], strict=True)
    )
    insert_decisions(
        Decision(
            unit_id=reading.unit_id,
            kind=KIND,
            field=FIELD,
            origin=Origin.MACHINE,
            imported_id=one.imported_id,
            decided_at=one.imported.created_at,
        )
        for reading, one in zip(readings, usable, strict=True)
        if one.imported
    )
