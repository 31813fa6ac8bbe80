"""Command that writes database and files into one archive."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from operations.backups.actions import backup


class Command(BaseCommand):
    help = (
        "Write a consistent copy of the database and all files (releases, uploads) with their "
        "SHA-256 into a new archive. Users can continue to work. The secret key is not included: "
        "store it separately."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--out", required=True, type=Path, metavar="FILE", help="Path of a new file, for example backup.tar.gz."
        )

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        try:
            made = backup(out=out)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(
            f"{out}: {out.stat().st_size / 1e6:.1f} MB; {sum(made['rows'].values())} rows, "
            f"{len(made['files']) - 1} files. Audit head: checkpoint {made['audit_head']['number']}, "
            f"{made['audit_head']['digest']}"
        )
