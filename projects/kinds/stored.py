"""How a kind finds the stored rows that have a value in a field, so that units can be filtered by it in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from .sheet import Value


class StoredValues:
    """The part of a task kind that filters by stored values."""

    #: Values by which units can be filtered, by field: (key, label). A field that is missing can only be chosen whole.
    field_values: Mapping[str, Sequence[tuple[str, str]]] = {}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Any]:
        """Return the rows of answers and imports with one of these values of `field_values` in a field.

        The rows have the columns ``unit`` and ``answer``, and ``imported`` if imports can have values.
        """
        raise NotImplementedError

    def imported_rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Any] | None:
        """Return the rows of imports (``unit``, ``imported``) with one of these values; None if there are none.

        Override it if imported values have a table of their own.
        """
        rows = self.rows_with(field, keys)
        return rows if any(column.name == "imported" for column in rows.model._meta.fields) else None

    def value_key(self, field: str, value: Value) -> str:
        """Return the key of a value in `field_values`, or "" if it has no single key."""
        key = str(value.get(field))
        return key if key in dict(self.field_values.get(field, ())) else ""


MARKED, NOT_MARKED = "marked", "not marked"
#: `StoredValues.field_values` of a field that marks text.
MARKED_OR_NOT = ((MARKED, "marked"), (NOT_MARKED, "not marked"))


def having(rows: QuerySet[Any], keys: Sequence[str], *, yes: str, has: Any) -> QuerySet[Any]:
    """Return the rows that satisfy ``has`` (a condition) if ``keys`` contains ``yes``, and others if it has another."""
    if yes in keys and len(set(keys)) > 1:
        return rows
    return rows.filter(has) if yes in keys else rows.filter(~has)
