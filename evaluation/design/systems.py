"""Systems that can be compared in a rating round: runs with summaries, and the reference summaries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generation.latest_runs import names, runs_with_summaries
from generation.models import Run, UnitLevel
from generation.sources import LEVELS
from measures.ratings.judgements import REFERENCE
from projects.models import Project

REFERENCES = "references"
#: The option of a round that lists its systems, and its name in rounds stored before the option was renamed.
OPTION, FIRST_OPTION = "systems", "entrants"


@dataclass(frozen=True)
class PlannedSystem:
    """A system under comparison. ``run`` is None for the reference summaries."""

    name: str
    run: Run | None


def offered(project: Project) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return the available systems, their labels, and the preselected ones.

    Runs with summaries come first, then the references. The runs of the most frequent level are preselected.
    """
    runs = list(runs_with_summaries(project))
    called = names(runs)
    levels = Counter(run.version.level for run in runs)
    usual = [str(run.pk) for run in runs if run.version.level == levels.most_common(1)[0][0]]
    words = [f"{called[run.pk]} over {LEVELS[UnitLevel(run.version.level)]}" for run in runs]
    return (*(str(run.pk) for run in runs), REFERENCES), (*words, "Reference summaries"), usual


def selected(options: Mapping[str, Any]) -> list[str]:
    """Return the systems that the options of a round list, as run ids and `REFERENCES`."""
    return options.get(OPTION) or options.get(FIRST_OPTION) or []


def selected_runs(options: Mapping[str, Any]) -> list[int]:
    """Return the ids of the runs that the options of a round list."""
    return [int(one) for one in selected(options) if one != REFERENCES]


def chosen(project: Project, options: Mapping[str, Any]) -> list[PlannedSystem]:
    """Return the systems of a round's options, in the order in which they are offered."""
    runs = list(
        Run.objects.filter(pk__in=selected_runs(options))
        .select_related("version__system")
        .order_by("version__system_id", "version__number", "pk")
    )
    called = names(runs)
    compared_systems = [
        PlannedSystem(called[run.pk], run) for run in runs if run.version.system.project_id == project.pk
    ]
    return compared_systems + ([PlannedSystem(REFERENCE, None)] if REFERENCES in selected(options) else [])


def levels(compared_systems: Sequence[PlannedSystem]) -> set[str]:
    """Return the levels of the runs."""
    return {one.run.version.level for one in compared_systems if one.run}
