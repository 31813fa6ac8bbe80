"""The probes that tables use, with their computed figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generation.results.tables import building
from measures.probe import OVERALL, ProbeResult
from projects.models import Project
from projects.reports.table import Cell

from ...latest_runs import names, newest_runs
from ...models import ProbeFigures, Run, RunPurpose, RunQuerySet
from ...scoring.computing import is_current, results_of, stored_results
from ...scoring.unseen import Unseen, key_of_probe
from .seen import name_cell


@dataclass(frozen=True)
class Probed:
    """A probe of a version, with computed results for each kind and overall: over all tokens, and over content tokens.

    ``done`` counts the items done so far. ``figures`` are the latest stored ones, over the number of items that they
    give. ``units`` counts the units of the probe, and ``lost`` those that were not judged; both exclude retired units.
    A probe that is embargoed for the user has no name and appears in no table.
    """

    run: Run
    name: str
    figures: ProbeFigures | None
    results: Sequence[ProbeResult]
    content: Sequence[ProbeResult]
    done: int
    units: int
    unjudged: int
    is_embargoed: bool
    #: Number of units that the model has seen in trainings.
    seen: int = 0

    @property
    def name_cell(self) -> Cell:
        return name_cell(self.name, self.seen, self.units)

    @property
    def items(self) -> int:
        return self.figures.items if self.figures else 0

    @property
    def is_whole(self) -> bool:
        """Whether the figures cover all items done so far."""
        return self.items == self.done

    @property
    def level(self) -> str:
        return self.run.version.level

    @property
    def label(self) -> str:
        return f"{self.name} ({self.level})"


def probes(project: Project, readable: Callable[[RunQuerySet], RunQuerySet]) -> list[Probed]:
    """Return the newest probe with results of every version, in four queries.

    ``readable`` filters the runs to those that are not embargoed for the user.
    """
    all_runs = newest_runs(project, RunPurpose.PROBE)
    # Any, because the type lacks annotated fields.
    runs: list[Any] = list(all_runs)
    readable_ids = set(readable(all_runs).values_list("pk", flat=True))
    display_names = names([run for run in runs if run.pk in readable_ids])
    every_figures = ProbeFigures.objects.filter(run__in=runs).order_by("items")
    stored = {figures.run_id: figures for figures in every_figures if is_current(figures)}
    retired = building.retired(project, runs)
    return [
        Probed(
            run,
            display_names.get(run.pk, ""),
            current,
            stored_results(current, "all") if current else (),
            stored_results(current, "content") if current else (),
            run.done,
            run.items_total - items,
            run.items_total - items - (run.done - done),
            run.pk not in readable_ids,
        )
        for run in runs
        for current in [stored.get(run.pk)]
        for items, done in [retired.get(run.pk, (0, 0))]
    ]


def accuracies(probes: Sequence[Probed]) -> Mapping[str, ProbeResult]:
    """Return the rows of the probe plot, one per system and kind."""
    return {
        f"{probed.name}: {'all kinds' if result.kind == OVERALL else result.kind}": result
        for probed in probes
        for result in probed.results
    }


def probe_without_seen(unseen: Unseen, probed: Probed) -> Probed:
    """Replace the figures of a probe by those without seen units. They are missing until they are computed."""
    if not unseen.of(probed.level):
        return probed
    units = probed.units - probed.seen
    rows = unseen.find(probed.level, key_of_probe(probed.figures.pk)) if probed.figures else None
    if rows is None:
        return replace(probed, figures=None, results=(), content=(), units=units, seen=0)
    return replace(probed, results=results_of(rows, "all"), content=results_of(rows, "content"), units=units, seen=0)
