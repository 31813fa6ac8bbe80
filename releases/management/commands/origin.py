"""`manage.py origin`: where a row of a release comes from."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ...folders import standalone


class Command(BaseCommand):
    help = standalone.ORIGIN
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        standalone.origin_arguments(parser)

    def handle(self, *args: Any, dir: Path, file: str, key: list[str], **options: Any) -> None:
        try:
            for line in standalone.traced(dir, file, " ".join(key)):
                self.stdout.write(line)
        except standalone.BadInput as wrong:
            raise CommandError(str(wrong), returncode=standalone.WRONG) from None
