"""Statements whose SQL Django builds once, for the few places that run at every request.

Building the SQL of a queryset costs the server several times what running it costs the data base. A statement here is
an ordinary queryset, so models stay the only description of the tables; it is compiled once a data base engine, with a
mark in the place of each value, and then run with other values. Values are never None: `= NULL` finds nothing.

This file, and no other, leans on parts of Django that are not public; they are named here, and a test says when Django
is another than the one that they were read in:

- ``SQLCompiler``: ``as_sql``, and after it ``klass_info``, ``select``, ``col_count``, ``annotation_col_map``,
  ``get_converters``; ``returning_fields`` of that of an insert;
- ``get_related_populators``, which fills in what ``select_related`` brought;
- ``Query.chain`` with ``UpdateQuery.add_update_values``, ``InsertQuery.insert_values``;
- of a connection: ``close_if_health_check_failed``, ``ensure_connection``, ``wrap_database_errors``, ``queries_logged``
  and ``_prepare_cursor``.
"""

import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Generic, TypeVar

from django.db import connection, models
from django.db.models import QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery

M = TypeVar("M", bound=models.Model)
#: The Django in which the parts named above were read.
READ_IN = (5, 2)
#: A value of each type that stands in for what is given later: unlikely in a statement, and allowed by every field.
MARKS: dict[type, Callable[[int], Any]] = {
    int: lambda n: 31_700 + n,
    str: lambda n: f"mark {n}",
    datetime: lambda n: datetime(1971, 1, 1 + n, tzinfo=UTC),
    uuid.UUID: lambda n: uuid.UUID(int=31_700 + n),
}
LARGEST = 2**63 - 1


def _as_parameter(value: Any) -> Any:
    """The value as this data base takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, uuid.UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return value


def _cursor() -> Any:
    """A cursor; on PostgreSQL one that has the server keep its plans too, which take longer to make than to run. Where
    statements are logged, Django's own, which knows what it sent."""
    if connection.vendor != "postgresql" or connection.queries_logged:
        return connection.cursor()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        kept = connection.connection
        assert kept is not None
        if kept.prepare_threshold is None:  # Django's own cursors never prepare, whatever this says
            kept.prepare_threshold = 0
        return connection._prepare_cursor(_keeping_plans()(kept))  # type: ignore[attr-defined]


@cache
def _keeping_plans() -> type:
    """Only where PostgreSQL is used: elsewhere its driver need not load."""
    import psycopg

    class KeepingPlans(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            return super().execute(query, params, prepare=True, **options)

    return KeepingPlans


class _Compiled:
    """SQL with the names of its values in order."""

    def __init__(self, sql: str, parameters: Sequence[Any], marks: dict[str, Any]) -> None:
        self.sql = sql
        names = {_as_parameter(mark): name for name, mark in marks.items()}
        self.slots = [(names.get(p) if isinstance(p, tuple(MARKS)) else None, p) for p in parameters]
        if missing := set(marks) - {name for name, _ in self.slots}:
            raise ValueError(f"The statement has no place for {', '.join(sorted(missing))}.")

    def parameters(self, values: dict[str, Any]) -> list[Any]:
        given = {name: _as_parameter(value) for name, value in values.items()}
        return [fixed if name is None else given[name] for name, fixed in self.slots]


class _Statement:
    """What reading and changing have in common: compiled on the first run on an engine."""

    def __init__(self, **types: type) -> None:
        self._marks = {name: MARKS[type](n) for n, (name, type) in enumerate(types.items())}
        self._by_engine: dict[str, Any] = {}

    def _compiled(self) -> Any:
        found = self._by_engine.get(connection.vendor)
        if found is None:
            found = self._by_engine[connection.vendor] = self._compile()
        return found

    def _compile(self) -> Any:
        raise NotImplementedError


class CompiledSelect(_Statement, Generic[M]):
    """``CompiledSelect(lambda pk: Thing.objects.filter(pk=pk), pk=int).all(pk=3)``: the rows as instances."""

    def __init__(self, build: Callable[..., QuerySet[M]], **types: type) -> None:
        super().__init__(**types)
        self._build = build

    def _compile(self) -> "tuple[_Compiled, _Rows[M]]":
        compiler = self._build(**self._marks).query.get_compiler(using=connection.alias)
        sql, parameters = compiler.as_sql()
        return _Compiled(sql, parameters, self._marks), _Rows(compiler)

    def all(self, **values: Any) -> list[M]:
        if any(isinstance(value, int) and abs(value) > LARGEST for value in values.values()):
            return []  # no column holds it, and the data bases raise rather than find nothing
        compiled, rows = self._compiled()
        with _cursor() as cursor:
            cursor.execute(compiled.sql, compiled.parameters(values))
            fetched = cursor.fetchall()
        found: list[M] = rows.instances(fetched)
        return found

    def first(self, **values: Any) -> M | None:
        """The first row, or None; the queryset says by ``[:1]`` that it wants no more."""
        found = self.all(**values)
        return found[0] if found else None


class _Rows(Generic[M]):
    """Rows of a compiled queryset as instances, with what was selected beside them (as Django's ModelIterable)."""

    def __init__(self, compiler: Any) -> None:
        info, select = compiler.klass_info, compiler.select
        own = info["select_fields"]
        self._model = info["model"]
        self._start, self._end = own[0], own[-1] + 1
        self._names = [s[0].target.attname for s in select[self._start : self._end]]
        self._related = get_related_populators(info, select, connection.alias)  # type: ignore[call-arg, unused-ignore]
        self._annotations = compiler.annotation_col_map
        self._converters = compiler.get_converters([s[0] for s in select[: compiler.col_count]])

    def instances(self, rows: Iterable[Sequence[Any]]) -> list[M]:
        return [self._instance(list(row)) for row in rows]

    def _instance(self, row: list[Any]) -> M:
        for at, (converters, expression) in self._converters.items():
            for convert in converters:
                row[at] = convert(row[at], expression, connection)
        made: M = self._model.from_db(connection.alias, self._names, row[self._start : self._end])
        for populator in self._related:
            populator.populate(row, made)
        for name, at in self._annotations.items():
            setattr(made, name, row[at])
        return made


class CompiledUpdate(_Statement):
    """An UPDATE: ``build`` gives the queryset and the new values; `run` says how many rows it changed."""

    def __init__(self, build: Callable[..., tuple[QuerySet[Any], dict[str, Any]]], **types: type) -> None:
        super().__init__(**types)
        self._build = build

    def _compile(self) -> _Compiled:
        rows, values = self._build(**self._marks)
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(values)
        sql, parameters = query.get_compiler(using=connection.alias).as_sql()
        return _Compiled(sql, parameters, self._marks)

    def run(self, **values: Any) -> int:
        compiled = self._compiled()
        with _cursor() as cursor:
            cursor.execute(compiled.sql, compiled.parameters(values))
            return int(cursor.rowcount)


#: Up to so many rows a statement is kept.
FEW = 8
_inserts: dict[tuple[str, type[models.Model], int], str] = {}


def insert(rows: Sequence[models.Model]) -> None:
    """Insert rows of one model, in the caller's transaction; ids that the data base makes are set. A few go in one
    statement that is kept, many by Django's own way. For models without data base defaults and parents."""
    if not rows:
        return
    model = type(rows[0])
    if len(rows) > FEW:
        model._default_manager.bulk_create(rows)
        return
    key = model._meta.pk
    made_there = isinstance(key, models.AutoField)
    fields = [f for f in model._meta.concrete_fields if not (made_there and f is key)]
    engine = (connection.vendor, model, len(rows))
    sql = _inserts.get(engine)
    if sql is None:
        sql = _inserts[engine] = _insert_sql(rows[0], fields, key if made_there else None, len(rows))
    values = [f.get_db_prep_save(f.pre_save(row, True), connection) for row in rows for f in fields]
    with _cursor() as cursor:
        cursor.execute(sql, values)
        made = cursor.fetchall() if made_there else []
    for row, (pk,) in zip(rows, made, strict=made_there):
        row.pk = pk
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


def _insert_sql(row: models.Model, fields: list[Any], key: Any, count: int) -> str:
    query = InsertQuery(type(row))
    query.insert_values(fields, [row], raw=False)
    compiler = query.get_compiler(using=connection.alias)
    compiler.returning_fields = [key] if key else None
    ((sql, _),) = compiler.as_sql()
    values = f"({', '.join(['%s'] * len(fields))})"
    if sql.count(values) != 1:
        raise ValueError(f"{type(row).__name__} has fields whose values are no plain parameters.")
    return str(sql.replace(values, ", ".join([values] * count)))
