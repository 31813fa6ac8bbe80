"""Command that tests the restore of a backup into a temporary installation. This installation is not changed."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from api.problems import Problem
from operations.backups.actions import backup
from sql import expressions


class Command(BaseCommand):
    help = (
        "Make a backup, restore it into a temporary database and folder, verify the audit trail "
        "and releases there, print the durations, and remove everything again. On PostgreSQL the "
        "account needs permission to create databases."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--backup", type=Path, metavar="FILE", help="Test this backup instead of making one.")

    def handle(self, *args: Any, **options: Any) -> None:
        with tempfile.TemporaryDirectory(prefix="concord-drill-") as home, scratch(Path(home).resolve()) as environment:
            source: Path = options["backup"] or Path(home) / "backup.tar.gz"
            began = time.monotonic()
            if not options["backup"]:
                try:
                    made = backup(out=source)
                except Problem as problem:
                    raise CommandError(problem.detail) from problem
                self.stdout.write(
                    f"Backup: {source.stat().st_size / 1e6:.1f} MB in {time.monotonic() - began:.1f} s; "
                    f"{sum(made['rows'].values())} rows in {len(made['rows'])} tables, {len(made['files']) - 1} files."
                )
            began = time.monotonic()
            done = subprocess.run(
                [sys.executable, "manage.py", "restore", str(source.resolve())],
                cwd=settings.ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                text=True,
                check=False,
            )
            self.stdout.write(done.stdout.rstrip())
            if done.returncode:
                raise CommandError("The backup could not be restored; see above.", returncode=1)
            self.stdout.write(f"Drill passed: restored and verified in {time.monotonic() - began:.1f} s.")


@contextmanager
def scratch(home: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of an empty installation, which is removed afterwards."""
    environment = dict(os.environ) | {"DATA_DIR": str(home / "data"), "SECRET_KEY": settings.SECRET_KEY}
    if connection.vendor != "postgresql":
        yield environment | {"DATABASE_URL": f"sqlite:///{home / 'data' / 'concord.sqlite3'}"}
        return
    name = f"concord_drill_{os.getpid()}"
    try:
        with connection.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
    except DatabaseError as error:
        raise CommandError(f"The temporary database could not be created: {str(error).strip()}") from error
    try:
        yield environment | {"DATABASE_URL": expressions.database_url(name)}
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
