"""Triggers on SQLite and PostgreSQL that make tables append-only.

The tables are those of models that extend `audit.models.AppendOnly`. In the table of a `Leaf` a row can change once:
its checkpoint is set and all other columns stay the same. Other tables accept inserts only.

``migrate`` installs missing and outdated triggers at its end (`protection.install_missing`), so a migration needs no
line for them. On SQLite many schema changes rebuild a table, which drops its triggers until then. ``verify_audit``
reports missing triggers (`protection.trigger_faults`).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.operations.base import Operation

from .models import AppendOnly, Leaf

PREFIX = "append_only_"
REFUSAL = "rows of {table} are never changed or deleted"


def guarded_tables() -> dict[str, bool]:
    """Return the tables of all append-only models, and whether each is that of a leaf."""
    models = (model for model in apps.get_models() if issubclass(model, AppendOnly))
    return {model._meta.db_table: issubclass(model, Leaf) for model in models}


class RemoveTriggers(Operation):
    """Migration operation that removes the triggers of some tables until the end of ``migrate``.

    For migrations that change rows of these tables or drop one of their columns.
    """

    reduces_to_sql = False

    def __init__(self, *tables: str) -> None:
        self.tables = tables

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__qualname__, list(self.tables), {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Leave the state unchanged: models have no triggers."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        remove(schema_editor.connection, self.tables)

    database_backwards = database_forwards


def install(connection: BaseDatabaseWrapper, tables: Iterable[str], *, is_leaf: bool) -> None:
    """Install the triggers of these tables, and replace existing ones."""
    tables = list(tables)
    remove(connection, tables)
    with connection.cursor() as cursor:
        for table in tables:
            for statement in _statements(connection, table, is_leaf):
                cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper, tables: Iterable[str]) -> None:
    """Remove the triggers of these tables."""
    wanted = set(tables)
    with connection.cursor() as cursor:
        for table, name, _ in _existing_triggers(connection):
            if table in wanted:
                cursor.execute(_drop(connection, table, name))


@contextmanager
def suspend_triggers(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Remove all triggers in the context and restore them afterwards. Used by tests that empty the tables."""
    present = _existing_triggers(connection)
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


def _existing_triggers(connection: BaseDatabaseWrapper) -> list[tuple[str, str, str]]:
    """Return (table, trigger, definition) of the existing triggers; on PostgreSQL only of enabled ones."""
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


def _statements(connection: BaseDatabaseWrapper, table: str, is_leaf: bool) -> list[str]:
    definitions = [definition for _, definition in expected(connection, table, is_leaf)]
    return [_postgresql_function(is_leaf), *definitions] if connection.vendor == "postgresql" else definitions


def expected(connection: BaseDatabaseWrapper, table: str, is_leaf: bool) -> list[tuple[str, str]]:
    """Return (name, definition) of each trigger that a guarded table must have."""
    if connection.vendor == "sqlite":
        return _sqlite(connection, table, is_leaf)
    if connection.vendor == "postgresql":
        return _postgresql(table, is_leaf)
    raise NotImplementedError(
        f"Append-only triggers exist for SQLite and PostgreSQL only, not for {connection.vendor}."
    )


def _sqlite(connection: BaseDatabaseWrapper, table: str, is_leaf: bool) -> list[tuple[str, str]]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL.format(table=table)}'); END"
    when = ""
    if is_leaf:
        with connection.cursor() as cursor:
            columns = [c.name for c in connection.introspection.get_table_description(cursor, table)]
        same = [f'NEW."{c}" IS OLD."{c}"' for c in columns if c != "seal_id"]
        conditions = ['OLD."seal_id" IS NULL', 'NEW."seal_id" IS NOT NULL', *same]
        when = f"WHEN NOT ({' AND '.join(conditions)}) "
    update, delete = f"{PREFIX}{table}_update", f"{PREFIX}{table}_delete"
    return [
        (update, f'CREATE TRIGGER "{update}" BEFORE UPDATE ON "{table}" {when}{refuse}'),
        (delete, f'CREATE TRIGGER "{delete}" BEFORE DELETE ON "{table}" {refuse}'),
    ]


def _postgresql(table: str, is_leaf: bool) -> list[tuple[str, str]]:
    row, whole = f"{PREFIX}{table}_row", f"{PREFIX}{table}_truncate"
    call = f"EXECUTE FUNCTION {function_name(is_leaf)}()"
    return [
        (row, f'CREATE TRIGGER "{row}" BEFORE UPDATE OR DELETE ON "{table}" FOR EACH ROW {call}'),
        (whole, f'CREATE TRIGGER "{whole}" BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT {call}'),
    ]


def function_name(is_leaf: bool) -> str:
    return "append_only_but_seal" if is_leaf else "append_only"


def _postgresql_function(is_leaf: bool) -> str:
    return (
        f"CREATE OR REPLACE FUNCTION {function_name(is_leaf)}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$${function_source(is_leaf)}$$"
    )


def function_source(is_leaf: bool) -> str:
    """Return the source of the function that PostgreSQL triggers call. `Leaf.checkpoint` is stored in ``seal_id``."""
    conditions = """
        IF TG_OP = 'UPDATE' THEN
            IF OLD.seal_id IS NULL AND NEW.seal_id IS NOT NULL THEN
                as_before := NEW;
                as_before.seal_id := NULL;
                IF as_before IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
            END IF;
        END IF;"""
    return f"""
        DECLARE as_before record;
        BEGIN{conditions if is_leaf else ""}
            RAISE EXCEPTION '{REFUSAL.format(table="%")}', TG_TABLE_NAME
                USING ERRCODE = 'integrity_constraint_violation';
        END """
