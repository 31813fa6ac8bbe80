"""Spans that models found in abstracts (`annotation.models.reading`)."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.models import Element, MachineReading, ReadingTask, Review, Study
from measures.pio import PioKind
from measures.pio import spans_of as pio_spans

#: Elements by the kinds of MS^2's tags.
ELEMENTS: Mapping[PioKind, Element] = {"pop": Element.P, "int": Element.I, "out": Element.O}


def spans_of(articles: Iterable[Review | Study]) -> dict[Review | Study, list[dict[str, Any]]]:
    """Return the spans of the newest reading of each article, by article. Two queries."""
    found = {}
    for name, model in (("review", Review), ("study", Study)):
        rows = {article.pk: article for article in articles if isinstance(article, model)}
        readings = MachineReading.objects.filter(task=ReadingTask.PIO, **{f"{name}__in": list(rows)})
        for reading in readings.order_by("pk") if rows else ():
            article = rows[getattr(reading, f"{name}_id")]
            found[article] = [
                {"element": ELEMENTS[span.kind], "start": span.range[0], "end": span.range[1]}
                for span in pio_spans(article.abstract, reading.values["tags"])[0]
            ]
    return found
