"""Decisions on values that models gave (`MachineReading`). They are written when a round first needs them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from projects.gold.actions import insert_decisions
from projects.gold.queries import current_decisions, values_of
from projects.models import Decision, Import, Origin, Reference, Unit


def undecided(units: QuerySet[Unit], has_reading: Q, kind: str, fields: Sequence[str]) -> QuerySet[Unit]:
    """Return the units with a reading but without any decision on these fields."""
    decisions = Decision.objects.filter(unit=OuterRef("pk"), kind=kind, field__in=fields)
    return units.filter(has_reading).exclude(Exists(decisions))


def insert_machine_decisions(adopted: Iterable[tuple[int, Import]], kind: str, fields: Sequence[str]) -> None:
    """Insert decisions that adopt the values of these units (ids) from the import of their reading."""
    insert_decisions(
        Decision(
            unit_id=unit,
            kind=kind,
            field=field,
            origin=Origin.MACHINE,
            imported_id=imported.pk,
            decided_at=imported.created_at,
        )
        for unit, imported in adopted
        for field in fields
    )


def people_values(units: Sequence[Unit], kind: str) -> dict[int, dict[str, Any]]:
    """Return the decided fields of each unit by id, without values of a model that no person has confirmed.

    Uses a fixed number of queries.
    """
    decisions = list(current_decisions([unit.pk for unit in units], kind).values())
    machine = [decision.pk for decision in decisions if decision.origin == Origin.MACHINE]
    confirmed = set(
        Reference.objects.filter(decision__in=machine, same=True).values_list("decision", flat=True) if machine else ()
    )
    mine = [decision for decision in decisions if decision.origin != Origin.MACHINE or decision.pk in confirmed]
    return values_of(units, kind, mine)
