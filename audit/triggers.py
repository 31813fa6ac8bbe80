"""Rows that the data base itself refuses to change: triggers on SQLite and PostgreSQL.

A *leaf* table lets a row change once, from unsealed to sealed, with every other column as it was; every other guarded
table takes inserts only. Django rebuilds a table on SQLite for many a schema change, and the triggers are lost with
the old one: a migration that alters a guarded table ends with `Guard`, and `protection.faults` (which
``verify_audit`` reports) notices where that was forgotten.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.operations import RunPython

PREFIX = "append_only_"
REFUSAL = "rows of {table} are never changed or deleted"
#: table -> whether its rows may be sealed. Filled by the apps when they are ready.
_guarded: dict[str, bool] = {}


def guard(*tables: str, sealed: bool = False) -> None:
    """Say that these tables must have triggers. ``sealed``: they have a column ``seal_id``."""
    _guarded.update(dict.fromkeys(tables, sealed))


def guarded_tables() -> dict[str, bool]:
    """All of them, and whether their rows may be sealed."""
    return dict(_guarded)


class Guard(RunPython):
    """A migration operation: install the triggers of some tables, or take them away again. A migration that alters a
    guarded table begins with `Unguard` and ends with this, so that its way back leaves them guarded too."""

    def __init__(self, *tables: str, sealed: bool = False) -> None:
        self.tables, self.sealed = tables, sealed
        super().__init__(
            lambda apps, editor: install(editor.connection, tables, sealed=sealed),
            lambda apps, editor: remove(editor.connection, tables),
        )

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__qualname__, list(self.tables), {"sealed": self.sealed}


class Unguard(Guard):
    """The other way round: take the triggers away, and install them again on the way back."""

    def database_forwards(self, *arguments: Any) -> None:
        super().database_backwards(*arguments)

    def database_backwards(self, *arguments: Any) -> None:
        super().database_forwards(*arguments)


def install(connection: BaseDatabaseWrapper, tables: Iterable[str], *, sealed: bool) -> None:
    """Put the triggers of these tables in place, fresh ones where there are any."""
    tables = list(tables)
    remove(connection, tables)
    with connection.cursor() as cursor:
        for table in tables:
            for statement in _statements(connection, table, sealed):
                cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper, tables: Iterable[str]) -> None:
    """Take the triggers of these tables away."""
    wanted = set(tables)
    with connection.cursor() as cursor:
        for table, name, _ in _present(connection):
            if table in wanted:
                cursor.execute(_drop(connection, table, name))


@contextmanager
def suspended(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """For tests that empty the tables: without any of the triggers, which come back exactly as they were."""
    present = _present(connection)
    with connection.cursor() as cursor:
        for table, name, _ in present:
            cursor.execute(_drop(connection, table, name))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for _, _, definition in present:
                cursor.execute(definition)


def _drop(connection: BaseDatabaseWrapper, table: str, name: str) -> str:
    on = f' ON "{table}"' if connection.vendor == "postgresql" else ""
    return f'DROP TRIGGER "{name}"{on}'


def _present(connection: BaseDatabaseWrapper) -> list[tuple[str, str, str]]:
    """(table, trigger, definition) of the triggers that are there; on PostgreSQL those that fire."""
    sql = (
        "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s"
        if connection.vendor == "sqlite"
        else "SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t "
        "JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') "
        "AND pg_table_is_visible(c.oid) AND t.tgname LIKE %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [PREFIX + "%"])
        return [(row[0], row[1], row[2]) for row in cursor.fetchall()]


def _statements(connection: BaseDatabaseWrapper, table: str, sealed: bool) -> list[str]:
    made = [definition for _, definition in expected(connection, table, sealed)]
    return [_postgresql_function(sealed), *made] if connection.vendor == "postgresql" else made


def expected(connection: BaseDatabaseWrapper, table: str, sealed: bool) -> list[tuple[str, str]]:
    """(name, definition) of every trigger that a guarded table has."""
    if connection.vendor == "sqlite":
        return _sqlite(connection, table, sealed)
    if connection.vendor == "postgresql":
        return _postgresql(table, sealed)
    raise NotImplementedError(f"There are no triggers for {connection.vendor}.")


def _sqlite(connection: BaseDatabaseWrapper, table: str, sealed: bool) -> list[tuple[str, str]]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL.format(table=table)}'); END"
    when = ""
    if sealed:
        with connection.cursor() as cursor:
            columns = [c.name for c in connection.introspection.get_table_description(cursor, table)]
        same = [f'NEW."{c}" IS OLD."{c}"' for c in columns if c != "seal_id"]
        sealing = ['OLD."seal_id" IS NULL', 'NEW."seal_id" IS NOT NULL', *same]
        when = f"WHEN NOT ({' AND '.join(sealing)}) "
    update, delete = f"{PREFIX}{table}_update", f"{PREFIX}{table}_delete"
    return [
        (update, f'CREATE TRIGGER "{update}" BEFORE UPDATE ON "{table}" {when}{refuse}'),
        (delete, f'CREATE TRIGGER "{delete}" BEFORE DELETE ON "{table}" {refuse}'),
    ]


def _postgresql(table: str, sealed: bool) -> list[tuple[str, str]]:
    row, whole = f"{PREFIX}{table}_row", f"{PREFIX}{table}_truncate"
    call = f"EXECUTE FUNCTION {function_name(sealed)}()"
    return [
        (row, f'CREATE TRIGGER "{row}" BEFORE UPDATE OR DELETE ON "{table}" FOR EACH ROW {call}'),
        (whole, f'CREATE TRIGGER "{whole}" BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT {call}'),
    ]


def function_name(sealed: bool) -> str:
    return "append_only_but_seal" if sealed else "append_only"


def _postgresql_function(sealed: bool) -> str:
    return (
        f"CREATE OR REPLACE FUNCTION {function_name(sealed)}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$${function_source(sealed)}$$"
    )


def function_source(sealed: bool) -> str:
    """What the function says that the triggers of PostgreSQL call."""
    sealing = """
        IF TG_OP = 'UPDATE' THEN
            IF OLD.seal_id IS NULL AND NEW.seal_id IS NOT NULL THEN
                as_before := NEW;
                as_before.seal_id := NULL;
                IF as_before IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
            END IF;
        END IF;"""
    return f"""
        DECLARE as_before record;
        BEGIN{sealing if sealed else ""}
            RAISE EXCEPTION '{REFUSAL.format(table="%")}', TG_TABLE_NAME
                USING ERRCODE = 'integrity_constraint_violation';
        END """
