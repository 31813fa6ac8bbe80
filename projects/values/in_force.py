"""The values that the project stands behind, read for many units in a fixed number of queries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from .. import kinds
from ..models import Decision, Origin, Unit

#: Origins of values that may be held against a person: what one or some people said in a round is not among them.
SETTLED = (Origin.CURATED, Origin.IMPORTED)


def newest_decisions(units: Iterable[int], *kinds: str) -> dict[tuple[int, str, str], Decision]:
    """The decisions in force of some units, by unit id, kind and field. One query.

    All that was ever decided of the units is read and the newest kept: a field is decided a few times at most, and
    PostgreSQL finds units and kinds by their index whatever it knows of the table. It would not where the rows were
    asked for in order (docs/decisions/0027-in-force.md).
    """
    rows = Decision.objects.filter(unit__in=units, kind__in=kinds).in_question().order_by()
    newest = {(d.unit_id, d.kind, d.field): d for d in sorted(rows, key=lambda d: d.pk)}
    return {place: d for place, d in newest.items() if d.says_a_value}


def decisions_in_force(units: Iterable[int], kind: str) -> dict[tuple[int, str], Decision]:
    """The decisions in force of some units in one kind, by unit id and field. One query."""
    return of_kind(newest_decisions(units, kind), kind)


def of_kind(decisions: Mapping[tuple[int, str, str], Decision], kind: str) -> dict[tuple[int, str], Decision]:
    """Those of `newest_decisions` in one kind, by unit id and field."""
    return {(unit, field): d for (unit, key, field), d in decisions.items() if key == kind}


def units_with(units: QuerySet[Unit], decisions: QuerySet[Decision], *, there: bool = True) -> QuerySet[Unit]:
    """The units of which there is such a decision, or is none. Each is looked up by itself, not by a join that
    PostgreSQL would choose by what it knows of the tables."""
    found = decisions.filter(unit=OuterRef("pk")).order_by().values("pk")[:1]
    return units.alias(decision_found=Subquery(found)).filter(decision_found__isnull=not there)


def units_settled(units: QuerySet[Unit], kind: str, fields: Sequence[str] | None = None) -> QuerySet[Unit]:
    """The units of which every field was settled: by a curator, or by a file of gold that was brought in. ``fields``:
    those alone that a round asks."""
    settled = Decision.objects.filter(kind=kind, origin__in=SETTLED).in_force()
    if not kinds.get(kind).fields:
        # Its fields differ by round: whatever was decided of the unit.
        unsettled = Decision.objects.filter(kind=kind).in_force().exclude(origin__in=SETTLED)
        return units_with(units_with(units, settled), unsettled, there=False)
    for n, field in enumerate(kinds.get(kind).fields if fields is None else fields):
        found = settled.filter(unit=OuterRef("pk"), field=field).values("pk")[:1]
        units = units.alias(**{f"settled_{n}": Subquery(found)}).filter(**{f"settled_{n}__isnull": False})
    return units


def values_in_force(units: Sequence[Unit], kind: str) -> dict[int, dict[str, Any]]:
    """The value in force of each unit, field by field, as far as it is decided. A fixed number of queries."""
    return values_of(units, kind, decisions_in_force([u.pk for u in units], kind).values())


def values_of(units: Sequence[Unit], kind: str, decisions: Collection[Decision]) -> dict[int, dict[str, Any]]:
    """The value that some decisions of these units come to, by unit id. A fixed number of queries."""
    parts = parts_of(units, kind, decisions)
    found: dict[int, list[kinds.Value]] = {u.pk: [] for u in units}
    for d in decisions:
        found[d.unit_id].append(parts[d.pk])
    merged = kinds.get(kind).merged
    return {unit: merged(mine) for unit, mine in found.items()}


def parts_of(units: Sequence[Unit], kind: str, decisions: Collection[Decision]) -> dict[int, dict[str, Any]]:
    """What each of some decisions of these units says in its field, by its id. A fixed number of queries."""
    how = kinds.get(kind)
    answers = how.values({d.answer_id for d in decisions if d.answer_id})
    imports = {d.imported_id for d in decisions if d.imported_id}
    imported = how.imported_values(units, imports) if imports else {}
    return {
        d.pk: how.part_of(d.field, answers[d.answer_id] if d.answer_id else imported[d.unit_id, d.imported_id or 0])
        for d in decisions
    }


def earlier_values(units: Sequence[Unit], kind: str) -> dict[int, kinds.Value]:
    """What was in force of the texts that these units' texts took the place of, by the present unit's id."""
    found: dict[int, kinds.Value] = {}
    standing = {u.pk: u.pk for u in units}  # an earlier unit -> the present one
    while standing:
        earlier = list(Unit.objects.filter(superseded_by__in=standing))
        standing = {u.pk: standing[u.superseded_by_id or 0] for u in earlier}
        for old, value in values_in_force(earlier, kind).items():
            if value:
                found[standing.pop(old)] = value
    return found


def taken_back(units: Iterable[int], kind: str) -> set[tuple[int, str]]:
    """(unit id, field) of what was in force and is no more, since whoever decided it took it back. One query."""
    rows = Decision.objects.filter(unit__in=units, kind=kind).in_question().order_by()
    newest = {(d.unit_id, d.field): d.origin for d in sorted(rows, key=lambda d: d.pk)}
    return {place for place, origin in newest.items() if origin == Origin.REOPENED}


def sentences(decisions: Sequence[Decision]) -> dict[int, str]:
    """What each decision says in words, by its id; what says no value is left out. Load ``unit`` with them. A few
    queries a kind."""
    valued = [d for d in decisions if d.says_a_value]
    known = {kind.key for kind in kinds.all_kinds()}
    found: dict[int, str] = {}
    for key in sorted({d.kind for d in valued} & known):
        kind, mine = kinds.get(key), [d for d in valued if d.kind == key]
        answered = kind.values(d.answer_id for d in mine if d.answer_id)
        imports = {d.imported_id for d in mine if d.imported_id}
        brought = kind.imported_values([d.unit for d in mine if d.imported_id], imports) if imports else {}
        for d in mine:
            value = answered.get(d.answer_id) if d.answer_id else brought.get((d.unit_id, d.imported_id or 0))
            if value:
                found[d.pk] = kind.sentence(d.field, value)
    return found


def contested_fields(units: Sequence[Unit], kind: str) -> set[tuple[int, str]]:
    """(unit id, field) of what waits for a curator. One query."""
    rows = Decision.objects.filter(unit__in=[u.pk for u in units], kind=kind).order_by()
    newest = {(d.unit_id, d.field): d.says_a_value for d in sorted(rows, key=lambda d: d.pk)}
    return {place for place, says_a_value in newest.items() if not says_a_value}
