"""Which sources of rating rounds the models of compared systems have seen in trainings."""

from collections import defaultdict
from collections.abc import Sequence

from generation.exposure import Exposures
from projects.models import Project

from ..models import ComparedSystem, RatingDesign, RatingSource


def seen_sources(project: Project, designs: Sequence[RatingDesign]) -> dict[int, dict[str, set[int]]]:
    """Return the ids of the sources that each system's model has seen, by design and system.

    Systems that have seen none are left out. Runs a fixed number of queries.
    """
    exposures = Exposures(project)
    compared = ComparedSystem.objects.filter(design__in=designs, run__isnull=False).select_related("run")
    asked = [(each, units) for each in compared if each.run and (units := exposures.units(each.run.version_id))]
    sources: dict[int, dict[int, int]] = defaultdict(dict)
    if asked:
        rows = RatingSource.objects.filter(design__in={each.design_id for each, _ in asked}).order_by()
        for pk, design, unit in rows.values_list("pk", "design", "unit"):
            sources[design][pk] = unit
    seen: dict[int, dict[str, set[int]]] = defaultdict(dict)
    for each, units in asked:
        if found := {pk for pk, unit in sources[each.design_id].items() if unit in units}:
            seen[each.design_id][each.name] = found
    return seen


def seen_by_any(design: RatingDesign) -> set[int]:
    """Return the ids of the sources of a round that the model of any system has seen."""
    return set().union(*seen_sources(design.round.project, [design]).get(design.pk, {}).values())
