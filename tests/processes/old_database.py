"""`python -m tests.processes.old_database NAME JSON`: fill a database of an earlier version, migrate it, and kill a
migration.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import django

#: Tables that Django fills.
DJANGOS = {"django_migrations", "django_content_type", "auth_permission", "django_session"}


def load(path: str) -> int:
    """Migrate an empty database as far as a file of rows needs, insert the rows, and return their number.

    Afterwards only the migrations of the last release are recorded, not those that replace them.
    """
    from django.db import connection, transaction

    from audit.triggers import install_missing

    with Path(path).open(encoding="utf-8") as lines:
        wanted = json.loads(next(lines))["migrations"]
        migrate(list(wanted.items()))
        _forget_replacements()
        rows = [json.loads(line) for line in lines]
    booleans = {table: _booleans(table) for table in {table for table, _ in rows}}
    with transaction.atomic(), connection.cursor() as cursor:
        for table, row in rows:
            names = ", ".join(f'"{name}"' for name in row)
            values = [bool(v) if name in booleans[table] and v is not None else v for name, v in row.items()]
            marks = ", ".join(["%s"] * len(row))
            cursor.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', values)
        for table in booleans if connection.vendor == "postgresql" else ():
            _go_on_counting(cursor, table)
    install_missing(connection)
    return len(rows)


def _forget_replacements() -> None:
    from django.db import connection
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.recorder import MigrationRecorder

    for key, migration in MigrationLoader(None).disk_migrations.items():
        if migration.replaces:
            MigrationRecorder(connection).record_unapplied(*key)


def _booleans(table: str) -> set[str]:
    from django.db import connection

    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, table)
    if connection.vendor != "postgresql":
        return set()
    return {c.name for c in described if connection.introspection.get_field_type(c.type_code, c) == "BooleanField"}


def _go_on_counting(cursor: Any, table: str) -> None:
    from django.db import connection

    for sequence in connection.introspection.get_sequences(cursor, table):
        column = sequence["column"]
        cursor.execute(
            f'SELECT setval(pg_get_serial_sequence(%s, %s), (SELECT MAX("{column}") FROM "{table}"))',
            [f'"{table}"', column],
        )


def rows() -> dict[str, dict[str, dict[str, str]]]:
    """Return every row: table -> primary key -> column -> value."""
    from django.db import connection

    found: dict[str, dict[str, dict[str, str]]] = {}
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names()) - DJANGOS):
            key = connection.introspection.get_primary_key_column(cursor, table)
            cursor.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                values = {name: repr(value) for name, value in zip(names, row, strict=True)}
                found.setdefault(table, {})[values[str(key)]] = values
    return found


def migrate(targets: list[Any] | None = None) -> None:
    """Migrate forwards or backwards, to the newest migrations or to (app, name) pairs. Replaced names are accepted."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    leaves = executor.loader.graph.leaf_nodes()
    replacements = {old: key for key, m in executor.loader.disk_migrations.items() for old in m.replaces}
    wanted = [replacements.get(tuple(t), tuple(t)) for t in targets] if targets else leaves
    named = {app for app, _ in wanted}
    # Other apps of Django migrate too.
    rest = [leaf for leaf in leaves if leaf[0] not in named and leaf[0] in DJANGOS_APPS]
    executor.migrate(wanted + rest)


DJANGOS_APPS = {"admin", "auth", "axes", "contenttypes", "sessions"}


def ahead(path: str) -> dict[str, Any]:
    """Return the migrations that are newer than a file of rows, and the irreversible ones among them."""
    from django.db import connection
    from django.db.migrations.loader import MigrationLoader

    with Path(path).open(encoding="utf-8") as lines:
        wanted = json.loads(next(lines))["migrations"]
    loader = MigrationLoader(connection)
    new = {key: m for key, m in loader.disk_migrations.items() if key[0] in wanted and key[1] > wanted[key[0]]}
    fixed = [".".join(key) for key, m in new.items() if not all(o.reversible for o in m.operations)]
    return {"new": sorted(".".join(key) for key in new), "one_way": sorted(fixed)}


def die_in(number: int) -> None:
    """Migrate forward and die by SIGKILL inside the transaction of the ``number``-th migration, after its
    operations."""
    from django.core.management import call_command
    from django.db.migrations import Migration

    apply, count = Migration.apply, 0

    def apply_and_die(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        state = apply(self, *arguments, **options)
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return state

    Migration.apply = apply_and_die  # type: ignore[method-assign]
    call_command("migrate", verbosity=0)


def resume(project: str, round: str) -> dict[str, Any]:
    """Answer everything that is left in a round of an earlier version, and close it."""
    from projects.jobs.queries import claim_next
    from projects.jobs.running import run_job
    from projects.models import Decision, Round
    from projects.queue.actions import next_assignments
    from projects.rounds.actions import close_round
    from tests.builders import answer

    found = Round.objects.get(project__slug=project, name=round)
    answered = 0
    for participant in found.participants.filter(left_at=None):
        user = participant.member.user
        while held := next_assignments(user=user, round=found):
            answer(user, held[0])
            answered += 1
    before = Decision.objects.count()
    close_round(round=found, by=None)
    while (pk := claim_next()) is not None:
        run_job(pk)
    found.refresh_from_db()
    return {"answered": answered, "status": found.status, "decisions": Decision.objects.count() - before}


def main() -> None:
    django.setup()
    verb: Any = {f.__name__: f for f in (load, rows, migrate, ahead, die_in, resume)}[sys.argv[1]]
    json.dump(verb(**json.loads(sys.argv[2])), sys.stdout)


if __name__ == "__main__":
    main()
