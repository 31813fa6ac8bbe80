"""Decisions on the classes of sentences that a model gave. They are written when a round needs them."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.kinds.machine import insert_machine_decisions
from annotation.kinds.machine import undecided as without_decision
from annotation.readings.current import current_readings
from projects.models import Unit

from ...clusters.sentences import split, unsplit
from ...models import AbstractReading, MachineReading, ReadingTask, Review, Sentence, SentenceMark

KIND, FIELD = "sentences", str(AbstractReading.Task.CLASSES)


def _readings() -> QuerySet[MachineReading]:
    return current_readings(ReadingTask.SENTENCES, "review")


def undecided(units: QuerySet[Unit]) -> QuerySet[Unit]:
    """Return the units of reviews with classes by a model but without any decision on classes."""
    usable = _readings().filter(review__unit=OuterRef("pk"), values__sentences__0__has_key="end")
    return without_decision(units, Q(Exists(usable)), KIND, [FIELD])


def decide(units: Sequence[Unit]) -> None:
    """Write the decisions on these units with classes by a model. Idempotent, with a fixed number of queries."""
    of_units = Unit.objects.filter(pk__in=[unit.pk for unit in units])
    ids = list(undecided(of_units).values_list("pk", flat=True))
    if not ids:
        return
    split(unsplit(Review.objects.filter(unit__in=ids)))
    sentences: dict[int, list[tuple[int, int]]] = {}
    rows = Sentence.objects.filter(review__unit__in=ids).order_by("review", "number")
    for review, pk, end in rows.values_list("review", "pk", "end"):
        sentences.setdefault(review or 0, []).append((pk, end))
    found = _readings().filter(review__unit__in=ids).select_related("review", "imported").defer("imported__report")
    # The sentences of an abstract may be split in another way than those that the model has classified.
    usable = [one for one in found if _ends(one) == [end for _, end in sentences.get(one.review_id or 0, ())]]
    readings = AbstractReading.objects.bulk_create(
        AbstractReading(unit_id=one.review.unit_id, imported_id=one.imported_id, task=FIELD)
        for one in usable
        if one.review
    )
    SentenceMark.objects.bulk_create(
        SentenceMark(reading=reading, sentence_id=sentence, label=value["class"])
        for reading, one in zip(readings, usable, strict=True)
        for (sentence, _), value in zip(sentences[one.review_id or 0], one.values["sentences"], strict=True)
    )
    adopted = ((reading.unit_id, one.imported) for reading, one in zip(readings, usable, strict=True))
    insert_machine_decisions(adopted, KIND, [FIELD])


def values_of_units(units: Sequence[int], imported: int) -> dict[int, dict[str, Any]]:
    """Return the classes of the current readings of an import, by unit id. The abstracts are split if necessary."""
    split(unsplit(Review.objects.filter(unit__in=units)))
    found = _readings().filter(review__unit__in=units, imported=imported).select_related("review")
    sentences: dict[int, list[tuple[int, int]]] = {}
    rows = Sentence.objects.filter(review__unit__in=units).order_by("review", "number")
    for review, number, end in rows.values_list("review", "number", "end"):
        sentences.setdefault(review or 0, []).append((number, end))
    return {
        one.review.unit_id: {
            FIELD: [
                {"number": number, "said": value["class"]}
                for (number, _), value in zip(sentences[one.review.pk], one.values["sentences"], strict=True)
            ]
        }
        for one in found
        if one.review and _ends(one) == [end for _, end in sentences.get(one.review.pk, ())]
    }


def _ends(reading: MachineReading) -> list[int | None]:
    return [sentence.get("end") for sentence in reading.values["sentences"]]
