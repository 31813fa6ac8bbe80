"""`manage.py diff_releases`: what changed from one release to another."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from releases.diffs import differences
from releases.manifest import NAME


class Command(BaseCommand):
    help = "Count the rows added, removed and changed between two releases, file by file, and name the first ones."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("old", type=Path, metavar="A")
        parser.add_argument("new", type=Path, metavar="B")

    def handle(self, *args: Any, old: Path, new: Path, **options: Any) -> None:
        for folder in (old, new):
            if not (folder / NAME).is_file():
                raise CommandError(f"{folder} is no release: it has no {NAME}.")
        for difference in differences(old, new):
            if difference.same:
                self.stdout.write(f"{difference.path}: the same")
                continue
            self.stdout.write(
                f"{difference.path}: {difference.added} added, {difference.removed} removed, "
                f"{difference.changed} changed ({', '.join(difference.keys)})"
            )
