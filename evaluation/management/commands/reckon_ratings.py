"""``manage.py reckon_ratings``: what the ratings of unblinded rounds come to, reckoned here and stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from evaluation.actions.reckoning import reckon_ratings
from evaluation.results.reckoned import open_designs
from projects.management.arguments import project_of


class Command(BaseCommand):
    help = "Reckon the figures of a project's unblinded rating rounds, or of one of them, and store them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--round", type=int, metavar="N", help="By default all that are unblinded.")

    def handle(self, *args: Any, **options: Any) -> None:
        designs = open_designs(project_of(options["project"]))
        if options["round"]:
            designs = designs.filter(round=options["round"])
        if not designs:
            raise CommandError("There is no such round that is unblinded.")
        for design in designs:
            try:
                made = reckon_ratings(design=design, progress=lambda done, total, note: None)
            except Problem as problem:
                raise CommandError(f"{design.round.name}: {problem}") from None
            self.stdout.write(f"{design.round.name}: {made['judgements']} ratings.")
