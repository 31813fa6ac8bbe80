"""`manage.py probe`: run the counterfactual probe of a system in the foreground, and print M3's figures."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from generation.models import Run, RunPurpose
from measures.probe import Figure, ProbeResult
from projects.jobs.running import run_job
from projects.management.arguments import add_format, write_json
from projects.models import Job, JobStatus

from ...scoring.actions import COMPUTE_SCORES, compute_probe_figures
from ...scoring.computing import stored_results
from . import generate

HEAD = ("kind", "n", "delta", "95% CI", "s.d.", "accuracy", "95% CI", "ties", "of sums", "of changed")


class Command(generate.Command):
    help = (
        "Compare the likelihoods of all targets and their counterfactuals under a system. Workers share the work. "
        "Ctrl-C stops the run cleanly; the same command resumes it."
    )
    purpose = RunPurpose.PROBE

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--tokens",
            choices=("all", "content"),
            default="all",
            help="Tokens included in the mean of a text: all, as in M3, or content (without special tokens).",
        )
        add_format(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        self.basis, self.format = options["tokens"], options["format"]
        super().handle(*args, **options)

    def _report_done(self, run: Run) -> None:
        super()._report_done(run)
        self._table(run)

    def _report(self, run: Run, is_complete: bool) -> None:
        self._table(run)
        super()._report(run, is_complete)

    def _summarise(self, line: str) -> None:
        if self.format == "json":
            self._write_note(line)
        else:
            super()._summarise(line)

    def _table(self, run: Run) -> None:
        results = self._results(run)
        if self.format == "json":
            write_json(self.stdout, [asdict(result) for result in results])
            return
        rows = [HEAD, *map(_row, results)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        self.stdout.write(
            f"Delta: nats per token, over {self.basis} tokens of each text. Of sums: difference of the sums, in nats. "
            "Of changed: nats per token, over the content tokens that only one of the two texts has. A tie counts as "
            "wrong. Intervals are clustered by review; with fewer than 30 reviews they may be too narrow."
        )

    def _results(self, run: Run) -> Sequence[ProbeResult]:
        """Return the stored figures. Queued score jobs run here first, because there may be no worker."""
        queued = Job.objects.filter(kind=COMPUTE_SCORES, params__run=run.pk, status=JobStatus.QUEUED)
        for pk in list(queued.values_list("pk", flat=True)):
            run_job(pk)
        return stored_results(compute_probe_figures(run), self.basis)


def _row(result: ProbeResult) -> tuple[str, ...]:
    return (
        result.kind,
        str(result.n),
        _value(result.delta),
        _interval(result.delta),
        _value(result.sd),
        _value(result.accuracy),
        _interval(result.accuracy),
        str(result.ties) if result.n else "",
        _value(result.delta_sum),
        _value(result.delta_changed),
    )


def _value(figure: Figure) -> str:
    """Return a figure, or the reason why it is undefined. An undefined figure is never printed as 0."""
    return f"{figure.value:.3f}" if figure.value is not None else f"({figure.undefined})"


def _interval(figure: Figure) -> str:
    if figure.ci is None:
        return f"({figure.flags[0]})" if figure.flags else ""
    return f"{figure.ci[0]:.3f} to {figure.ci[1]:.3f}"
