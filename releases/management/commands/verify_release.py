"""`manage.py verify_release`: whether a release's folder is what its manifest says."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from releases.manifest import findings


class Command(BaseCommand):
    help = "Check every file of a release against its manifest; finds one changed byte, a missing or an added file."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dir", type=Path, metavar="DIR")

    def handle(self, *args: Any, dir: Path, **options: Any) -> None:
        if not dir.is_dir():
            raise CommandError(f"{dir} is no folder.")
        found = list(findings(dir))
        for line in found:
            self.stderr.write(line)
        if found:
            raise CommandError(f"{dir} is not as it was released: {len(found)} finding{'s' * (len(found) > 1)}.")
        self.stdout.write(f"{dir} is as it was released.")
