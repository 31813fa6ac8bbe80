"""Check that the triggers of guarded tables are unchanged, and that there are no others.

The owner of the database can remove triggers or change what they do. The check therefore compares what would run: on
SQLite the complete text of each trigger, on PostgreSQL its events and the source of its function.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from .triggers import expected, function_source, guarded_tables, install

MISSING = "triggers that prevent changes are missing"
CHANGED = "triggers that prevent changes differ from those that Concord installs"
#: Values of pg_trigger.tgtype: BEFORE UPDATE OR DELETE for each row; BEFORE TRUNCATE for each statement.
_ROW, _STATEMENT = 1 | 2 | 8 | 16, 2 | 32


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
    read_faults = {"sqlite": _sqlite, "postgresql": _postgresql}[connection.vendor]
    return read_faults(connection, guarded)


def _sqlite(connection: BaseDatabaseWrapper, guarded: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    by_table: dict[str, dict[str, str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' "
            "UNION ALL SELECT tbl_name, name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
        )
        for table, name, definition in cursor.fetchall():
            by_table.setdefault(table, {})[name] = definition
    for table, is_leaf in sorted(guarded.items()):
        required, existing = dict(expected(connection, table, is_leaf)), by_table.get(table, {})
        if set(required) - set(existing):
            yield table, MISSING
        elif any(existing[name] != definition for name, definition in required.items()):
            yield table, CHANGED
        yield from ((table, _unknown_message(f"trigger {name}")) for name in sorted(set(existing) - set(required)))


def _postgresql(connection: BaseDatabaseWrapper, guarded: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
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
