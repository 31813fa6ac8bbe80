"""``evidence``: rank sentences for targets, and print the accuracy of each ranker."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.rankers import every
from api.problems import Problem
from projects.management.arguments import add_format, project_of, write_json
from projects.management.progress import progress_bar

from ...evidence.actions import rank
from ...evidence.queries import evaluation


class Command(BaseCommand):
    help = (
        "Rank the sentences of studies for the target sentences of their reviews (--ranker). Then print how often a "
        "sentence that people selected as evidence is ranked first or among the first three, compared with position "
        "and chance. A second run ranks only the remaining pairs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--ranker", choices=[ranker.key for ranker in every()], help="rank the sentences with this ranker first"
        )
        parser.add_argument("--model", default="", help="for embeddings: a folder below the models folder")
        parser.add_argument(
            "--against", default="", help="name of the ranker that the others are compared with (the most accurate)"
        )
        add_format(parser)

    def handle(self, *, project: str, ranker: str | None, model: str, against: str, **options: Any) -> None:
        of = project_of(project)
        if ranker:
            with progress_bar() as progress:
                try:
                    result = rank(project=of, ranker=ranker, model=model, progress=progress)
                except Problem as problem:
                    raise CommandError(str(problem.detail)) from problem
            out = self.stderr if options["format"] == "json" else self.stdout
            out.write(f"{result['ranked']:,} of {result['pairs']:,} pairs ranked by {result['ranker']}.", str)
        try:
            figures = evaluation(of, against)
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        if options["format"] == "json":
            write_json(self.stdout, figures)
            return
        self.stdout.write(
            f"{figures['mapped']:,} of {figures['pairs']:,} pairs mapped by people; excluded: {figures['not_found']:,} "
            f"inputs that are not a sentence of their abstract, {figures['no_abstract']:,} inputs without an abstract."
        )
        self._say("Position in the abstract", figures["baseline"]["position"])
        for name, n in (("Chance, first", 1), ("Chance, first three", 3)):
            value = figures["baseline"][f"chance_{n}"]
            self.stdout.write(f"{name}: {'-' if value is None else f'{value:.3f}'}")
        for ranking in figures["rankings"]:
            self._say(f"{ranking['ranker']}: first", ranking["report"]["top_1"])
            self._say(f"{ranking['ranker']}: first three", ranking["report"]["top_3"])
            for difference, what in zip(ranking["differences"], ("first", "first three"), strict=False):
                p = "" if difference["p"] is None else f", p = {difference['p']:.3f}"
                self._say(f"{ranking['ranker']}: {what}, minus {figures['against']}{p}", difference)

    def _say(self, name: str, share: dict[str, Any]) -> None:
        if share["value"] is None:
            self.stdout.write(f"{name}: - ({share['undefined']})")
            return
        interval = f"[{share['ci'][0]:.3f}, {share['ci'][1]:.3f}]" if share["ci"] else f"({share['ci_reason']})"
        self.stdout.write(f"{name}: {share['value']:.3f} {interval}, n = {share['n']:,}, {share['clusters']:,} reviews")
