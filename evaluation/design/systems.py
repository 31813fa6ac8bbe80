"""Systems that can be compared in a rating round: runs with summaries, and the reference summaries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generation.latest_runs import names, runs_with_summaries
from generation.models import Embargo, Run, UnitLevel
from generation.sources import LEVELS
from measures.ratings.judgements import REFERENCE
from projects.models import Member, Project, Round

from . import writers

REFERENCES = "references"
#: The option of a round that lists its systems, and its name in rounds stored before the option was renamed.
OPTION, FIRST_OPTION = "systems", "entrants"


@dataclass(frozen=True)
class PlannedSystem:
    """A system under comparison: a run, a writer of summaries, or, if both are None, the reference summaries."""

    name: str
    run: Run | None
    writer: writers.Writer | None = None

    @property
    def level(self) -> str:
        """The level of its texts. Empty for the reference summaries."""
        if self.writer:
            return self.writer.level
        return self.run.version.level if self.run else ""


def offered(project: Project) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return the available systems, their labels, and the preselected ones.

    Runs with summaries come first, then writers, then the references. The runs of the most frequent level are
    preselected; if other blind rounds rate some of them, only the rest, so that results do not wait for those rounds.
    """
    runs = list(runs_with_summaries(project))
    called = names(runs)
    levels = Counter(run.version.level for run in runs)
    rated = set(Embargo.objects.active().filter(run__in=runs).values_list("run_id", flat=True))
    frequent = [run.pk for run in runs if run.version.level == levels.most_common(1)[0][0]]
    usual = [str(pk) for pk in frequent if pk not in rated] or [str(pk) for pk in frequent]
    words = [f"{called[run.pk]} over {LEVELS[UnitLevel(run.version.level)]}" for run in runs]
    written = writers.offered(project)
    if written and not runs:
        usual = [one for one in written if writers.Writer.from_id(one).level == writers.QUESTION]
    choices = (*(str(run.pk) for run in runs), *written, REFERENCES)
    return choices, (*words, *written.values(), "Reference summaries"), usual


def selected(options: Mapping[str, Any]) -> list[str]:
    """Return the systems that the options of a round list, as run ids and `REFERENCES`."""
    return options.get(OPTION) or options.get(FIRST_OPTION) or []


def selected_runs(options: Mapping[str, Any]) -> list[int]:
    """Return the ids of the runs that the options of a round list."""
    return [int(one) for one in selected(options) if one != REFERENCES and not one.startswith(writers.PREFIX)]


def selected_writers(options: Mapping[str, Any]) -> list[str]:
    """Return the ids of the writers that the options of a round list."""
    return [one for one in selected(options) if one.startswith(writers.PREFIX)]


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
    compared_systems += [
        PlannedSystem(name, None, writer) for name, writer in writers.named(project, selected_writers(options))
    ]
    return compared_systems + ([PlannedSystem(REFERENCE, None)] if REFERENCES in selected(options) else [])


def levels(compared_systems: Sequence[PlannedSystem]) -> set[str]:
    """Return the levels of the texts."""
    return {one.level for one in compared_systems if one.level}


def summaries_hidden_from(member: Member) -> set[int]:
    """Return the written summaries that a member rates in rounds that are not unblinded."""
    rounds = Round.objects.filter(participants__member=member, rating_design__isnull=False)
    options = rounds.filter(rating_design__unblinding=None).values_list("options", flat=True)
    rated = {writers.Writer.from_id(one) for each in options for one in selected_writers(each)}
    return {
        pk
        for one in rated
        for pk in one.summaries().filter(question__project=member.project_id).values_list("pk", flat=True)
    }
