"""The labels and relations in force: the typed rows behind what is decided, read for many units in a few queries."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from projects.models import Decision
from projects.values.in_force import decisions_in_force

from ..models import AbstractReading, Cue, DiscourseLabel, Label, Screening, StudyList

#: The fields of a proposition's label and of a cluster's relation that can be gold.
LABEL_FIELDS = ("polarity", "polarity_cue", "modality", "modality_cue")


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


#: Decisions in force by unit id and field, of one kind.
Decisions = Mapping[tuple[int, str], Decision]
Value = str | CueValue | None


def gold_labels(units: Iterable[int]) -> dict[int, dict[str, Gold]]:
    """Gold of propositions by unit id and field (`LABEL_FIELDS`); 4 queries. Units without gold are left out."""
    return labels_adopted(decisions_in_force(units, "label"))


def labels_adopted(decisions: Decisions) -> dict[int, dict[str, Gold]]:
    """The same of decisions in force that are at hand; 3 queries."""
    rows = _adopted(Label.objects.all(), decisions).prefetch_related("cues__fragments")
    return _collect(decisions, rows, _label_value)


def gold_relations(units: Iterable[int]) -> dict[int, Gold]:
    """Gold relations by the unit id of the cluster; 2 queries."""
    return relations_adopted(decisions_in_force(units, "discourse"))


def relations_adopted(decisions: Decisions) -> dict[int, Gold]:
    """The same of decisions in force that are at hand; 1 query."""
    rows = _adopted(DiscourseLabel.objects.all(), decisions)
    found = _collect(decisions, rows, lambda label, _: str(label.relation))
    return {unit: fields["relation"] for unit, fields in found.items()}


def _adopted(rows: QuerySet[Any], decisions: Decisions) -> QuerySet[Any]:
    """The rows among which decisions choose: imported ones, and those of the answers that are adopted. In no order:
    PostgreSQL would walk along the primary key where it knows little of the table."""
    answers = {d.answer_id for d in decisions.values() if d.answer_id}
    units = {unit for unit, _ in decisions}
    return rows.filter(Q(imported__isnull=False) | Q(answer__in=answers), unit__in=units).order_by()


def _collect(
    decisions: Decisions, rows: Iterable[Any], value: Callable[[Any, str], Value]
) -> dict[int, dict[str, Gold]]:
    by_source = {(row.unit_id, row.answer_id or row.imported_id): row for row in rows}
    found: dict[int, dict[str, Gold]] = {}
    for (unit, field), decision in decisions.items():
        row = by_source[unit, decision.answer_id or decision.imported_id]
        found.setdefault(unit, {})[field] = Gold(value(row, field), decision.origin, decision.pk)
    return found


def _label_value(label: Label, field: str) -> str | CueValue | None:
    aspect, _, is_cue = field.partition("_")
    if not is_cue:
        return str(getattr(label, aspect))
    return next((cue_value(cue) for cue in label.cues.all() if cue.aspect == aspect), None)


def cue_value(cue: Cue) -> CueValue:
    fragments = tuple(Fragment(f.start, f.end, f.quote) for f in cue.fragments.all())
    return CueValue(cue.text, cue.found, cue.occurrences, fragments)


def labels_in_force(field: str, kind: str = "label") -> QuerySet[Label]:
    """The labels whose value of ``field`` is in force: at most one a unit of the kind, a proposition's as a rule."""
    return _chosen(Label.objects.all(), kind, field)


def relations_in_force() -> QuerySet[DiscourseLabel]:
    """The relations in force: at most one a cluster."""
    return _chosen(DiscourseLabel.objects.all(), "discourse", "relation")


def screenings_in_force() -> QuerySet[Screening]:
    """What is in force of retrieved reviews: at most one a review."""
    return _chosen(Screening.objects.all(), "screen", "screening")


def study_lists_in_force() -> QuerySet[StudyList]:
    """The lists of included studies in force: at most one a review."""
    return _chosen(StudyList.objects.all(), "studies", "included_studies", brought=False)


def readings_in_force() -> QuerySet[AbstractReading]:
    """What is in force of which sentences bear evidence: at most one a review."""
    return _chosen(AbstractReading.objects.all(), "sentences", AbstractReading.Task.EVIDENCE)


def _chosen(rows: QuerySet[Any], kind: str, field: str, *, brought: bool = True) -> QuerySet[Any]:
    """The rows that the decision in force on a field of their unit adopts. ``brought``: whether files bring such."""
    newest = Decision.objects.filter(unit=OuterRef("unit"), kind=kind, field=field).in_question().newest_first()
    rows = rows.alias(adopted=Subquery(newest.values("answer")[:1]))
    if not brought:
        return rows.filter(answer=F("adopted"))
    rows = rows.alias(brought=Subquery(newest.values("imported")[:1]))
    return rows.filter(Q(answer=F("adopted")) | Q(imported=F("brought")))
