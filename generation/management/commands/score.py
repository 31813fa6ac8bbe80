"""``manage.py score``: compute metrics of the summaries of a project in the foreground."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from api.parameters import Takes
from api.problems import Problem
from generation import metrics
from generation.management.foreground import progress_bar, stoppable
from generation.metrics.protocol import Metric
from generation.models import Run, Score, Scoring
from projects.management.arguments import add_format, project_of, write_json

from ...latest_runs import names, runs_with_summaries
from ...scoring.actions import score_run

#: The metrics that need no torch by default, and so run on any machine.
DEFAULT_METRICS = [
    metric.key
    for metric in metrics.every()
    if not metric.needs_torch({parameter.name: parameter.default for parameter in metric.parameters})
]


class Command(BaseCommand):
    help = "Compute metrics of the summaries of a project's systems. Existing scores are not computed again."

    def add_arguments(self, parser: CommandParser) -> None:
        known = [metric.key for metric in metrics.every()]
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--metric",
            action="append",
            choices=known,
            metavar="METRIC",
            help=f"May be repeated; by default {', '.join(DEFAULT_METRICS)}. All: {', '.join(known)}.",
        )
        parser.add_argument("--system", action="append", default=[], metavar="NAME", help="May be repeated.")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="A parameter of the metric, such as stemmer=true. May be repeated.",
        )
        add_format(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with stoppable("Scores so far are stored; the same command computes the rest."):
            self._score_runs(options)

    def _score_runs(self, options: dict[str, Any]) -> None:
        project = project_of(options["project"])
        runs = list(runs_with_summaries(project, options["system"]))
        missing = sorted(set(options["system"]) - {run.version.system.name for run in runs})
        if missing or not runs:
            systems = ", ".join(missing) or "any system"
            raise CommandError(f"{project.slug} has no summaries of {systems}; run `manage.py generate` first.")
        display_names = names(runs)
        made: list[dict[str, Any]] = []
        for metric in options["metric"] or DEFAULT_METRICS:
            params = parse_parameters(metrics.get(metric), options["set"])
            for run in runs:
                name = f"{display_names[run.pk]} ({run.version.level})"
                scoring = self._score(run, metric, params, name)
                rows = Score.objects.filter(scoring=scoring)
                n = rows.values("summary").distinct().count()
                made.append({"metric": metric, "system": name, "n": n, "rows": rows.count()})
                if options["format"] == "text":
                    self.stdout.write(f"{metric}: {name}: n = {n} summaries, {made[-1]['rows']} rows")
        if options["format"] == "json":
            write_json(self.stdout, made)

    def _score(self, run: Run, metric: str, params: dict[str, Any], name: str) -> Scoring:
        with progress_bar(unit=" summaries", desc=f"{metric} of {name}") as bar:

            def progress(done: int, total: int | None, note: str) -> None:
                bar.total = total
                bar.update(done - bar.n)

            try:
                return score_run(run=run, metric=metric, params=params, by=None, progress=progress)
            except Problem as problem:
                raise CommandError(f"{metric} of {name}: {problem.detail}") from None


def parse_parameters(metric: Metric, settings: list[str]) -> dict[str, Any]:
    """Parse the parameters given on the command line to the types that the metric declares."""
    takes = {parameter.name: parameter.takes for parameter in metric.parameters}
    params: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign or name not in takes:
            raise CommandError(f"--set {setting}: {metric.key} takes {', '.join(takes) or 'no parameters'}.")
        params[name] = parse_value(takes[name], text)
    return params


def parse_value(takes: Takes, text: str) -> Any:
    """Parse a parameter value.

    A value that cannot be parsed is returned as text, and the parameter check rejects it.
    """
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
