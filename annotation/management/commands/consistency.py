"""``consistency``: print current values that look wrong, each with a reason."""

from argparse import ArgumentParser
from itertools import groupby
from typing import Any

from django.core.management.base import BaseCommand

from measures.consistency import RULES
from projects.management.arguments import add_format, project_of, write_json
from projects.management.progress import progress_bar

from ...consistency.actions import find_inconsistencies, store_findings


class Command(BaseCommand):
    help = (
        "Check the current labels, relations, tuples and counterfactuals, and print the findings "
        "by rule, the strongest "
        "first. The findings appear on the Consistency page unless --dry-run is given."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        add_format(parser)
        parser.add_argument("--dry-run", action="store_true", help="print the findings without storing them")

    def handle(self, *, project: str, format: str, dry_run: bool, **options: Any) -> None:
        of = project_of(project)
        with progress_bar() as progress:
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
            write_json(self.stdout, rows)
            return
        titles = {rule.key: rule.title for rule in RULES}
        for rule, group in groupby(findings, key=lambda f: f.rule):
            of_rule = list(group)
            self.stdout.write(f"{titles[rule]} ({len(of_rule)})")
            for finding in of_rule:
                mark = " (information)" if finding.is_information else ""
                self.stdout.write(f"  {finding.unit}: {finding.reason}{mark}")
        self.stdout.write(f"{len(findings)} findings." if findings else "No findings.")
