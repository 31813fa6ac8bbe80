"""`manage.py verify_release`: verify the folder of a release."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ...folders import standalone
from ...storage import registry as storage_registry


class Command(BaseCommand):
    help = standalone.VERIFY
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        standalone.verify_arguments(parser)

    def handle(self, *args: Any, dir: Path, digest: str | None = None, **options: Any) -> None:
        try:
            report = standalone.looked_at(dir, digest)
        except standalone.BadInput as wrong:
            raise CommandError(str(wrong), returncode=standalone.WRONG) from None
        storage_registry.look_up(dir, report)
        if failure := standalone.tell(report, dir, self.stdout.write):
            raise CommandError(failure, returncode=standalone.FOUND)
