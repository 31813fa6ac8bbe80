"""Whether the data base still refuses what it is to refuse: the triggers are as they were installed, and alone.

Whoever owns the data base can take them away, or leave them and change what they do. What is compared here is therefore
what would run: on SQLite the whole text of each trigger, on PostgreSQL what it fires at and the source of its function.
"""

from collections.abc import Iterator
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from .triggers import expected, function_source, guarded_tables

MISSING = "the triggers that refuse changes are missing"
OTHERWISE = "the triggers that refuse changes are not up to date"
#: pg_trigger.tgtype: before, a row, update or delete; before, a statement, truncate.
_ROW, _STATEMENT = 1 | 2 | 8 | 16, 2 | 32


def faults(connection: BaseDatabaseWrapper) -> list[str]:
    """What of the protection is missing, disabled or not what it should be, and what is there besides, in words."""
    look = {"sqlite": _sqlite, "postgresql": _postgresql}[connection.vendor]
    return list(look(connection))


def _sqlite(connection: BaseDatabaseWrapper) -> Iterator[str]:
    found: dict[str, dict[str, str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' "
            "UNION ALL SELECT tbl_name, name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
        )
        for table, name, definition in cursor.fetchall():
            found.setdefault(table, {})[name] = definition
    for table, sealed in sorted(guarded_tables().items()):
        wanted, there = dict(expected(connection, table, sealed)), found.get(table, {})
        if set(wanted) - set(there):
            yield f"table {table}: {MISSING}"
        elif any(there[name] != definition for name, definition in wanted.items()):
            yield f"table {table}: {OTHERWISE}"
        yield from (_strange(table, f"trigger {name}") for name in sorted(set(there) - set(wanted)))


def _postgresql(connection: BaseDatabaseWrapper) -> Iterator[str]:
    found: dict[str, dict[str, tuple[Any, ...]]] = {}
    rules: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, t.tgname, c.relkind::text, t.tgtype, t.tgenabled::text, t.tgqual IS NULL, "
            "t.tgattr::text, p.prosrc, l.lanname, p.prosecdef, p.proconfig IS NULL "
            "FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
            "JOIN pg_language l ON l.oid = p.prolang WHERE NOT t.tgisinternal AND pg_table_is_visible(c.oid)"
        )
        for table, name, *what in cursor.fetchall():
            found.setdefault(table, {})[name] = tuple(what)
        cursor.execute("SELECT tablename, rulename FROM pg_rules WHERE tablename = ANY(%s)", [list(guarded_tables())])
        for table, rule in cursor.fetchall():
            rules.setdefault(table, []).append(rule)
        # Under this role ordinary triggers do not fire; set for a role or a data base, it holds for every connection.
        cursor.execute(
            "SELECT current_setting('session_replication_role') <> 'origin' OR EXISTS (SELECT 1 FROM "
            "pg_db_role_setting WHERE array_to_string(setconfig, ' ') LIKE '%%session_replication_role=%%')"
        )
        if cursor.fetchone() == (True,):
            yield "session_replication_role is set: triggers do not fire under it"
    for table, sealed in sorted(guarded_tables().items()):
        names = [name for name, _ in expected(connection, table, sealed)]
        function = (function_source(sealed), "plpgsql", False, True)
        wanted = {
            name: ("r", type, "O", True, "", *function) for name, type in zip(names, (_ROW, _STATEMENT), strict=True)
        }
        there = found.get(table, {})
        if any(name not in there or there[name][2] in "DR" for name in wanted):
            yield f"table {table}: {MISSING}"
        elif any(there[name] != what for name, what in wanted.items()):
            yield f"table {table}: {OTHERWISE}"
        yield from (_strange(table, f"trigger {name}") for name in sorted(set(there) - set(wanted)))
        yield from (_strange(table, f"rule {name}") for name in sorted(rules.get(table, [])))


def _strange(table: str, what: str) -> str:
    return f"table {table}: the {what} is not Concord's"
