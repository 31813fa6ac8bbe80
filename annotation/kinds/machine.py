"""Decisions on values that models gave (`MachineReading`). They are written when a round first needs them."""

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from projects.gold.actions import insert_decisions
from projects.models import Decision, Import, Origin, Unit


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
