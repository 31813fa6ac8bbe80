"""``manage.py verify_audit``: verify the integrity of the audit log and of all rows that it covers."""

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
        "Recompute all digests of the audit log, answers and decisions, and the chain of audit checkpoints. Prints "
        "the head of the chain. If anything was changed, prints one line for each finding and exits with 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--head",
            default="",
            help="Digest of an audit checkpoint recorded elsewhere (64 hex digits). The chain must contain it.",
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
            raise CommandError(
                f"{count} finding{'s' * (count != 1)}: data or checkpoints were changed. Each is listed above.",
                returncode=1,
            )
        last = head()
        self.stdout.write(f"{total} rows verified, none changed. Head: checkpoint {last.number}, {last.digest}")
