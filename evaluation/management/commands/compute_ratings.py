"""``manage.py compute_ratings``: compute and store the results of unblinded rating rounds, and of their judges."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from projects.management.arguments import project_of

from ...judge_figures.actions import compute_judges
from ...results.actions import compute_ratings
from ...results.computed import open_designs


class Command(BaseCommand):
    help = "Compute and store the results of a project's unblinded rating rounds."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--round", type=int, metavar="N", help="All unblinded rounds by default.")

    def handle(self, *args: Any, **options: Any) -> None:
        designs = open_designs(project_of(options["project"]))
        if options["round"]:
            designs = designs.filter(round=options["round"])
        if not designs:
            raise CommandError("The project has no unblinded rating round with this id.")
        for design in designs:
            try:
                made = compute_ratings(design=design, progress=lambda done, total, note: None)
                judges = compute_judges(design=design)
            except Problem as problem:
                raise CommandError(f"{design.round.name}: {problem}") from None
            beside = f", {judges} judges" if judges else ""
            self.stdout.write(f"{design.round.name}: {made['judgements']} ratings{beside}.")
