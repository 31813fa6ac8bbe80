"""Command that restores a backup."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from operations.backups.actions import restore


class Command(BaseCommand):
    help = (
        "Check a backup, restore it into an empty installation, run the migrations, and verify "
        "the audit trail and releases. The exit status is 1 if a check fails. Stop web and "
        "workers first."
    )
    # Before the first migration, most system checks do not apply.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", type=Path, metavar="FILE")
        parser.add_argument(
            "--replace",
            default="",
            metavar="NAME",
            help="Name of the database, as confirmation that its data is replaced.",
        )
        parser.add_argument(
            "--discard", action="store_true", help="With --replace: do not back up the replaced data first."
        )

    def handle(self, *args: Any, source: Path, replace: str, discard: bool, **options: Any) -> None:
        try:
            result = restore(source=source, replace=replace, keep=not discard)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        if result.before:
            self.stdout.write(f"The previous data is stored in {result.before}")
        made = result.manifest
        self.stdout.write(f"Restored: {sum(made['rows'].values())} rows and {len(made['files']) - 1} files.")
        if result.migrated:
            self.stdout.write(f"Migrations run: {result.migrated}.")
        for finding in result.findings:
            self.stderr.write(finding)
        if result.findings:
            count = len(result.findings)
            outcome = "1 check failed" if count == 1 else f"{count} checks failed"
            raise CommandError(f"Restored, but {outcome}.", returncode=1)
        self.stdout.write(
            f"Verified: {result.audit_rows} audit rows, none changed; head: checkpoint "
            f"{made['audit_head']['number']}; {result.releases} releases are unchanged."
        )
