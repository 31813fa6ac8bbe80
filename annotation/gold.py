"""The values the project stands behind, read for many units in a fixed number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from projects.models import Decision, Origin, Unit

from .models import Cue, DiscourseLabel, Label

#: The fields of a proposition's label and of a cluster's relation that can be gold.
LABEL_FIELDS = ("polarity", "polarity_cue", "modality", "modality_cue")
Units = QuerySet[Unit] | Iterable[int]


@dataclass(frozen=True)
class Fragment:
    """A half-open range of code points, with what stands there."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class CueValue:
    """A cue in force: its text as published or marked, how it was found, how often it occurs, and where it lies."""

    text: str
    found: str
    occurrences: int
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True)
class Gold:
    """One field of one unit. ``value`` is a string, for a cue a `CueValue` or None (no cue, which is a value too)."""

    value: str | CueValue | None
    origin: str
    decision: int


def in_force(units: Units) -> QuerySet[Decision]:
    """The newest decision of each unit, kind and field, contests left out (what was in force before stays so)."""
    decisions = Decision.objects.filter(unit__in=units).exclude(origin=Origin.CONTESTED)
    newest = decisions.order_by().values("unit", "kind", "field").annotate(newest=Max("id")).values("newest")
    return Decision.objects.filter(id__in=newest).order_by("id")


def gold_labels(units: Units) -> dict[int, dict[str, Gold]]:
    """Gold of propositions by unit id and field (`LABEL_FIELDS`); 4 queries. Units without gold are left out."""
    labels = _adopted(Label.objects.all(), units).prefetch_related("cues__fragments")
    by_source = {_source(label): label for label in labels}
    return _collect(in_force(units).filter(kind="label"), by_source, _label_value)


def gold_relations(units: Units) -> dict[int, Gold]:
    """Gold relations by the unit id of the cluster; 2 queries."""
    labels = _adopted(DiscourseLabel.objects.all(), units)
    by_source = {_source(label): label for label in labels}
    found = _collect(in_force(units).filter(kind="discourse"), by_source, lambda label, _: label.relation)
    return {unit: fields["relation"] for unit, fields in found.items()}


def _adopted(labels: QuerySet[Any], units: Units) -> QuerySet[Any]:
    """The labels among which decisions choose: imported ones, and those of answers that a decision points at."""
    decided = Exists(Decision.objects.filter(answer=OuterRef("answer")))
    return labels.filter(Q(unit__in=units) & (Q(imported__isnull=False) | Q(decided)))


def _source(row: Any) -> tuple[int, Any]:
    return row.unit_id, row.answer_id or row.imported_id


def _collect(
    decisions: QuerySet[Decision], by_source: dict[tuple[int, Any], Any], value: Any
) -> dict[int, dict[str, Gold]]:
    found: dict[int, dict[str, Gold]] = {}
    for pk, unit, field, origin, answer, imported in decisions.values_list(
        "pk", "unit_id", "field", "origin", "answer_id", "imported_id"
    ):
        label = by_source[unit, answer or imported]
        found.setdefault(unit, {})[field] = Gold(value(label, field), origin, pk)
    return found


def _label_value(label: Label, field: str) -> str | CueValue | None:
    aspect, _, is_cue = field.partition("_")
    if not is_cue:
        return str(getattr(label, aspect))
    return next((cue_value(cue) for cue in label.cues.all() if cue.aspect == aspect), None)


def cue_value(cue: Cue) -> CueValue:
    fragments = tuple(Fragment(f.start, f.end, f.quote) for f in cue.fragments.all())
    return CueValue(cue.text, cue.found, cue.occurrences, fragments)


def labels_in_force(field: str) -> QuerySet[Label]:
    """The labels whose value of ``field`` is in force: at most one a proposition."""
    return _chosen(Label.objects.all(), "label", field)


def relations_in_force() -> QuerySet[DiscourseLabel]:
    """The relations in force: at most one a cluster."""
    return _chosen(DiscourseLabel.objects.all(), "discourse", "relation")


def _chosen(rows: QuerySet[Any], kind: str, field: str) -> QuerySet[Any]:
    newest = (
        Decision.objects.filter(unit=OuterRef("unit"), kind=kind, field=field)
        .exclude(origin=Origin.CONTESTED)
        .order_by("-id")
    )
    rows = rows.annotate(
        newest_answer=Subquery(newest.values("answer")[:1]), newest_import=Subquery(newest.values("imported")[:1])
    )
    return rows.filter(Q(answer=F("newest_answer")) | Q(imported=F("newest_import")))
