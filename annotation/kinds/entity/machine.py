"""Spans that models found in abstracts (`annotation.models.reading`), and decisions on them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.kinds.entity.values import FIELDS, KIND, store_spans
from annotation.kinds.machine import insert_machine_decisions
from annotation.kinds.machine import undecided as without_decision
from annotation.models import AbstractUnit, Element, EntityReading, MachineReading, ReadingTask, Review, Role, Study
from annotation.readings.current import current_readings
from measures.pio import PioKind
from measures.pio import spans_of as pio_spans
from projects.models import Import, Unit

#: Elements by the kinds of MS^2's tags.
ELEMENTS: Mapping[PioKind, Element] = {"pop": Element.P, "int": Element.I, "out": Element.O}
Article = Review | Study


def spans_of(articles: Iterable[Article]) -> dict[Article, list[dict[str, Any]]]:
    """Return the spans of the current reading of each article, by article. Two queries."""
    return {article: spans for article, spans, _ in _current_spans(articles)}


def _current_spans(articles: Iterable[Article]) -> Iterator[tuple[Article, list[dict[str, Any]], Import]]:
    rows = {(_owner(article), article.pk): article for article in articles}
    for owner in ("review", "study"):
        ids = [pk for name, pk in rows if name == owner]
        readings = current_readings(ReadingTask.PIO, owner).filter(**{f"{owner}__in": ids})
        for reading in readings.select_related("imported").defer("imported__report") if ids else ():
            article = rows[owner, getattr(reading, f"{owner}_id")]
            spans = [
                {"element": ELEMENTS[span.kind], "start": span.range[0], "end": span.range[1]}
                for span in pio_spans(article.abstract, reading.values["tags"])[0]
            ]
            yield article, spans, reading.imported


def _owner(article: Article) -> str:
    return "review" if isinstance(article, Review) else "study"


def undecided(units: QuerySet[Unit]) -> QuerySet[Unit]:
    """Return the abstracts with spans of a model but without any decision on spans, and reviews of `has_unasked`."""
    readings = MachineReading.objects.filter(task=ReadingTask.PIO)
    has_reading = has_unasked()
    for owner in ("review", "study"):
        has_reading |= Q(Exists(readings.filter(**{f"{owner}__abstract_unit__unit": OuterRef("pk")})))
    return without_decision(units, has_reading, KIND, list(FIELDS.values()))


def has_unasked() -> Q:
    """Condition on the unit of a review: a model found spans in its abstract or in that of an included study, which is
    no unit yet.
    """
    readings = MachineReading.objects.filter(task=ReadingTask.PIO)
    own = readings.filter(review__unit=OuterRef("pk"), review__abstract_unit=None)
    of_study = {"study__inclusions__review__unit": OuterRef("pk"), "study__inclusions__role": Role.INCLUDED}
    return Q(Exists(own)) | Q(Exists(readings.filter(**of_study, study__abstract_unit=None)))


def decide(units: Sequence[Unit]) -> None:
    """Write the decisions on these abstracts with spans of a model. Idempotent, with a fixed number of queries."""
    among = undecided(Unit.objects.filter(pk__in=[unit.pk for unit in units]))
    rows = AbstractUnit.objects.filter(unit__in=among.order_by().values("pk")).select_related("review", "study")
    unit_of = {row.article: row.unit_id for row in rows.order_by("pk")}
    if not unit_of:
        return
    found = list(_current_spans(unit_of))
    readings = EntityReading.objects.bulk_create(
        EntityReading(unit_id=unit_of[article], imported=imported) for article, _, imported in found
    )
    values = [_as_value(article.abstract, spans) for article, spans, _ in found]
    store_spans(list(zip(readings, values, strict=True)))
    adopted = ((unit_of[article], imported) for article, _, imported in found)
    insert_machine_decisions(adopted, KIND, list(FIELDS.values()))


def values_of_units(articles: Mapping[int, Article], imported: int) -> dict[int, dict[str, Any]]:
    """Return the spans of the current readings of an import, by unit id. ``articles`` are by unit id."""
    unit_of = {article: unit for unit, article in articles.items()}
    return {
        unit_of[article]: _as_value(article.abstract, spans)
        for article, spans, of in _current_spans(unit_of)
        if of.pk == imported
    }


def _as_value(text: str, spans: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {field: [] for field in FIELDS.values()}
    for span in spans:
        start, end = span["start"], span["end"]
        value[FIELDS[span["element"]]].append({"start": start, "end": end, "quote": text[start:end]})
    return value
