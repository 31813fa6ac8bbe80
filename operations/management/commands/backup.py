"""`manage.py backup`: data base and files in one archive."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from operations.backups.actions import backup


class Command(BaseCommand):
    help = (
        "Write the data base, as it is at one moment, and all files (releases, uploads) into one new archive, with the "
        "SHA-256 of each. People may go on working. The secret key is not in it: keep that elsewhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="A new file, such as a.tar.gz.")

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        try:
            made = backup(out=out)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(
            f"{out}: {out.stat().st_size / 1e6:.1f} MB; {sum(made['rows'].values())} rows, "
            f"{len(made['files']) - 1} files. Audit head: seal {made['audit_head']['number']}, "
            f"{made['audit_head']['digest']}"
        )
