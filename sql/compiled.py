"""Compiled statements, for the few queries that run at every request.

Building the SQL of a queryset takes the server several times longer than running it. A compiled statement is an
ordinary queryset, so that models remain the only description of the tables. It is compiled once per database engine,
with a marker for each value, and then run with other values. Values must not be None, because `= NULL` matches nothing.

Only this module uses the following private parts of Django. A test fails if Django's version is not `CHECKED_DJANGO`:

- ``SQLCompiler``: ``as_sql``, and then ``klass_info``, ``select``, ``col_count``, ``annotation_col_map``,
  ``get_converters``; ``returning_fields`` of the compiler of an insert;
- ``get_related_populators``, which sets the objects of ``select_related``;
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
#: The Django version for which the private parts above were checked.
CHECKED_DJANGO = (5, 2)
#: Marker values by type: unlikely in a statement, and valid for every field.
MARKS: dict[type, Callable[[int], Any]] = {
    int: lambda n: 31_700 + n,
    str: lambda n: f"mark {n}",
    datetime: lambda n: datetime(1971, 1, 1 + n, tzinfo=UTC),
    uuid.UUID: lambda n: uuid.UUID(int=31_700 + n),
}
MAX_INTEGER = 2**63 - 1


def _as_parameter(value: Any) -> Any:
    """Return a value as a parameter of this database."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, uuid.UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return value


def _cursor() -> Any:
    """Return a cursor. On PostgreSQL it prepares statements, because planning takes longer than execution.

    If queries are logged, return Django's own cursor, which records them.
    """
    if connection.vendor != "postgresql" or connection.queries_logged:
        return connection.cursor()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        raw_connection = connection.connection
        assert raw_connection is not None
        if raw_connection.prepare_threshold is None:  # Django's own cursors never prepare statements
            raw_connection.prepare_threshold = 0
        return connection._prepare_cursor(_preparing_cursor()(raw_connection))  # type: ignore[attr-defined]


@cache
def _preparing_cursor() -> type:
    """Return a psycopg cursor class that prepares statements. psycopg is imported only if PostgreSQL is used."""
    import psycopg

    class KeepingPlans(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            return super().execute(query, params, prepare=True, **options)

    return KeepingPlans


class _Compiled:
    """SQL and the names of its parameters in order."""

    def __init__(self, sql: str, parameters: Sequence[Any], marks: dict[str, Any]) -> None:
        self.sql = sql
        names = {_as_parameter(mark): name for name, mark in marks.items()}
        self.parameter_sources = [(names.get(p) if isinstance(p, tuple(MARKS)) else None, p) for p in parameters]
        if missing := set(marks) - {name for name, _ in self.parameter_sources}:
            raise ValueError(f"The compiled statement does not use the parameters {', '.join(sorted(missing))}.")

    def parameters(self, values: dict[str, Any]) -> list[Any]:
        prepared = {name: _as_parameter(value) for name, value in values.items()}
        return [fixed if name is None else prepared[name] for name, fixed in self.parameter_sources]


class _Statement:
    """Base class of statements, which are compiled at the first run on an engine."""

    def __init__(self, **types: type) -> None:
        self._marks = {name: MARKS[type](n) for n, (name, type) in enumerate(types.items())}
        self._by_engine: dict[str, Any] = {}

    def _compiled(self) -> Any:
        compiled = self._by_engine.get(connection.vendor)
        if compiled is None:
            compiled = self._by_engine[connection.vendor] = self._compile()
        return compiled

    def _compile(self) -> Any:
        raise NotImplementedError


class CompiledSelect(_Statement, Generic[M]):
    """A SELECT: ``CompiledSelect(lambda pk: Thing.objects.filter(pk=pk), pk=int).all(pk=3)`` returns instances."""

    def __init__(self, build: Callable[..., QuerySet[M]], **types: type) -> None:
        super().__init__(**types)
        self._build = build

    def _compile(self) -> "tuple[_Compiled, _Rows[M]]":
        compiler = self._build(**self._marks).query.get_compiler(using=connection.alias)
        sql, parameters = compiler.as_sql()
        return _Compiled(sql, parameters, self._marks), _Rows(compiler)

    def all(self, **values: Any) -> list[M]:
        if any(isinstance(value, int) and abs(value) > MAX_INTEGER for value in values.values()):
            return []  # no column can contain this value, and databases raise an error for it
        compiled, rows = self._compiled()
        with _cursor() as cursor:
            cursor.execute(compiled.sql, compiled.parameters(values))
            fetched = cursor.fetchall()
        instances: list[M] = rows.instances(fetched)
        return instances

    def first(self, **values: Any) -> M | None:
        """Return the first row or None. The queryset should be limited with ``[:1]``."""
        instances = self.all(**values)
        return instances[0] if instances else None


class _Rows(Generic[M]):
    """Converts rows of a compiled queryset to instances with related objects and annotations (like ModelIterable)."""

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
        for index, (converters, expression) in self._converters.items():
            for convert in converters:
                row[index] = convert(row[index], expression, connection)
        instance: M = self._model.from_db(connection.alias, self._names, row[self._start : self._end])
        for populator in self._related:
            populator.populate(row, instance)
        for name, index in self._annotations.items():
            setattr(instance, name, row[index])
        return instance


class CompiledUpdate(_Statement):
    """An UPDATE. ``build`` returns the queryset and the new values; `run` returns the number of changed rows."""

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


#: Maximum number of rows for which insert statements are cached.
MAX_CACHED_ROWS = 8
_inserts: dict[tuple[str, type[models.Model], int], str] = {}


def insert(rows: Sequence[models.Model]) -> None:
    """Insert rows of one model, in the caller's transaction, and set generated ids.

    Up to `MAX_CACHED_ROWS` rows use one cached statement, more rows use ``bulk_create``. The model must not have
    database defaults or parent models.
    """
    if not rows:
        return
    model = type(rows[0])
    if len(rows) > MAX_CACHED_ROWS:
        model._default_manager.bulk_create(rows)
        return
    key = model._meta.pk
    is_generated = isinstance(key, models.AutoField)
    fields = [f for f in model._meta.concrete_fields if not (is_generated and f is key)]
    engine = (connection.vendor, model, len(rows))
    sql = _inserts.get(engine)
    if sql is None:
        sql = _inserts[engine] = _insert_sql(rows[0], fields, key if is_generated else None, len(rows))
    values = [f.get_db_prep_save(f.pre_save(row, True), connection) for row in rows for f in fields]
    with _cursor() as cursor:
        cursor.execute(sql, values)
        returned = cursor.fetchall() if is_generated else []
    for row, (pk,) in zip(rows, returned, strict=is_generated):
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
        raise ValueError(
            f"{type(row).__name__} has a field whose value is an expression, so its INSERT cannot be cached."
        )
    return str(sql.replace(values, ", ".join([values] * count)))
