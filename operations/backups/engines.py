"""Dump and load of a consistent database snapshot during concurrent writes, for SQLite and PostgreSQL."""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from django.db import connection, transaction
from django.db.backends.postgresql.client import DatabaseClient

from api.problems import Refused

from .archive import BadArchive

#: Number of pages between two progress reports.
PAGES = 2_000
#: Seconds that a restore waits for another process to release an SQLite file.
WAIT = 60.0


class NoTool(Refused):
    """A program of the database is not installed."""

    type = "program-missing"
    title = "Required program not installed"


class Engine(Protocol):
    """Backup operations of a database engine."""

    name: str
    file: str

    def dump(self, target: Path, step: Callable[[int, int], None]) -> dict[str, Any]:
        """Write a consistent snapshot to a new file. Return its row counts, migrations and audit head."""
        ...

    def load(self, source: Path) -> None:
        """Replace the contents of the database by the file, atomically."""
        ...


def engine() -> Engine:
    """Return the engine of the configured database."""
    return Postgres() if connection.vendor == "postgresql" else Sqlite()


def name() -> str:
    """Return the database name as administrators know it; for SQLite, the file name."""
    called = str(connection.settings_dict["NAME"])
    return Path(called).name if connection.vendor == "sqlite" else called


Query = Callable[[str], list[tuple[Any, ...]]]


def facts(query: Query, tables: list[str]) -> dict[str, Any]:
    """Return the facts about a database for the manifest, using ``query``."""
    existing = set(tables)
    # Databases of earlier versions have the second name.
    table = next((name for name in ("audit_checkpoint", "audit_seal") if name in existing), "")
    head = query(f"SELECT number, digest FROM {table} ORDER BY number DESC LIMIT 1") if table else []
    migrations = query("SELECT app, name FROM django_migrations ORDER BY id") if "django_migrations" in existing else []
    return {
        "rows": {table: query(f'SELECT COUNT(*) FROM "{table}"')[0][0] for table in sorted(tables)},
        "migrations": [[app, name] for app, name in migrations],
        "audit_head": {"number": head[0][0], "digest": head[0][1]} if head else {"number": 0, "digest": "0" * 64},
    }


def facts_now() -> dict[str, Any]:
    """Return the facts about the configured database."""

    def query(sql: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    return facts(query, connection.introspection.table_names())


class Sqlite:
    """Use SQLite's online backup API, which copies a snapshot during reads and writes."""

    name, file = "sqlite", "database.sqlite3"

    def dump(self, target: Path, step: Callable[[int, int], None]) -> dict[str, Any]:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with _opened(str(connection.settings_dict["NAME"])) as source, _opened(str(target)) as copy:
            # An open read keeps the snapshot. Without it, each commit of another process restarts the copy.
            source.execute("BEGIN")
            source.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            source.backup(copy, pages=PAGES, progress=lambda _, left, total: step(total - left, total))
            source.execute("ROLLBACK")
            copy.execute("PRAGMA journal_mode = DELETE")  # a single file without a WAL
            tables = [row[0] for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return facts(lambda sql: copy.execute(sql).fetchall(), [t for t in tables if not t.startswith("sqlite_")])

    def load(self, source: Path) -> None:
        try:
            with _opened(str(source)) as copy:
                sound = copy.execute("PRAGMA integrity_check").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise BadArchive(f"{self.file} in the backup is not a database: {error}.") from error
        if sound != "ok":
            raise BadArchive(f"{self.file} in the backup is damaged: {sound}.")
        connection.close()
        try:
            with _opened(str(source)) as copy, _opened(str(connection.settings_dict["NAME"])) as target:
                # One transaction: readers see the previous or the new state.
                copy.backup(target, progress=_within(WAIT))
                target.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            raise Refused(f"The database was not changed: {error}. Stop web and workers first.") from error


def _within(seconds: float) -> Callable[[int, int, int], None]:
    """Return a progress callback that ends the copy after a timeout. It would otherwise wait forever for a writer."""
    end = time.monotonic() + seconds

    def progress(*_: int) -> None:
        if time.monotonic() > end:
            raise sqlite3.OperationalError("another process has it locked")

    return progress


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(path, timeout=30, isolation_level=None)
    try:
        yield opened
    finally:
        opened.close()


class Postgres:
    """Use pg_dump with an exported snapshot. Restore with psql in one transaction."""

    name, file = "postgresql", "database.dump"

    def dump(self, target: Path, step: Callable[[int, int], None]) -> dict[str, Any]:
        program = _program("pg_dump")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            [snapshot] = cursor.fetchone()
            found = facts_now()
            _run(
                [
                    program,
                    "--format=custom",
                    "--no-owner",
                    "--no-privileges",
                    f"--snapshot={snapshot}",
                    f"--file={target}",
                ]
            )
        return found

    def load(self, source: Path) -> None:
        script = source.with_suffix(".sql")
        _run([_program("pg_restore"), "--no-owner", "--no-privileges", f"--file={script}", str(source)], bare=True)
        psql = _program("psql")
        connection.close()
        with script.open("rb") as lines:
            _run(
                [
                    psql,
                    "--no-psqlrc",
                    "--quiet",
                    "--single-transaction",
                    "--set=ON_ERROR_STOP=1",
                    "--output=/dev/null",
                    "--command",
                    EMPTY,
                    "--file=-",
                ],
                stdin=lines,
            )
        script.unlink()


#: Drops all tables and functions in the current schema, because the backup may be older and have other tables.
EMPTY = """DO $$
DECLARE found record;
BEGIN
    SET LOCAL client_min_messages = warning;
    FOR found IN SELECT c.relname AS called FROM pg_class c
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', found.called);
    END LOOP;
    FOR found IN SELECT p.oid::regprocedure AS called FROM pg_proc p
        WHERE p.pronamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') LOOP
        EXECUTE 'DROP FUNCTION IF EXISTS ' || found.called || ' CASCADE';
    END LOOP;
END $$"""


def _program(name: str) -> str:
    found = shutil.which(name)
    if not found:
        raise NoTool(
            f"{name} is not installed. Install the PostgreSQL client (Debian: postgresql-client) in "
            "the server's version or a later one."
        )
    return found


def _run(command: list[str], *, stdin: Any = subprocess.DEVNULL, bare: bool = False) -> None:
    """Run a PostgreSQL program with connection options. Passwords are passed in the environment, never as options."""
    options, environment = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    where = [] if bare else [*options[1:-1], f"--dbname={options[-1]}"]
    done = subprocess.run(
        [command[0], *where, *command[1:]],
        env={**os.environ, **(environment or {})},
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise Refused(f"{Path(command[0]).name} failed: {' '.join(lines[:3]) or f'exit code {done.returncode}'}")
