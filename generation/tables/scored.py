"""The scores that tables are made of: per run the newest finished scoring of a metric, and means of its figures."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.db.models import Count, Q

from measures.means import METHOD, REPLICATES, SEED
from projects.models import Member, Project

from .. import metrics
from ..backends.parameters import Parameter
from ..metrics.protocol import Figure
from ..models import Run, Score, Scoring, UnitLevel
from ..runs_at_hand import names, runs_with_summaries
from .figures import NOTHING, OWN, PROPOSITIONS, Figures, Found, means_of
from .table import Cell, Missing

INTERVALS = (
    f"Means over items; in brackets 95 % intervals: {METHOD} (reviews), {REPLICATES} replicates, seed {SEED}. "
    "n: pairs of a summary and what it is compared with."
)


@dataclass(frozen=True)
class RunAtHand:
    """A run with what tables call it."""

    run: Run
    name: str
    #: How many summaries it has, of how many units; without those that were retired since.
    summaries: int
    items: int

    @property
    def level(self) -> str:
        return self.run.version.level

    def sides(self) -> tuple[str, ...]:
        """What its summaries are compared with: one row of a table each."""
        return (OWN, PROPOSITIONS) if self.level == UnitLevel.DOCUMENT else (OWN,)


class Scores:
    """What a project's tables are made of, read once for all of them: a fixed number of queries a metric."""

    def __init__(self, project: Project, member: Member | None = None) -> None:
        self.project, self.member = project, member
        every = runs_with_summaries(project)
        # Any: what annotations add is not in the type.
        runs: list[Any] = list(every.open_to(member) if member else every)
        self.sealed = bool(member) and len(runs) < every.count()
        called = names(runs)
        self.runs = [RunAtHand(run, called[run.pk], run.summaries, run.items_total) for run in runs]
        self._means: dict[str, dict[int, Figures]] = {}
        self._seen: dict[str, dict[int, tuple[int, int]]] = {}
        self._scorings: dict[str, dict[int, Scoring]] = {}

    def scoring(self, metric: str, run: Run) -> Scoring | None:
        """The finished scoring of a run that was asked for last."""
        if metric not in self._scorings:
            found: dict[int, Scoring] = {}
            done = Scoring.objects.complete().filter(metric=metric, run__in=[at.run for at in self.runs])
            for scoring in done.select_related("run__version").order_by("finished_at", "pk"):
                found[scoring.run_id] = scoring
            self._scorings[metric] = found
        return self._scorings[metric].get(run.pk)

    def found(self, metric: str, run: Run, figure: str, side: str = OWN) -> Found:
        """The mean of a figure; `NOTHING` where it is not scored. What names no reference counts as `OWN`."""
        if metric not in self._means:
            chosen = {s.pk: s for at in self.runs if (s := self.scoring(metric, at.run))}
            found = means_of(list(chosen.values()))
            self._means[metric] = {chosen[pk].run_id: figures for pk, figures in found.items()}
        return self._means[metric].get(run.pk, {}).get((figure, side), NOTHING)

    def cell(self, metric: str, at: RunAtHand, figure: Figure, side: str = OWN, n: int | None = None) -> Cell:
        """The mean of a figure; ``n`` is the row's, said again only where this one differs."""
        found = self.found(metric, at.run, figure.key, side)
        mean = found.mean
        if mean.value is None:
            return Cell(None, undefined=found.why)
        ci = (mean.ci[0] * figure.scale, mean.ci[1] * figure.scale) if mean.ci else None
        return Cell(mean.value * figure.scale, figure.decimals, ci, n=mean.n if mean.n != n else None)

    def missing(self, metric: str) -> list[Missing]:
        """The runs that a metric has not scored, or not all of."""
        return [self._missing(metric, at, words) for at in self.runs if (words := self._lack(metric, at))]

    def _lack(self, metric: str, at: RunAtHand) -> str:
        name, whose = metrics.get(metric).name, f"{at.name} ({at.level})"
        scoring = self.scoring(metric, at.run)
        if scoring is None:
            return f"{name} of {whose}"
        there, (scored, gone) = at.summaries, self._scored(metric).get(scoring.pk, (0, 0))
        if gone:
            return f"{name} of {whose} again: since then a target or unit of {gone} of its summaries has changed"
        return f"{name} of {there - scored} of the {there} summaries of {whose}" if scored < there else ""

    def _scored(self, metric: str) -> Mapping[int, tuple[int, int]]:
        """How many summaries each scoring has seen, and of how many the unit or a target is in force no more."""
        if metric not in self._seen:
            wanted = [s for at in self.runs if (s := self.scoring(metric, at.run))]
            found = Score.objects.filter(scoring__in=wanted).values("scoring").order_by()
            gone = Q(summary__item__unit__superseded_by__isnull=False) | Q(reference__superseded_by__isnull=False)
            counted = found.annotate(
                n=Count("summary", distinct=True), gone=Count("summary", filter=gone, distinct=True)
            ).values_list("scoring", "n", "gone")
            self._seen[metric] = {scoring: (n, old) for scoring, n, old in counted}
        return self._seen[metric]

    def _missing(self, metric: str, at: RunAtHand, words: str) -> Missing:
        system = at.run.version.system.name
        command = f"manage.py score --project {self.project.slug} --metric {metric} --system {quote(system)}"
        return Missing(words, command, f"/projects/{self.project.slug}/results", at.run.pk, metric)

    def nothing(self) -> list[Missing]:
        """What is missing where no system has a summary yet."""
        if self.runs:
            return []
        command = f"manage.py generate --project {self.project.slug} --system NAME"
        return [Missing("summaries of any system", command, f"/projects/{self.project.slug}/systems")]

    def notes(self, wanted: Iterable[str]) -> list[str]:
        """Versions; units without a summary; parameters and libraries of each metric, by row if they differ."""
        said = versions((at.name, at.run) for at in self.runs)
        said += [
            f"{at.name} ({at.level}) has summaries of {at.summaries} of {at.items} units; the others are in no mean."
            for at in self.runs
            if at.summaries < at.items
        ]
        said += [note for metric in wanted for note in self._made_with(metric)]
        return said + (["Runs that are sealed from you are left out."] if self.sealed else [])

    def left_out(self, shown: Iterable[tuple[str, Figure]]) -> list[str]:
        """What is not in the means, for it is undefined: figure, system, how many, and why."""
        return [
            f"{figure.label} of {at.name} ({at.level}, {side}) leaves out {count}: {reason}."
            for metric, figure in shown
            for at in self.runs
            for side in at.sides()
            if (found := self.found(metric, at.run, figure.key, side)).mean.value is not None
            for reason, count in found.undefined.items()
        ]

    def _made_with(self, metric: str) -> list[str]:
        ways: dict[str, list[str]] = defaultdict(list)
        for at in self.runs:
            if scoring := self.scoring(metric, at.run):
                params = _acting(metrics.get(metric).parameters, scoring.params)
                ways[_words({**params, **scoring.libraries})].append(f"{at.name} ({at.level})")
        name = metrics.get(metric).name
        if len(ways) < 2:
            return [f"{name}: {way}." for way in ways]
        return [
            f"{name} of {', '.join(whose)}: {way}. Not comparable with the other rows." for way, whose in ways.items()
        ]


def versions(named: Iterable[tuple[str, Run]]) -> list[str]:
    """Which version each row is about, by number and hash: what whoever cites the table names."""
    said = "; ".join(
        f"{name} ({run.version.level}) is version {run.version.number}, {run.version.hash[:12]}" for name, run in named
    )
    return [f"Versions: {said}."] if said else []


def _acting(parameters: Sequence[Parameter], params: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the other parameters make idle, in the order of declaration: PostgreSQL keeps no order of keys."""
    idle = {p.name for p in parameters if p.when and params.get(p.when[0]) not in p.when[1]}
    return {p.name: params[p.name] for p in parameters if p.name in params and p.name not in idle}


def _words(values: Mapping[str, Any]) -> str:
    said: Sequence[str] = [
        f"{name.replace('_', ' ')} {_words(value) if isinstance(value, dict) else _word(value)}".strip()
        for name, value in values.items()
        if value not in (None, "", {})
    ]
    return ", ".join(said)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
