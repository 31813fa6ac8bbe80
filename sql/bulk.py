"""Bulk inserts that are prepared before their transaction.

On SQLite a writing transaction blocks all other writers. Most of the time of an import is spent in Django's work for
each row, not in writing. Rows therefore get reserved ids when they are built, so that other rows can refer to them. The
transaction only runs a few statements with prepared values.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import connection, models, transaction

M = TypeVar("M", bound=models.Model)


def reserve_ids(model: type[models.Model], count: int) -> list[int]:
    """Reserve ids of a model. No other row gets them, even if they are not used."""
    key, table = model._meta.pk, model._meta.db_table
    assert isinstance(key, models.AutoField)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            query = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
            cursor.execute(query, [connection.ops.quote_name(table), key.column, count])
            return [number for (number,) in cursor.fetchall()]
        with transaction.atomic():
            cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s", [count, table])
            if not cursor.rowcount:
                cursor.execute("INSERT INTO sqlite_sequence (seq, name) VALUES (%s, %s)", [count, table])
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            last = cursor.fetchone()[0]
        return list(range(last - count + 1, last + 1))


class BulkWriter:
    """Prepared rows of several models. Referenced rows must be added before the rows that refer to them."""

    def __init__(self) -> None:
        self._ready: list[tuple[str, list[tuple[Any, ...]]]] = []
        self._ids: dict[type[models.Model], deque[int]] = {}
        self._counts: Counter[type[models.Model]] = Counter()
        self._afterwards: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return self._counts.total()

    def add(self, rows: Iterable[M]) -> list[M]:
        """Prepare rows and return them with ids, as if they were saved. They must not be changed afterwards."""
        prepared = list(rows)
        if not prepared:
            return prepared
        model = type(prepared[0])
        if isinstance(model._meta.pk, models.AutoField):
            for row, number in zip(prepared, self._numbers(model, len(prepared)), strict=True):
                row.pk = number
        self._counts[model] += len(prepared)
        fields = model._meta.concrete_fields
        values = [tuple(f.get_db_prep_save(f.pre_save(row, True), connection) for f in fields) for row in prepared]
        name = connection.ops.quote_name
        columns, marks = ", ".join(name(f.column or "") for f in fields), ", ".join(["%s"] * len(fields))
        self._ready.append((f"INSERT INTO {name(model._meta.db_table)} ({columns}) VALUES ({marks})", values))
        for row in prepared:
            row._state.adding, row._state.db = False, connection.alias
        return prepared

    @property
    def tables(self) -> list[type[models.Model]]:
        """Return the models of the added rows."""
        return list(self._counts)

    def then(self, action: Callable[[], None]) -> None:
        """Call a function after the rows were inserted, in the same transaction."""
        self._afterwards.append(action)

    def write(self) -> None:
        """Insert all rows, in the caller's transaction."""
        with connection.cursor() as cursor:
            for sql, values in self._ready:
                cursor.executemany(sql, values)
        for action in self._afterwards:
            action()

    def _numbers(self, model: type[models.Model], count: int) -> list[int]:
        """Return reserved ids. Reserve more at a time if more were used, because each reservation is a transaction."""
        reserved = self._ids.setdefault(model, deque())
        if len(reserved) < count:
            reserved.extend(reserve_ids(model, max(count - len(reserved), self._counts[model])))
        return [reserved.popleft() for _ in range(count)]
