"""``evidence``: rank sentences for targets, and say how well rankers find what people took."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.actions.ranking import rank
from annotation.pages.evidence import overview
from annotation.rankers import every
from api.problems import Problem
from projects.management.arguments import project_of


class Command(BaseCommand):
    help = (
        "Rank the sentences of studies for the target sentences of their reviews (--ranker), and print how often a "
        "sentence that people took as evidence comes first or among the first three, beside position and chance. "
        "Called again, it ranks what is left."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--ranker", choices=[ranker.key for ranker in every()], help="rank with it first")
        parser.add_argument("--model", default="", help="for embeddings: a folder below the models' folder")

    def handle(self, *, project: str, ranker: str | None, model: str, **options: Any) -> None:
        of = project_of(project)
        if ranker:
            with tqdm(disable=not sys.stderr.isatty(), leave=False) as bar:

                def progress(done: int, total: int | None, note: str) -> None:
                    bar.total, bar.n = total, done
                    bar.set_description(note, refresh=True)

                try:
                    made = rank(project=of, ranker=ranker, model=model, progress=progress)
                except Problem as problem:
                    raise CommandError(str(problem.detail)) from problem
            self.stdout.write(f"{made['ranked']:,} of {made['pairs']:,} pairs ranked by {made['ranker']}.")
        found = overview(of)
        self.stdout.write(
            f"{found['mapped']:,} of {found['pairs']:,} pairs mapped by people; left out: {found['not_found']:,} "
            f"inputs that are no sentence of their abstract, {found['no_abstract']:,} without an abstract."
        )
        self._say("Position in the abstract", found["baseline"]["position"])
        for name, n in (("Chance, first", 1), ("Chance, first three", 3)):
            value = found["baseline"][f"chance_{n}"]
            self.stdout.write(f"{name}: {'-' if value is None else f'{value:.3f}'}")
        for one in found["rankings"]:
            self._say(f"{one['ranker']}: first", one["report"]["top_1"])
            self._say(f"{one['ranker']}: first three", one["report"]["top_3"])

    def _say(self, name: str, share: dict[str, Any]) -> None:
        if share["value"] is None:
            self.stdout.write(f"{name}: - ({share['undefined']})")
            return
        interval = f"[{share['ci'][0]:.3f}, {share['ci'][1]:.3f}]" if share["ci"] else f"({share['no_interval']})"
        self.stdout.write(f"{name}: {share['value']:.3f} {interval}, n = {share['n']:,}, {share['clusters']:,} reviews")
