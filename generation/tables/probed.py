"""The probes that tables are made of, with what was reckoned of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measures.probe import OVERALL, ProbeResult
from projects.models import Project

from ..models import ProbeFigures, Run, RunPurpose, RunQuerySet
from ..runs.at_hand import names, newest_runs
from ..scoring.reckoning import is_of_today, stored_results
from . import outdated


@dataclass(frozen=True)
class Probed:
    """A probe of a version, with a result for each kind and one over all, once they are
    reckoned: of all tokens, and of content.

    ``done``: items by now; ``figures``: what was stored last, of as many items as it says. ``units``: of how many the
    probe is, and ``lost``: those of them that are not judged; both without what was retired since. One that is sealed
    from who asks has no name, and is shown in no table.
    """

    run: Run
    name: str
    figures: ProbeFigures | None
    results: Sequence[ProbeResult]
    content: Sequence[ProbeResult]
    done: int
    units: int
    lost: int
    sealed: bool

    @property
    def items(self) -> int:
        return self.figures.items if self.figures else 0

    @property
    def is_whole(self) -> bool:
        """Whether its figures are of all that it has done by now."""
        return self.items == self.done

    @property
    def level(self) -> str:
        return self.run.version.level

    @property
    def called(self) -> str:
        return f"{self.name} ({self.level})"


def probes(project: Project, readable: Callable[[RunQuerySet], RunQuerySet]) -> list[Probed]:
    """Of every version its newest probe that found something; ``readable``: those of them that are not sealed from who
    asks. Four queries, whatever they found."""
    every = newest_runs(project, RunPurpose.PROBE)
    # Any: what annotations add is not in the type.
    runs: list[Any] = list(every)
    shown = set(readable(every).values_list("pk", flat=True))
    called = names([run for run in runs if run.pk in shown])
    every_figures = ProbeFigures.objects.filter(run__in=runs).order_by("items")
    stored = {figures.run_id: figures for figures in every_figures if is_of_today(figures)}
    gone = outdated.retired(project, runs)
    return [
        Probed(
            run, called.get(run.pk, ""), found, stored_results(found, "all") if found else (),
            stored_results(found, "content") if found else (), run.done, run.items_total - items,
            run.items_total - items - (run.done - done), run.pk not in shown,
        )
        for run in runs
        for found in [stored.get(run.pk)]
        for items, done in [gone.get(run.pk, (0, 0))]
    ]  # fmt: skip


def accuracies(found: Sequence[Probed]) -> Mapping[str, ProbeResult]:
    """What the plot of the probe shows: a line for every system and kind."""
    return {
        f"{probed.name}: {'all kinds' if result.kind == OVERALL else result.kind}": result
        for probed in found
        for result in probed.results
    }
