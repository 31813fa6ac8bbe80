"""``consistency``: print current values that look wrong, each with a reason."""

import json
import sys
from argparse import ArgumentParser
from itertools import groupby
from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from measures.consistency import RULES
from projects.management.arguments import project_of

from ...consistency.actions import find_inconsistencies, store_findings


class Command(BaseCommand):
    help = (
        "Check the current labels, relations, tuples and counterfactuals, and print the findings "
        "by rule, the strongest "
        "first. The findings appear on the Consistency page unless --dry-run is given."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument("--dry-run", action="store_true", help="print the findings without storing them")

    def handle(self, *, project: str, format: str, dry_run: bool, **options: Any) -> None:
        of = project_of(project)
        with tqdm(disable=not sys.stderr.isatty(), leave=False) as bar:

            def progress(done: int, total: int | None, note: str) -> None:
                bar.total, bar.n = total, done
                bar.set_description(note, refresh=True)

            findings, units = find_inconsistencies(of, progress)
        if not dry_run:
            store_findings(project=of, sorted_findings=findings, units=units)
        if format == "json":
            rows = [
                {
                    "rule": f.rule,
                    "unit": f.unit,
                    "units": list(f.units),
                    "reason": f.reason,
                    "weight": f.weight,
                    "information": f.is_information,
                }
                for f in findings
            ]
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
            return
        titles = {rule.key: rule.title for rule in RULES}
        for rule, group in groupby(findings, key=lambda f: f.rule):
            of_rule = list(group)
            self.stdout.write(f"{titles[rule]} ({len(of_rule)})")
            for finding in of_rule:
                mark = " (information)" if finding.is_information else ""
                self.stdout.write(f"  {finding.unit}: {finding.reason}{mark}")
        self.stdout.write(f"{len(findings)} findings." if findings else "No findings.")
