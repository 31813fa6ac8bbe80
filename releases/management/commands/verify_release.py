"""`manage.py verify_release`: whether a release's folder is what was released."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from releases.folders import anywhere
from releases.keeping import kept


class Command(BaseCommand):
    help = anywhere.VERIFY
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        anywhere.verify_arguments(parser)

    def handle(self, *args: Any, dir: Path, digest: str | None = None, **options: Any) -> None:
        try:
            report = anywhere.looked_at(dir, digest)
        except anywhere.BadInput as wrong:
            raise CommandError(str(wrong), returncode=anywhere.WRONG) from None
        kept.look_up(dir, report)
        if failure := anywhere.tell(report, dir, self.stdout.write):
            raise CommandError(failure, returncode=anywhere.FOUND)
