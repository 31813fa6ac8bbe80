"""Current labels, relations and other values: the typed rows that decisions adopt, read in few queries."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from annotation.models import AbstractReading, Cue, DiscourseLabel, Label, Screening, StudyList
from projects.gold.queries import current_decisions
from projects.models import Decision

#: Fields of a proposition's label that can be gold.
LABEL_FIELDS = ("polarity", "polarity_cue", "modality", "modality_cue")


@dataclass(frozen=True)
class Fragment:
    """A half-open range of code points and its text."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class CueValue:
    """A current cue.

    ``text`` is the cue as published or marked; ``found`` tells how it was located in the proposition. ``occurrences``
    is the number of matches; ``fragments`` are their positions.
    """

    text: str
    found: str
    occurrences: int
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True)
class Gold:
    """One field of one unit. ``value`` is a string; for a cue it is a `CueValue`, or None if the text has no cue."""

    value: str | CueValue | None
    origin: str
    decision: int


#: Current decisions of one kind, by unit id and field.
Decisions = Mapping[tuple[int, str], Decision]
Value = str | CueValue | None


def gold_labels(units: Iterable[int]) -> dict[int, dict[str, Gold]]:
    """Return the gold of propositions by unit id and field. Omit units without gold. 4 queries."""
    return aggregated_labels(current_decisions(units, "label"))


def aggregated_labels(decisions: Decisions) -> dict[int, dict[str, Gold]]:
    """Return the gold of propositions for decisions that are already loaded. 3 queries."""
    rows = _candidate_rows(Label.objects.all(), decisions).prefetch_related("cues__fragments")
    return _collect(decisions, rows, _label_value)


def gold_relations(units: Iterable[int]) -> dict[int, Gold]:
    """Return the gold relations by the unit id of the cluster. 2 queries."""
    return aggregated_relations(current_decisions(units, "discourse"))


def aggregated_relations(decisions: Decisions) -> dict[int, Gold]:
    """Return the gold relations for decisions that are already loaded. 1 query."""
    rows = _candidate_rows(DiscourseLabel.objects.all(), decisions)
    by_unit = _collect(decisions, rows, lambda label, _: str(label.relation))
    return {unit: fields["relation"] for unit, fields in by_unit.items()}


def _candidate_rows(rows: QuerySet[Any], decisions: Decisions) -> QuerySet[Any]:
    """Return the rows that decisions can adopt: imported ones, and those of the adopted answers.

    The rows are unordered. With an ordering, PostgreSQL scans the primary key if it has few statistics of the table.
    """
    answers = {d.answer_id for d in decisions.values() if d.answer_id}
    units = {unit for unit, _ in decisions}
    return rows.filter(Q(imported__isnull=False) | Q(answer__in=answers), unit__in=units).order_by()


def _collect(
    decisions: Decisions, rows: Iterable[Any], value: Callable[[Any, str], Value]
) -> dict[int, dict[str, Gold]]:
    by_source = {(row.unit_id, row.answer_id or row.imported_id): row for row in rows}
    gold: dict[int, dict[str, Gold]] = {}
    for (unit, field), decision in decisions.items():
        row = by_source[unit, decision.answer_id or decision.imported_id]
        gold.setdefault(unit, {})[field] = Gold(value(row, field), decision.origin, decision.pk)
    return gold


def _label_value(label: Label, field: str) -> str | CueValue | None:
    aspect, _, is_cue = field.partition("_")
    if not is_cue:
        return str(getattr(label, aspect))
    return next((cue_value(cue) for cue in label.cues.all() if cue.aspect == aspect), None)


def cue_value(cue: Cue) -> CueValue:
    fragments = tuple(Fragment(f.start, f.end, f.quote) for f in cue.fragments.all())
    return CueValue(cue.text, cue.found, cue.occurrences, fragments)


def current_labels(field: str, kind: str = "label") -> QuerySet[Label]:
    """Return the labels whose value of ``field`` is current: at most one per unit. ``kind`` is normally "label"."""
    return _current_rows(Label.objects.all(), kind, field)


def current_label_value(field: str, *, of: str = "unit") -> Subquery:
    """Subquery of the current label value of the unit that the outer field ``of`` names; null if there is none.

    It finds the newest decision first, then the label that the decision adopts.
    """
    return _current_value(Label.objects.all(), "label", field, of)


def current_relation(*, of: str = "unit") -> Subquery:
    """Subquery of the current relation of a cluster."""
    return _current_value(DiscourseLabel.objects.all(), "discourse", "relation", of)


def _current_value(rows: QuerySet[Any], kind: str, field: str, of: str) -> Subquery:
    adopted = Q(answer=OuterRef("answer")) | Q(imported=OuterRef("imported"))
    value = rows.filter(adopted, unit=OuterRef("unit")).order_by().values(field)[:1]
    newest = Decision.objects.filter(unit=OuterRef(of), kind=kind, field=field).in_question().newest_first()
    return Subquery(newest.values(value=Subquery(value))[:1])


def current_relations() -> QuerySet[DiscourseLabel]:
    """Return the current relations: at most one per cluster."""
    return _current_rows(DiscourseLabel.objects.all(), "discourse", "relation")


def current_screenings() -> QuerySet[Screening]:
    """Return the current screenings of retrieved reviews: at most one per review."""
    return _current_rows(Screening.objects.all(), "screen", "screening")


def current_study_lists() -> QuerySet[StudyList]:
    """Return the current lists of included studies: at most one per review."""
    return _current_rows(StudyList.objects.all(), "studies", "included_studies", importable=False)


def current_readings() -> QuerySet[AbstractReading]:
    """Return the current selections of evidence-bearing sentences: at most one per review."""
    return _current_rows(AbstractReading.objects.all(), "sentences", AbstractReading.Task.EVIDENCE)


def _current_rows(rows: QuerySet[Any], kind: str, field: str, *, importable: bool = True) -> QuerySet[Any]:
    """Return the rows adopted by the current decision on a field of their unit.

    ``importable``: whether rows can be imported.
    """
    newest = Decision.objects.filter(unit=OuterRef("unit"), kind=kind, field=field).in_question().newest_first()
    rows = rows.alias(adopted=Subquery(newest.values("answer")[:1]))
    if not importable:
        return rows.filter(answer=F("adopted"))
    rows = rows.alias(imported_by=Subquery(newest.values("imported")[:1]))
    return rows.filter(Q(answer=F("adopted")) | Q(imported=F("imported_by")))


Json = dict[str, Any]


def gold_json(gold: Gold | None) -> Json | None:
    """Return a current field as JSON; None if nothing was decided."""
    if gold is None:
        return None
    value = gold.value if gold.value is None or isinstance(gold.value, str) else asdict(gold.value)
    return {"value": value, "origin": gold.origin}
