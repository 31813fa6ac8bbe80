"""``consistency``: labels that look wrong, each with its reason."""

import json
import sys
from argparse import ArgumentParser
from itertools import groupby
from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from annotation.actions.consistency import find, keep
from measures.consistency import RULES
from projects.management.arguments import project_of


class Command(BaseCommand):
    help = (
        "Check the labels, relations, tuples and counterfactuals in force, and print what looks wrong, rule by rule, "
        "the most telling first. Findings are kept for the Consistency page unless --dry-run is given."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument("--dry-run", action="store_true", help="print only, keep nothing")

    def handle(self, *, project: str, format: str, dry_run: bool, **options: Any) -> None:
        of = project_of(project)
        with tqdm(disable=not sys.stderr.isatty(), leave=False) as bar:

            def progress(done: int, total: int | None, note: str) -> None:
                bar.total, bar.n = total, done
                bar.set_description(note, refresh=True)

            found, units = find(of, progress)
        if not dry_run:
            keep(project=of, found=found, units=units)
        if format == "json":
            rows = [{"rule": f.rule, "unit": f.unit, "units": list(f.units), "reason": f.reason,
                     "weight": f.weight, "information": f.is_information} for f in found]  # fmt: skip
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=1))
            return
        titles = {rule.key: rule.title for rule in RULES}
        for rule, some in groupby(found, key=lambda f: f.rule):
            mine = list(some)
            self.stdout.write(f"{titles[rule]} ({len(mine)})")
            for one in mine:
                mark = " (information)" if one.is_information else ""
                self.stdout.write(f"  {one.unit}: {one.reason}{mark}")
        self.stdout.write(f"{len(found)} findings." if found else "Nothing looks wrong.")
