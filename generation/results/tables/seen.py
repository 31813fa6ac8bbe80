"""Units that the models of systems have seen in trainings: marks of rows, and figures without these units."""

from collections.abc import Mapping, Sequence

from generation.exposure import Exposures
from generation.models import ItemStatus, Run, RunItem, Scoring
from generation.scoring.comparing import Stored, in_order
from generation.scoring.unseen import Unseen, key_of_comparison, key_of_means, key_of_probes
from projects.reports.table import Cell
from sql.expressions import InIds

LEFT_OUT = "Left out for all systems, because used to train or choose a model: {units:,} of the units of level {level}."


def name_cell(name: str, seen: int, items: int) -> Cell:
    """Return the name of a system, marked if its model has seen units of the run. No training is named."""
    if not seen:
        return Cell(name)
    return Cell(name, note=f"Units of {name} that were used to train or choose its model: {seen:,} of {items:,}.")


def count_seen(exposures: Exposures, runs: Sequence[Run], *, by_any: bool) -> dict[int, tuple[int, int]]:
    """Return, by run, the number of items of seen units and how many of these are done. Retired units are left out.

    ``by_any``: units that any version of the level has seen, instead of the run's own. At most one query.
    """
    units = {
        run.pk: exposures.of_level(run.version.level) if by_any else exposures.units(run.version_id) for run in runs
    }
    asked = {run: of_run for run, of_run in units.items() if of_run}
    if not asked:
        return {}
    every = set().union(*asked.values())
    items = RunItem.objects.filter(InIds("unit_id", every), run__in=asked, unit__superseded_by=None).order_by()
    counts: dict[int, tuple[int, int]] = {}
    for run, unit, status in items.values_list("run", "unit", "status"):
        if unit in asked[run]:
            n, done = counts.get(run, (0, 0))
            counts[run] = n + 1, done + (status == ItemStatus.DONE)
    return counts


def without_seen(unseen: Unseen, scoring: Scoring) -> Scoring:
    """Replace the figures of a scoring by those without seen units. They are missing until they are computed."""
    level = scoring.run.version.level
    if unseen.of(level):
        content = unseen.find(level, key_of_means(scoring.pk)) or {"means": None, "corpus": {}}
        scoring.means, scoring.corpus = content["means"], content["corpus"]
    return scoring


def comparisons_without_seen(
    unseen: Unseen, levels: Mapping[int, str], stored: Stored, *, are_probes: bool = False
) -> Stored:
    """Replace stored comparisons of levels with seen units. ``levels``: those of scorings or probes by id."""
    key = key_of_probes if are_probes else key_of_comparison
    rows = stored.rows
    replaced = {}
    for first in levels:
        for second in levels:
            level = levels[first]
            if first < second and level == levels[second]:
                found = unseen.find(level, key(first, second)) if unseen.of(level) else rows.get((first, second))
                if found is not None:
                    replaced[in_order(first, second)] = found
    return Stored(replaced)
