"""Values of the entity kind, and their rows."""

from collections.abc import Mapping, Sequence

from annotation.models import SPAN_ELEMENTS, Element, EntityReading, EntitySpan
from projects.kinds import Value

KIND = "entity"
REJECTED = EntitySpan.Suggestion.REJECTED
FIELDS: Mapping[Element, str] = {element: f"{element.label.lower()}_spans" for element in SPAN_ELEMENTS}


def store_spans(readings: Sequence[tuple[EntityReading, Value]]) -> None:
    """Insert the spans of readings that were just inserted."""
    EntitySpan.objects.bulk_create(
        EntitySpan(
            reading=reading,
            element=element,
            start=span["start"],
            end=span["end"],
            quote=span["quote"],
            suggestion=suggestion,
        )
        for reading, value in readings
        for element, span, suggestion in (
            *((e, span, span.get("suggestion", "")) for e, field in FIELDS.items() for span in value[field]),
            *((span["element"], span, REJECTED) for span in value.get("rejected_spans", ())),
        )
    )


def value_of(reading: EntityReading) -> Value:
    value: Value = {field: [] for field in FIELDS.values()}
    rejected = []
    for row in reading.spans.all():
        span = {"start": row.start, "end": row.end, "quote": row.quote}
        if row.suggestion == REJECTED:
            rejected.append(span | {"element": row.element})
        else:
            value[FIELDS[Element(row.element)]].append(span | {"suggestion": row.suggestion})
    return value | {"rejected_spans": rejected}
