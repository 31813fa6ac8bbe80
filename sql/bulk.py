"""Bulk inserts that are prepared before their transaction.

On SQLite a writing transaction blocks all other writers. Most of the time of an import is spent in Django's work for
each row, not in writing. Rows therefore get reserved ids when they are built, so that other rows can refer to them. The
transaction only runs a few statements with prepared values.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection, models, transaction

#: A search for cycles takes a third of the time of small values.
_encode = json.JSONEncoder(check_circular=False).encode
M = TypeVar("M", bound=models.Model)
Values = list[tuple[Any, ...]]
#: Up to this number of rows, INSERT is faster than COPY.
FEW = 20
#: Rows of one INSERT on SQLite. Each statement searches and writes SQLite's table of the last ids (AUTOINCREMENT).
PER_INSERT = 50
#: Pages of SQLite's file that a connection keeps in memory during an import, in KiB. SQLite's default is 2,000: a batch
#: would be written to the log before its commit, and its indexes read again.
CACHED = 32_768
#: Types of fields whose values need no conversion, as do references to them.
PLAIN = (models.CharField, models.TextField, models.IntegerField, models.BooleanField, models.FloatField)


@contextmanager
def resumable_batches() -> Iterator[None]:
    """Let this connection write large batches faster on SQLite. A loss of power may undo the last ones.

    It keeps more pages in memory, and does not wait for the disk at each commit, so that other writers wait less. The
    next commit of any other connection waits for all earlier ones too.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        before = {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("cache_size", "synchronous")}
        cursor.execute(f"PRAGMA cache_size = -{CACHED}")
        cursor.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        # The connection may be closed, for example after the disk was full.
        if connection.connection is not None:
            for name, value in before.items():
                connection.connection.execute(f"PRAGMA {name} = {value}")


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


def ids_by_text(model: type[models.Model], column: str, texts: Sequence[str], **where: int) -> dict[str, int]:
    """Return the ids of the rows with these texts in a column, by text. All texts are one parameter of one statement.

    No manager applies.
    """
    if not texts:
        return {}
    name = connection.ops.quote_name
    is_postgresql = connection.vendor == "postgresql"
    listed = "= ANY(%s)" if is_postgresql else "IN (SELECT value FROM json_each(%s))"
    conditions = "".join(f"{name(other)} = %s AND " for other in where)
    query = f"SELECT {name(column)}, id FROM {name(model._meta.db_table)} WHERE {conditions}{name(column)} {listed}"
    with connection.cursor() as cursor:
        cursor.execute(query, [*where.values(), list(texts) if is_postgresql else json.dumps(texts)])
        return dict(cursor.fetchall())


class Ids:
    """Reserved ids by model. Share them between writers: each reservation is a transaction on SQLite."""

    def __init__(self) -> None:
        self._reserved: dict[type[models.Model], deque[int]] = {}
        self._used: Counter[type[models.Model]] = Counter()

    def take(self, model: type[models.Model], count: int) -> list[int]:
        """Return ids. Reserve as many in advance as were used before."""
        reserved = self._reserved.setdefault(model, deque())
        if len(reserved) < count:
            more = min(self._used[model], 100_000)
            reserved.extend(reserve_ids(model, max(count - len(reserved), more)))
        self._used[model] += count
        return [reserved.popleft() for _ in range(count)]


class BulkWriter:
    """Prepared rows of several models. Referenced rows must be added before the rows that refer to them."""

    def __init__(self, ids: Ids | None = None) -> None:
        self._ready: list[tuple[str, str, Values]] = []
        self._ids = ids or Ids()
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
            for row, number in zip(prepared, self._ids.take(model, len(prepared)), strict=True):
                row.pk = number
        columns = [_column(field, prepared) for field in model._meta.concrete_fields]
        self._add(model, list(zip(*columns, strict=True)))
        for row in prepared:
            row._state.adding, row._state.db = False, connection.alias
        return prepared

    def add_columns(self, model: type[models.Model], count: int, **columns: Any) -> list[int]:
        """Prepare rows without instances of the model, which take most of the time, and return their ids.

        ``columns``: by attribute, a list with a value per row, or one value for all rows. Only text, numbers, ids
        and JSON can be in lists. Other columns get their default.
        """
        if not count:
            return []
        ids = self._ids.take(model, count)
        values: list[Any] = []
        marks = []
        for field in model._meta.concrete_fields:
            is_given = field.attname in columns
            column = ids if field.primary_key else columns.pop(field.attname, field.get_default())
            if isinstance(column, list) and (_is_plain(field) or (is_given and isinstance(field, models.JSONField))):
                is_json = isinstance(field, models.JSONField)
                values.append([_encode(value) for value in column] if is_json else column)
                marks.append("%s")
                continue
            if isinstance(field, models.JSONField) and column is not None:
                # Psycopg would serialise the same value again for each row.
                value = json.dumps(column, cls=field.encoder)
            else:
                value = field.get_db_prep_save(column, connection)
            # On SQLite a value in each row costs more than all other work on it.
            literal = _literal(value) if connection.vendor == "sqlite" else None
            marks.append(literal or "%s")
            if literal is None:
                values.append(repeat(value, count))
        assert not columns, columns
        self._add(model, list(zip(*values, strict=True)), marks)
        return ids

    def _add(self, model: type[models.Model], values: Values, marks: list[str] | None = None) -> None:
        self._counts[model] += len(values)
        name, fields = connection.ops.quote_name, model._meta.concrete_fields
        target = f"{name(model._meta.db_table)} ({', '.join(name(f.column or '') for f in fields)})"
        self._ready.append((target, ", ".join(marks or ["%s"] * len(fields)), values))

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
            for target, marks, values in self._ready:
                if connection.vendor == "postgresql" and len(values) > FEW:
                    with connection.wrap_database_errors, cursor.copy(f"COPY {target} FROM STDIN") as copy:
                        for row in values:
                            copy.write_row(row)
                else:
                    _insert(cursor, f"INSERT INTO {target} VALUES ", f"({marks})", values)
        for action in self._afterwards:
            action()


def _insert(cursor: Any, insert: str, marks: str, values: Values) -> None:
    """Insert rows. ``insert``: the statement up to its values. ``marks``: the values of one row."""
    whole = len(values) - len(values) % PER_INSERT if connection.vendor == "sqlite" else 0
    if whole:
        groups = (chain.from_iterable(values[at : at + PER_INSERT]) for at in range(0, whole, PER_INSERT))
        cursor.executemany(insert + ", ".join([marks] * PER_INSERT), list(map(tuple, groups)))
    cursor.executemany(insert + marks, values[whole:])


def _literal(value: Any) -> str | None:
    """Return a short value as SQL, or None."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, str) and len(value) < 100 and "\0" not in value:
        return "'" + value.replace("'", "''").replace("%", "%%") + "'"
    return None


def _is_plain(field: Any) -> bool:
    # The id of an answer is a UUID, which SQLite stores as text.
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return isinstance(field, PLAIN)


def _column(field: "models.Field[Any, Any]", rows: list[M]) -> list[Any]:
    """Return the values of a field as the database expects them."""
    # A subclass, such as a field of dates or files, may set the value when it is saved.
    if type(field).pre_save is models.Field.pre_save and _is_plain(field):
        return list(map(attrgetter(field.attname), rows))
    return [field.get_db_prep_save(field.pre_save(row, True), connection) for row in rows]
