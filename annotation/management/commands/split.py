"""``split``: divide a data set into parts without leakage, or report the leakage of parts that it has."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import SplitLevel, SplitMode
from api.problems import Problem
from projects.management.arguments import add_format, project_of, write_json
from projects.management.progress import progress_bar

from ...splits.actions import compute_file, discard_split, store_split
from ...splits.computing import compute
from ...splits.parameters import STRATA, TOPICS, SplitParameters, parse_parts
from ...splits.printing import as_json, lines
from ...splits.queries import MAIN, current_splits


class Command(BaseCommand):
    help = (
        "Divide the units of a project into parts, such as train, dev and test. Units that share a review, a study or "
        "a text are a component, and a component stays in one part. Print components, deviations of strata and the "
        "leakage of each pair of parts. Releases have the split as splits/NAME.csv. A released split never changes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", default=MAIN, help=f"name of the split ({MAIN})")
        parser.add_argument("--level", default="", choices=["", *SplitLevel.values], help="units (the finest level)")
        parser.add_argument("--parts", default="train=80,dev=10,test=10", help="shares in percent")
        parser.add_argument("--mode", choices=SplitMode.values, default=SplitMode.STRICT)
        parser.add_argument("--drop", nargs="+", default=[], metavar="REVIEW", help="for drop: reviews that leave")
        parser.add_argument("--file", type=Path, help="for imported: CSV or JSON lines with unit (or review) and part")
        parser.add_argument("--strata", nargs="*", choices=STRATA, help="(each that can be in every part)")
        parser.add_argument("--topics", default="", choices=["", *TOPICS], help="(screening, else a column)")
        parser.add_argument("--encoder", default="", help="for topics from titles: a folder below the models folder")
        parser.add_argument("--topic-count", type=int, default=10, help="for topics from titles (10)")
        parser.add_argument("--near", type=float, metavar="0.8", help="similarity from which texts are near-equal")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--allow-empty", action="store_true", help="a part may lack a value of a stratum")
        parser.add_argument("--dry-run", action="store_true", help="print the report without storing the split")
        parser.add_argument("--discard", action="store_true", help="leave the split of this name out of later releases")
        add_format(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_of(options["project"])
        try:
            if options["discard"]:
                self._discard(project, options["name"])
                return
            asked = SplitParameters(
                name=options["name"],
                level=options["level"],
                mode=options["mode"],
                parts=parse_parts(options["parts"]),
                seed=options["seed"],
                strata=options["strata"],
                topics=options["topics"],
                encoder=options["encoder"],
                topic_count=options["topic_count"],
                near=options["near"],
                drop=tuple(options["drop"]),
                allow_empty=options["allow_empty"],
            )
            computed = self._compute(project, asked, options["file"])
            if not options["dry_run"]:
                store_split(project=project, asked=asked, computed=computed, by=None)
        except Problem as problem:
            faults = [f"{error['field']}: {error['message']}" for error in problem.errors]
            listed = faults if len(faults) > 1 else []
            raise CommandError("\n".join([str(problem.detail), *listed])) from problem
        if options["format"] == "json":
            write_json(self.stdout, as_json(asked, computed))
        else:
            for line in lines(asked, computed):
                self.stdout.write(line)

    def _compute(self, project: Any, asked: SplitParameters, file: Path | None) -> Any:
        if (asked.mode == SplitMode.IMPORTED) != (file is not None):
            raise CommandError("--mode imported and --file belong together.")
        with progress_bar() as progress:
            if file is None:
                return compute(project, asked, progress)
            if not file.is_file():
                raise CommandError(f"{file}: no such file.")
            return compute_file(project, asked, file, file.name, progress)

    def _discard(self, project: Any, name: str) -> None:
        split = next((one for one in current_splits(project) if one.name == name), None)
        if split is None:
            raise CommandError(f"This project has no split named {name}.")
        discard_split(split=split, by=None)
        self.stdout.write(f"{name} is in no later release.")
