"""`manage.py restore`: an installation as a backup has it."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from operations.backups.actions import restore


class Command(BaseCommand):
    help = (
        "Check every byte of a backup, restore it into an empty installation, migrate it forward, and verify audit and "
        "releases. Exits with 1 where something does not fit. Stop web and workers first."
    )
    # Before the first migration most system checks have nothing to look at.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", type=Path, metavar="FILE")
        parser.add_argument("--replace", default="", metavar="NAME", help="Lose what the data base of this name holds.")
        parser.add_argument(
            "--discard", action="store_true", help="With --replace: do not make a backup of what is lost first."
        )

    def handle(self, *args: Any, source: Path, replace: str, discard: bool, **options: Any) -> None:
        try:
            result = restore(source=source, replace=replace, keep=not discard)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        if result.before:
            self.stdout.write(f"What was here before is kept in {result.before}")
        made = result.manifest
        self.stdout.write(f"Restored: {sum(made['rows'].values())} rows and {len(made['files']) - 1} files.")
        if result.migrated:
            self.stdout.write(f"Migrated forward: {result.migrated} migrations.")
        for finding in result.findings:
            self.stderr.write(finding)
        if result.findings:
            count = len(result.findings)
            said = "1 thing is not as it should be" if count == 1 else f"{count} things are not as they should be"
            raise CommandError(f"Restored, but {said}.", returncode=1)
        self.stdout.write(
            f"Verified: {result.audit_rows} rows of the audit are as they were written, head seal "
            f"{made['audit_head']['number']}; {result.releases} releases are as they were released."
        )
