"""Rows that are made ready before the transaction that writes them.

A transaction that writes keeps everybody else from writing where the data base is SQLite. What makes an import long is
not the writing but what Django does for each row. So that is done before: rows get their ids when they are made, then
what refers to them can be made too, and what is left for the transaction is a few statements with all values at hand.
"""

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, TypeVar

from django.db import connection, models, transaction

M = TypeVar("M", bound=models.Model)


def reserve(model: type[models.Model], count: int) -> list[int]:
    """Ids that no other row of a model gets, whether they are used or not."""
    key, table = model._meta.pk, model._meta.db_table
    assert isinstance(key, models.AutoField)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            drawn = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
            cursor.execute(drawn, [connection.ops.quote_name(table), key.column, count])
            return [number for (number,) in cursor.fetchall()]
        with transaction.atomic():
            cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s", [count, table])
            if not cursor.rowcount:
                cursor.execute("INSERT INTO sqlite_sequence (seq, name) VALUES (%s, %s)", [count, table])
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            last = cursor.fetchone()[0]
        return list(range(last - count + 1, last + 1))


class Rows:
    """Rows of several models, in the order in which they were added: first those that others refer to."""

    def __init__(self) -> None:
        self._ready: list[tuple[str, list[tuple[Any, ...]]]] = []
        self._ids: dict[type[models.Model], deque[int]] = {}
        self._given: Counter[type[models.Model]] = Counter()

    def __len__(self) -> int:
        return self._given.total()

    def add(self, rows: Iterable[M]) -> list[M]:
        """The rows, with ids, as if they were written. Nothing of them may change any more."""
        made = list(rows)
        if not made:
            return made
        model = type(made[0])
        if isinstance(model._meta.pk, models.AutoField):
            for row, number in zip(made, self._numbers(model, len(made)), strict=True):
                row.pk = number
        self._given[model] += len(made)
        fields = model._meta.concrete_fields
        values = [tuple(f.get_db_prep_save(f.pre_save(row, True), connection) for f in fields) for row in made]
        name = connection.ops.quote_name
        columns, marks = ", ".join(name(f.column or "") for f in fields), ", ".join(["%s"] * len(fields))
        self._ready.append((f"INSERT INTO {name(model._meta.db_table)} ({columns}) VALUES ({marks})", values))
        for row in made:
            row._state.adding, row._state.db = False, connection.alias
        return made

    @property
    def tables(self) -> list[type[models.Model]]:
        """Those of which there are rows."""
        return list(self._given)

    def write(self) -> None:
        """Write them all, in the caller's transaction."""
        with connection.cursor() as cursor:
            for sql, values in self._ready:
                cursor.executemany(sql, values)

    def _numbers(self, model: type[models.Model], count: int) -> list[int]:
        """Ids, reserved more at a time the more were needed: reserving is a transaction of its own."""
        left = self._ids.setdefault(model, deque())
        if len(left) < count:
            left.extend(reserve(model, max(count - len(left), self._given[model])))
        return [left.popleft() for _ in range(count)]
