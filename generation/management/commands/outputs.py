"""``manage.py outputs``: write the outputs of a run for the published scorers of MS^2 and MSLR2022."""

from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.problems import Problem
from generation.models import Run, RunPurpose
from projects.management.arguments import project_of
from projects.models import Project

from ...results.predictions import WRITERS


class Command(BaseCommand):
    help = "Write the outputs of a run in the form that a published scorer reads."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--run", required=True, type=int, metavar="N", help="Number of the run.")
        parser.add_argument(
            "--format",
            required=True,
            choices=[*WRITERS],
            help="mslr: the predictions of MSLR's evaluator (CSV). The others: the lines of MS^2's scorers (JSON), "
            "without units whose target is not known.",
        )
        parser.add_argument("--out", type=Path, metavar="FILE", help="By default the output is printed.")

    def handle(self, *args: Any, out: Path | None, **options: Any) -> None:
        run = _run(project_of(options["project"]), options["run"])
        skipped: list[None] = []
        lines = WRITERS[options["format"]](run, lambda: skipped.append(None))
        try:
            first = next(lines, "")  # A run that does not fit is refused before the file is opened.
            if out is None:
                for line in chain([first], lines):
                    self.stdout.write(line, ending="")
            else:
                # Texts keep their line ends.
                with out.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(chain([first], lines))
        except Problem as problem:
            raise CommandError(problem.detail) from None
        except OSError as error:
            raise CommandError(f"{out}: {error.strerror or error}") from None
        if skipped:
            self.stderr.write(f"Units without a known target are left out: {len(skipped)}.", str)


def _run(project: Project, number: int) -> Run:
    """Return a run of summaries that nobody is kept from seeing."""
    runs = Run.objects.filter(version__system__project=project, purpose=RunPurpose.SUMMARIES)
    run = runs.filter(pk=number).select_related("version__system__project").first()
    if run is None:
        known = ", ".join(map(str, runs.order_by("pk").values_list("pk", flat=True)[:20]))
        raise CommandError(f"{project.slug} has no run {number}. Runs: {known or 'none'}.")
    if not runs.open_to_all().filter(pk=number).exists():
        raise CommandError(f"Run {number} is embargoed for raters of a blind round, so its outputs are not written.")
    return run
