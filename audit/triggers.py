"""Triggers on SQLite and PostgreSQL that make tables append-only.

The tables are those of models that extend `audit.models.AppendOnly`. In the table of a `Leaf` a row can change once:
its checkpoint is set and all other columns stay the same. Other tables accept inserts only.

``migrate`` installs missing and outdated triggers at its end (`install_missing`), so a migration needs no line for
them. On SQLite many schema changes rebuild a table, which drops its triggers until then.

The owner of the database can remove triggers or change what they do. ``verify_audit`` and releases therefore compare
what would run (`trigger_faults`): on SQLite the complete text of each trigger, on PostgreSQL its events and the source
of its function.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.operations.base import Operation

from .models import AppendOnly, Leaf

PREFIX = "append_only_"
REFUSAL = "rows of {table} are never changed or deleted"
MISSING = "triggers that prevent changes are missing"
CHANGED = "triggers that prevent changes differ from those that Concord installs"
#: Values of pg_trigger.tgtype: BEFORE UPDATE OR DELETE for each row; BEFORE TRUNCATE for each statement.
_ROW, _STATEMENT = 1 | 2 | 8 | 16, 2 | 32


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
        return _sqlite_triggers(table, _sqlite_columns(connection)[table] if is_leaf else None)
    if connection.vendor == "postgresql":
        return _postgresql_triggers(table, is_leaf)
    raise NotImplementedError(
        f"Append-only triggers exist for SQLite and PostgreSQL only, not for {connection.vendor}."
    )


def _sqlite_columns(connection: BaseDatabaseWrapper) -> dict[str, list[str]]:
    """Return the columns of all tables, in one query."""
    columns: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' "
            "ORDER BY t.name, c.cid"
        )
        for table, column in cursor.fetchall():
            columns.setdefault(table, []).append(column)
    return columns


def _sqlite_triggers(table: str, columns: list[str] | None) -> list[tuple[str, str]]:
    """Return the triggers of a table. ``columns`` are those of a leaf, None for another table."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL.format(table=table)}'); END"
    when = ""
    if columns is not None:
        same = [f'NEW."{c}" IS OLD."{c}"' for c in columns if c != "seal_id"]
        conditions = ['OLD."seal_id" IS NULL', 'NEW."seal_id" IS NOT NULL', *same]
        when = f"WHEN NOT ({' AND '.join(conditions)}) "
    update, delete = f"{PREFIX}{table}_update", f"{PREFIX}{table}_delete"
    return [
        (update, f'CREATE TRIGGER "{update}" BEFORE UPDATE ON "{table}" {when}{refuse}'),
        (delete, f'CREATE TRIGGER "{delete}" BEFORE DELETE ON "{table}" {refuse}'),
    ]


def _postgresql_triggers(table: str, is_leaf: bool) -> list[tuple[str, str]]:
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


def trigger_faults(connection: BaseDatabaseWrapper) -> list[str]:
    """Return messages for missing, disabled, changed and unknown triggers."""
    return [f"table {table}: {fault}" if table else fault for table, fault in _faults(connection, guarded_tables())]


def install_missing(connection: BaseDatabaseWrapper) -> list[str]:
    """Install the triggers of tables on which they are missing or outdated, and return these tables."""
    # After a migration to an earlier state, tables of the current models can be missing.
    existing = set(connection.introspection.table_names())
    guarded = {table: is_leaf for table, is_leaf in guarded_tables().items() if table in existing}
    tables = sorted({table for table, fault in _faults(connection, guarded) if fault in (MISSING, CHANGED)})
    with transaction.atomic(using=connection.alias):
        for table in tables:
            install(connection, [table], is_leaf=guarded[table])
    return tables


def _faults(connection: BaseDatabaseWrapper, guarded: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    """Yield (table, message); the table is "" for a setting of the whole database."""
    read_faults = {"sqlite": _sqlite_faults, "postgresql": _postgresql_faults}[connection.vendor]
    return read_faults(connection, guarded)


def _sqlite_faults(connection: BaseDatabaseWrapper, guarded: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    by_table: dict[str, dict[str, str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' "
            "UNION ALL SELECT tbl_name, name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
        )
        for table, name, definition in cursor.fetchall():
            by_table.setdefault(table, {})[name] = definition
    columns = _sqlite_columns(connection)
    for table, is_leaf in sorted(guarded.items()):
        required = dict(_sqlite_triggers(table, columns[table] if is_leaf else None))
        existing = by_table.get(table, {})
        if set(required) - set(existing):
            yield table, MISSING
        elif any(existing[name] != definition for name, definition in required.items()):
            yield table, CHANGED
        yield from ((table, _unknown_message(f"trigger {name}")) for name in sorted(set(existing) - set(required)))


def _postgresql_faults(connection: BaseDatabaseWrapper, guarded: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    by_table: dict[str, dict[str, tuple[Any, ...]]] = {}
    rules: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, t.tgname, c.relkind::text, t.tgtype, t.tgenabled::text, t.tgqual IS NULL, "
            "t.tgattr::text, p.prosrc, l.lanname, p.prosecdef, p.proconfig IS NULL "
            "FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
            "JOIN pg_language l ON l.oid = p.prolang WHERE NOT t.tgisinternal AND pg_table_is_visible(c.oid)"
        )
        for table, name, *properties in cursor.fetchall():
            by_table.setdefault(table, {})[name] = tuple(properties)
        cursor.execute("SELECT tablename, rulename FROM pg_rules WHERE tablename = ANY(%s)", [list(guarded)])
        for table, rule in cursor.fetchall():
            rules.setdefault(table, []).append(rule)
        # With this setting ordinary triggers do not fire. Set for a role or database, it applies to every connection.
        cursor.execute(
            "SELECT current_setting('session_replication_role') <> 'origin' OR EXISTS (SELECT 1 FROM "
            "pg_db_role_setting WHERE array_to_string(setconfig, ' ') LIKE '%%session_replication_role=%%')"
        )
        if cursor.fetchone() == (True,):
            yield "", "session_replication_role is set, so triggers do not fire: reset it"
    for table, is_leaf in sorted(guarded.items()):
        names = [name for name, _ in expected(connection, table, is_leaf)]
        function = (function_source(is_leaf), "plpgsql", False, True)
        required = {
            name: ("r", type, "O", True, "", *function) for name, type in zip(names, (_ROW, _STATEMENT), strict=True)
        }
        existing = by_table.get(table, {})
        if any(name not in existing or existing[name][2] in "DR" for name in required):
            yield table, MISSING
        elif any(existing[name] != properties for name, properties in required.items()):
            yield table, CHANGED
        yield from ((table, _unknown_message(f"trigger {name}")) for name in sorted(set(existing) - set(required)))
        yield from ((table, _unknown_message(f"rule {name}")) for name in sorted(rules.get(table, [])))


def _unknown_message(what: str) -> str:
    return f"the {what} was not installed by Concord"
