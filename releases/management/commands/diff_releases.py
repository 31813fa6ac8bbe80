"""`manage.py diff_releases`: compare two releases."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ...folders import standalone


class Command(BaseCommand):
    help = standalone.DIFF
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        standalone.diff_arguments(parser)

    def handle(self, *args: Any, old: Path, new: Path, format: str, **options: Any) -> None:
        try:
            for line in standalone.compared(old, new, format):
                self.stdout.write(line)
        except standalone.BadInput as wrong:
            raise CommandError(str(wrong), returncode=standalone.WRONG) from None
