"""What tables are made of: per run the finished scoring of a metric that was asked for last, with its stored means."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from api.parameters import Parameter
from measures.clustered import FEW, LEAST
from measures.comparison import RULE as OF_PAIRS
from measures.comparison import Comparison
from measures.means import Mean
from projects.models import Member, Project
from projects.tables import Cell, Missing, TableData

from .. import metrics
from ..metrics.protocol import Figure
from ..models import CommonProbe, Run, RunQuerySet, Scoring, UnitLevel
from ..runs.at_hand import names, runs_with_summaries
from ..scoring.comparing import Stored, comparisons, digest_of_probes, probe_comparisons
from ..scoring.printed import COMPARED
from ..scoring.reckoning import (
    NOT_RECKONED,
    NOT_SCORED,
    OWN,
    PROPOSITIONS,
    RULE,
    Figures,
    Found,
    figures_of,
    is_reckoned,
    results_of,
    summaries_of,
)
from . import outdated
from .probed import Probed, probes

INTERVALS = (
    f"Means over items; in brackets 95 % intervals, items of one review being alike: {RULE}. "
    "n: pairs of a summary and what it is compared with."
)
NOTHING_THERE = "there is nothing of that kind to compare with"
CORRECTED = "what they were compared with was corrected or taken out since"
OLD_INPUTS = "their inputs were corrected since they were made"


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

    @property
    def called(self) -> str:
        return f"{self.name} ({self.level})"

    def sides(self) -> tuple[str, ...]:
        """What its summaries are compared with: one row of a table each."""
        return (OWN, PROPOSITIONS) if self.level == UnitLevel.DOCUMENT else (OWN,)


#: The parameters that are not the metric's defaults -> the runs that lack something of it, and what, in words.
_Lacking = defaultdict[tuple[tuple[str, Any], ...], list[tuple[RunAtHand, str]]]


class Scores(TableData):
    """What a project's tables are made of, read once for all of them: a fixed number of queries, and no scores.

    Without the runs that are sealed from ``member``, or from anybody.
    """

    def __init__(self, project: Project, member: Member | None = None, *, published: bool = False) -> None:
        super().__init__(project, member, published=published)
        every = runs_with_summaries(project)
        # Any: what annotations add is not in the type.
        runs: list[Any] = list(self._readable(every))
        self.sealed = bool(member) and len(runs) < every.count()
        called = names(runs)
        gone = outdated.retired(project, runs)
        self.runs = [
            RunAtHand(run, called[run.pk], run.summaries - done, run.items_total - items)
            for run in runs
            for items, done in [gone.get(run.pk, (0, 0))]
        ]
        self._figures: dict[int, Figures] = {}

    def _readable(self, runs: RunQuerySet) -> RunQuerySet:
        if self.published:
            return runs.open_to_all()
        return runs.open_to(self.member) if self.member else runs

    @cached_property
    def _every_probe(self) -> list[Probed]:
        return probes(self.project, self._readable)

    @cached_property
    def probed(self) -> list[Probed]:
        """The probes that the member may see, read once for all tables of them."""
        return [probed for probed in self._every_probe if not probed.sealed]

    @cached_property
    def common(self) -> list[Probed]:
        """The probes that the member may see of levels with several, with the results on the pairs that all of them,
        sealed or not, have judged; without results where these are still to be reckoned."""
        made = []
        for probed in self.probed:
            if probed.items and len(self.alike(probed.level)) > 1:
                mine = self.stored_common(probed.level).get(str(probed.run.pk), [])
                made.append(replace(probed, results=results_of(mine, "all"), content=results_of(mine, "content")))
        return made

    def alike(self, level: str) -> list[Probed]:
        """The reckoned probes of a level, whose pairs in common Table 7 can be restricted to: sealed ones too, so that
        two people read the same, but not where nothing may tell of these."""
        there = self.probed if self.published else self._every_probe
        return [probed for probed in there if probed.level == level and probed.items]

    def stored_common(self, level: str) -> Mapping[str, Sequence[dict[str, Any]]]:
        """Run -> rows on the pairs that all `alike` have judged; empty where that is still to be reckoned."""
        return self._common.get(digest_of_probes((probed.run.pk, probed.items) for probed in self.alike(level)), {})

    @cached_property
    def _common(self) -> dict[str, Mapping[str, Sequence[dict[str, Any]]]]:
        return {common.of: common.rows for common in CommonProbe.objects.filter(project=self.project, rule=OF_PAIRS)}

    @cached_property
    def _probe_comparisons(self) -> Stored:
        return probe_comparisons([probed.figures.pk for probed in self.probed if probed.figures])

    def are_compared(self, one: Probed, other: Probed) -> bool:
        return bool(one.figures and other.figures and self._probe_comparisons.has(one.figures.pk, other.figures.pk))

    def probes_compared(self, one: Probed, other: Probed, figure: str, kind: str) -> Comparison | None:
        """One probe less the other, as it was stored; None where it was not."""
        if not one.figures or not other.figures:
            return None
        return self._probe_comparisons.find(one.figures.pk, other.figures.pk, figure=figure, kind=kind)

    @cached_property
    def _comparisons(self) -> Stored:
        return comparisons([scoring.pk for scoring in self._scorings.values() if scoring.metric in COMPARED])

    def is_compared(self, metric: str, one: Run, other: Run) -> bool:
        """Whether it is stored how two runs, both scored, compare."""
        return self._comparisons.has(self._scorings[metric, one.pk].pk, self._scorings[metric, other.pk].pk)

    def comparison(self, metric: str, one: Run, other: Run, figure: str, side: str) -> Comparison | None:
        """One run less the other, as it was stored; None where it was not."""
        first, second = self._scorings[metric, one.pk].pk, self._scorings[metric, other.pk].pk
        return self._comparisons.find(first, second, figure=figure, side=side)

    def reckoned(self, metric: str, run: Run) -> Scoring | None:
        """The scoring that is shown of a run, where its means are reckoned."""
        scoring = self.scoring(metric, run)
        return scoring if scoring and is_reckoned(scoring) else None

    @cached_property
    def _scorings(self) -> dict[tuple[str, int], Scoring]:
        shown = Scoring.objects.shown().filter(run__in=[at.run for at in self.runs]).select_related("run__version")
        return {(scoring.metric, scoring.run_id): scoring for scoring in shown}

    @cached_property
    def _compared(self) -> Mapping[int, int]:
        return outdated.compared(self.project, [scoring.pk for scoring in self._scorings.values()])

    @cached_property
    def _taken_out(self) -> Mapping[int, int]:
        return outdated.taken_out(self.project, [scoring.pk for scoring in self._scorings.values()])

    @cached_property
    def _inputs(self) -> Mapping[int, int]:
        return outdated.inputs([at.run for at in self.runs])

    def scoring(self, metric: str, run: Run) -> Scoring | None:
        """The finished scoring of a run that was asked for last."""
        return self._scorings.get((metric, run.pk))

    def found(self, metric: str, run: Run, figure: str, side: str = OWN) -> Found:
        """The mean of a figure, or why there is none. What names no reference counts as `OWN`."""
        scoring = self.scoring(metric, run)
        if scoring is None or not is_reckoned(scoring):
            return _none(NOT_RECKONED if scoring else NOT_SCORED)
        return self._figures_of(scoring).get((figure, side)) or _none(NOTHING_THERE)

    def _figures_of(self, scoring: Scoring) -> Figures:
        if scoring.pk not in self._figures:
            self._figures[scoring.pk] = figures_of(scoring)
        return self._figures[scoring.pk]

    def cell(self, metric: str, at: RunAtHand, figure: Figure, side: str = OWN, n: int | None = None) -> Cell:
        """The mean of a figure; ``n`` is the row's, said again only where this one differs."""
        found = self.found(metric, at.run, figure.key, side)
        mean = found.mean
        if mean.value is None:
            return Cell(None, undefined=found.why)
        ci = (mean.ci[0] * figure.scale, mean.ci[1] * figure.scale) if mean.ci else None
        return Cell(mean.value * figure.scale, figure.decimals, ci, n=mean.n if mean.n != n else None)

    def missing(self, wanted: Sequence[str]) -> list[Missing]:
        """What has to be done before tables of these metrics are whole and of today: a step a metric and its
        parameters, each for all systems that lack it."""
        steps = [step for metric in wanted for lack in (self._lack, self._outdated) for step in lack(metric)]
        return [*self._nothing(), *steps, *self._of_old_inputs()]

    def _lack(self, metric: str) -> list[Missing]:
        """What a metric has not scored."""
        found: _Lacking = defaultdict(list)
        for at in self.runs:
            scoring = self.scoring(metric, at.run)
            if scoring is None or not is_reckoned(scoring):
                found[_key(metric, scoring)].append((at, at.called))
                continue
            left = at.summaries - (summaries_of(scoring) - self._taken_out.get(scoring.pk, 0))
            if left > 0:
                found[_key(metric, scoring)].append((at, f"{left} of the {at.summaries} summaries of {at.called}"))
        return [self._step(metric, given, lacking) for given, lacking in found.items()]

    def _outdated(self, metric: str) -> list[Missing]:
        """What a metric has compared with what is no longer in force."""
        found: _Lacking = defaultdict(list)
        for at in self.runs:
            scoring = self.scoring(metric, at.run)
            if scoring is None or not is_reckoned(scoring):
                continue
            if count := self._compared.get(scoring.pk, 0) + self._taken_out.get(scoring.pk, 0):
                words = f"{count} of the {summaries_of(scoring)} summaries of {at.called}"
                found[_key(metric, scoring)].append((at, words))
        return [self._step(metric, given, lacking, CORRECTED) for given, lacking in found.items()]

    def to_compare(self, metric: str, lacking: Sequence[tuple[RunAtHand, RunAtHand]]) -> list[Missing]:
        """Who has to be scored again so that these pairs are compared: what is scored so already is only compared."""
        found: _Lacking = defaultdict(list)
        for at in {other.run.pk: other for _, other in lacking}.values():
            words = f"{at.called} with others"
            found[_key(metric, self.scoring(metric, at.run))].append((at, words))
        return [
            replace(step, words=f"the comparison of {step.words}")
            for given, whose in found.items()
            for step in [self._step(metric, given, whose)]
        ]

    def _step(
        self, metric: str, given: tuple[tuple[str, Any], ...], lacking: Sequence[tuple[RunAtHand, str]], why: str = ""
    ) -> Missing:
        systems = dict.fromkeys(at.run.version.system.name for at, _ in lacking)
        name, whose = metrics.get(metric).name, listed(words for _, words in lacking)
        words = f"{name} ({_words(dict(given))}) of {whose}" if given else f"{name} of {whose}"
        command = ["manage.py", "score", "--project", self.project.slug, "--metric", metric]
        command += [word for name in systems for word in ("--system", name)]
        command += [word for name, value in given for word in ("--set", f"{name}={_setting(value)}")]
        page = f"/projects/{self.project.slug}/results"
        return Missing(
            words, shlex.join(command), page, why, [at.run.pk for at, _ in lacking], metric, dict(given)
        )  # fmt: skip

    def _of_old_inputs(self) -> list[Missing]:
        """The summaries that other inputs would have been read for by now."""
        old = [
            (at, f"{count} of the {at.summaries} summaries of {at.called}")
            for at in self.runs
            if (count := self._inputs.get(at.run.pk))
        ]
        if not old:
            return []
        words, page = listed(words for _, words in old), f"/projects/{self.project.slug}/systems"
        return [Missing(words, by_version("generate", [at.run for at, _ in old], "--again"), page, OLD_INPUTS)]

    def _nothing(self) -> list[Missing]:
        """What is missing where no system has a summary yet."""
        if self.runs:
            return []
        command = f"manage.py generate --project {self.project.slug} --system NAME"
        return [Missing("summaries of any system", command, f"/projects/{self.project.slug}/systems")]

    def notes(self, wanted: Iterable[str]) -> list[str]:
        """Versions; units without a summary; parameters and libraries of each metric, by row if they differ."""
        said = versions((at.name, at.run) for at in self.runs)
        said += [
            f"{at.called} has summaries of {at.summaries} of {at.items} units; the others are in no mean."
            for at in self.runs
            if at.summaries < at.items
        ]
        wanted = list(wanted)
        said += [note for metric in wanted for note in self._made_with(metric)]
        return [*said, *self.few(wanted), *self.hidden()]

    def few(self, wanted: Iterable[str]) -> list[str]:
        """A note where figures of these metrics are of few reviews."""
        least: dict[str, int] = {}
        for metric in wanted:
            for at in self.runs:
                scoring = self.scoring(metric, at.run)
                if scoring is not None and is_reckoned(scoring):
                    few = [found.mean.clusters for found in self._figures_of(scoring).values() if found.mean.few]
                    least |= {at.called: min([*few, least.get(at.called, FEW)])} if few else {}
        return few_reviews(least)

    def hidden(self) -> list[str]:
        """A note where this member does not see all."""
        return ["Runs that are sealed from you are left out."] if self.sealed else []

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
                ways[_words({**params, **_sorted(scoring.libraries)})].append(at.called)
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


def by_version(verb: str, runs: Iterable[Run], *options: str) -> str:
    """What does something with the versions of these runs, one after the other."""
    return " && ".join(
        shlex.join(
            ["manage.py", verb, "--project", run.version.system.project.slug, "--system", run.version.system.name,
             "--version", str(run.version.number), *options]
        )
        for run in runs
    )  # fmt: skip


def few_reviews(least: Mapping[str, int]) -> list[str]:
    """What is to be known of intervals of so few reviews, by what they are of; nothing where there are enough."""
    if not least:
        return []
    whose = listed(f"{name} ({number})" for name, number in least.items())
    return [
        f"Fewer than {FEW} reviews: {whose}. Intervals of so few may be too narrow where most values are near 0 and "
        f"some are not; of fewer than {LEAST} reviews there is none."
    ]


def _none(why: str) -> Found:
    return Found(Mean(None, 0, 0, undefined=why), why)


def listed(words: Iterable[str]) -> str:
    """One or more things, as a sentence names them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _key(metric: str, scoring: Scoring | None) -> tuple[tuple[str, Any], ...]:
    """What is not as the metric has it by default: that, too, has to be asked for when it is scored again."""
    if scoring is None:
        return ()
    parameters = metrics.get(metric).parameters
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return tuple((n, value) for n, value in _acting(parameters, scoring.params).items() if value != defaults[n])


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _acting(parameters: Sequence[Parameter], params: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the other parameters make idle, in the order of declaration: PostgreSQL keeps no order of keys."""
    idle = {p.name for p in parameters if p.when and params.get(p.when[0]) not in p.when[1]}
    return {p.name: params[p.name] for p in parameters if p.name in params and p.name not in idle}


def _sorted(libraries: Mapping[str, Any]) -> dict[str, Any]:
    """By name, at every depth: a table is the same to the byte on every data base."""
    return {key: _sorted(value) if isinstance(value, dict) else value for key, value in sorted(libraries.items())}


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
