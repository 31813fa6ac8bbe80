"""``manage.py score``: metrics over the summaries of a project's systems, in the foreground."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.parameters import Takes
from api.problems import Problem
from generation import metrics
from generation.actions.scores import score_run
from generation.management.foreground import progress_bar, stoppable
from generation.metrics.protocol import Metric
from generation.models import Run, Score, Scoring
from generation.runs.at_hand import names, runs_with_summaries
from projects.management.arguments import project_of

#: What needs no weights, and so runs anywhere.
USUAL = [
    metric.key
    for metric in metrics.every()
    if not metric.needs_torch({parameter.name: parameter.default for parameter in metric.parameters})
]


class Command(BaseCommand):
    help = "Score the summaries of a project's systems. What is scored already is not scored again."

    def add_arguments(self, parser: CommandParser) -> None:
        known = [metric.key for metric in metrics.every()]
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--metric", action="append", choices=known, metavar="METRIC",
            help=f"May be repeated; by default {', '.join(USUAL)}. All: {', '.join(known)}.",
        )  # fmt: skip
        parser.add_argument("--system", action="append", default=[], metavar="NAME", help="May be repeated.")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE",
            help="A parameter of the metric, such as stemmer=true. May be repeated.",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        with stoppable("What is scored stays; the same command goes on with the rest."):
            self._do(options)

    def _do(self, options: dict[str, Any]) -> None:
        project = project_of(options["project"])
        runs = list(runs_with_summaries(project, options["system"]))
        missing = sorted(set(options["system"]) - {run.version.system.name for run in runs})
        if missing or not runs:
            whose = ", ".join(missing) or "any system"
            raise CommandError(f"{project.slug} has no summaries of {whose}; run `manage.py generate` first.")
        called = names(runs)
        for metric in options["metric"] or USUAL:
            params = given(metrics.get(metric), options["set"])
            for run in runs:
                name = f"{called[run.pk]} ({run.version.level})"
                scoring = self._score(run, metric, params, name)
                rows = Score.objects.filter(scoring=scoring)
                n = rows.values("summary").distinct().count()
                self.stdout.write(f"{metric}: {name}: n = {n} summaries, {rows.count()} rows")

    def _score(self, run: Run, metric: str, params: dict[str, Any], name: str) -> Scoring:
        with progress_bar(unit=" summaries", desc=f"{metric} of {name}") as bar:

            def progress(done: int, total: int | None, note: str) -> None:
                bar.total = total
                bar.update(done - bar.n)

            try:
                return score_run(run=run, metric=metric, params=params, by=None, progress=progress)
            except Problem as problem:
                raise CommandError(f"{metric} of {name}: {problem.detail}") from None


def given(metric: Metric, settings: list[str]) -> dict[str, Any]:
    """The parameters that were set on the command line, as the metric's parameters take them."""
    takes = {parameter.name: parameter.takes for parameter in metric.parameters}
    found: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign or name not in takes:
            raise CommandError(f"--set {setting}: {metric.key} takes {', '.join(takes) or 'no parameters'}.")
        found[name] = read(takes[name], text)
    return found


def read(takes: Takes, text: str) -> Any:
    """A parameter's value from the words of a command line; what cannot be read is refused by the check."""
    try:
        match takes:
            case Takes.INTEGER:
                return int(text)
            case Takes.NUMBER:
                return float(text)
            case Takes.SWITCH:
                return {"true": True, "on": True, "false": False, "off": False}.get(text.lower(), text)
    except ValueError:
        pass
    return text
