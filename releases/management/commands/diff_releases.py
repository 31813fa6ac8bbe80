"""`manage.py diff_releases`: what changed from one release to another."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from releases.folders import anywhere


class Command(BaseCommand):
    help = anywhere.DIFF
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        anywhere.diff_arguments(parser)

    def handle(self, *args: Any, old: Path, new: Path, **options: Any) -> None:
        try:
            for line in anywhere.compared(old, new):
                self.stdout.write(line)
        except anywhere.BadInput as wrong:
            raise CommandError(str(wrong), returncode=anywhere.WRONG) from None
