"""``manage.py verify_audit``: is everything still as it was written?"""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from audit.actions import head
from audit.verify import findings, rows_to_check


def _advance(bar: "tqdm[Any]", rows: int) -> None:
    bar.update(rows)


class Command(BaseCommand):
    help = (
        "Compute every digest of the audit log, the answers and the decisions again, and the chain of seals that "
        "binds them. Prints one line for everything that was changed and exits with 1, or the head of the chain."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--head", default="", help="a head noted elsewhere (64 hex digits) that must be in the chain"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        total = rows_to_check()
        count = 0
        with tqdm(total=total, unit="row", disable=not sys.stderr.isatty()) as bar:
            for finding in findings(lambda n: _advance(bar, n), expected_head=options["head"].strip().lower()):
                count += 1
                bar.clear()
                self.stderr.write(str(finding))
        if count:
            raise CommandError(f"{count} findings: the record is not as it was written.", returncode=1)
        last = head()
        self.stdout.write(f"{total} rows are as they were written. Head: seal {last.number}, {last.digest}")
