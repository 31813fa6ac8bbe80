"""`manage.py probe`: the counterfactual probe of a system, in the foreground, and M3's figures of it."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandParser

from generation.actions.reckoning import KIND, reckon_probe
from generation.models import Run, RunPurpose
from generation.scoring.reckoning import stored_results
from measures.probe import Figure, ProbeResult
from projects.background import jobs
from projects.models import Job, JobStatus

from . import generate

HEAD = ("kind", "n", "delta", "95 % CI", "s.d.", "accuracy", "95 % CI", "ties", "of sums", "of changed")


class Command(generate.Command):
    help = (
        "Judge all targets and their counterfactuals with a system: does it find the true one likelier? Workers share "
        "the work. Ctrl-C stops it cleanly, and the same command goes on with the rest."
    )
    purpose = RunPurpose.PROBE

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--tokens", choices=("all", "content"), default="all",
            help="What the mean of a text is over: all tokens, as M3 has it, or without special ones.",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        self.basis = options["tokens"]
        super().handle(*args, **options)

    def _report_done(self, run: Run) -> None:
        super()._report_done(run)
        self._table(run)

    def _report(self, run: Run, whole: bool) -> None:
        self._table(run)
        super()._report(run, whole)

    def _table(self, run: Run) -> None:
        rows = [HEAD, *map(_row, self._results(run))]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        self.stdout.write(
            f"Delta: nats a token, over {self.basis} tokens of each text; of the sums, in nats; and a token over the "
            "content tokens that only one of the two texts has. A tie is wrong. Intervals know that pairs of one "
            "review are alike; of fewer than 30 reviews they may be too narrow."
        )

    def _results(self, run: Run) -> Sequence[ProbeResult]:
        """What is kept for tables, too. What was queued for it is done here: there may be no worker."""
        queued = Job.objects.filter(kind=KIND, params__run=run.pk, status=JobStatus.QUEUED)
        for pk in list(queued.values_list("pk", flat=True)):
            jobs.run_job(pk)
        return stored_results(reckon_probe(run), self.basis)


def _row(result: ProbeResult) -> tuple[str, ...]:
    return (
        result.kind, str(result.n), _value(result.delta), _interval(result.delta), _value(result.sd),
        _value(result.accuracy), _interval(result.accuracy), str(result.ties) if result.n else "",
        _value(result.delta_sum), _value(result.delta_changed),
    )  # fmt: skip


def _value(figure: Figure) -> str:
    """A figure, or why there is none: never 0 for what is not there."""
    return f"{figure.value:.3f}" if figure.value is not None else f"({figure.undefined})"


def _interval(figure: Figure) -> str:
    if figure.ci is None:
        return f"({figure.flags[0]})" if figure.flags else ""
    return f"{figure.ci[0]:.3f} to {figure.ci[1]:.3f}"
