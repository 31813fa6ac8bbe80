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


@dataclass(frozen=True)
class ComparedSystem:
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


def chosen(project: Project, options: Mapping[str, Any]) -> list[ComparedSystem]:
    """Return the systems of a round's options, in the order in which they are offered."""
    wanted = options.get("entrants") or []
    runs = list(
        Run.objects.filter(pk__in=[int(one) for one in wanted if one != REFERENCES])
        .select_related("version__system")
        .order_by("version__system_id", "version__number", "pk")
    )
    called = names(runs)
    taking = [ComparedSystem(called[run.pk], run) for run in runs if run.version.system.project_id == project.pk]
    return taking + ([ComparedSystem(REFERENCE, None)] if REFERENCES in wanted else [])


def levels(taking: Sequence[ComparedSystem]) -> set[str]:
    """Return the levels of the runs."""
    return {one.run.version.level for one in taking if one.run}
