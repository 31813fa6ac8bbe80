"""Systems two by two, on the units that both have: beside Tables 4, 6 and 7 of M3."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from measures.comparison import FEWEST, NONE_COMMON, RULE, Comparison, holm
from measures.probe import OVERALL

from .. import metrics
from ..comparing import PROBED, are_alike
from ..metrics.protocol import Figure
from ..printed import COMPARED
from ..reckoning import KINDS
from .building import figure
from .m3_7 import few, missing
from .scored import RunAtHand, Scores, by_version, listed, versions
from .table import Cell, Column, Missing, Table

NOTE = (
    "Means and difference (first less second) are over the units that both have, with the 95 % interval of the "
    f"difference, units of one review being alike. Rule: {RULE}."
)
HOLM = "p (Holm): adjusted over all pairs of systems that stand here with one figure, level and kind of reference."
LEAST = (
    "Least p: the smallest that so many reviews can give. With fewer than {fewest} reviews in which two systems differ "
    "no p below .05 is possible, whatever the figures: {some} of {all} rows."
)
COLUMNS = (
    Column("Figure", False), Column("Level", False), Column("Against", False), Column("First", False),
    Column("Second", False), Column("n"), Column("Reviews"), Column("Mean of first"), Column("Mean of second"),
    Column("Difference"), Column("p"), Column("p (Holm)"), Column("Least p"),
)  # fmt: skip


@dataclass(frozen=True)
class _Pair:
    """Two systems by one figure."""

    first: str
    second: str
    comparison: Comparison


#: Figure, level, and what it is against.
Of = tuple[str, str, str]


@dataclass(frozen=True)
class _Family:
    """The pairs whose p is adjusted together."""

    of: Of
    pairs: Sequence[_Pair]
    scale: float
    decimals: int

    def rows(self) -> Iterator[list[Cell]]:
        adjusted = iter(holm([pair.comparison.p for pair in self.pairs if pair.comparison.p is not None]))
        for pair in self.pairs:
            found, mean = pair.comparison, pair.comparison.difference
            row = [*map(Cell, self.of), Cell(pair.first), Cell(pair.second), Cell(mean.n), Cell(mean.clusters)]
            if found.p is None or found.first is None or found.second is None or mean.value is None:
                yield [*row, *[Cell(None, undefined=NONE_COMMON)] * 6]
                continue
            ci = (mean.ci[0] * self.scale, mean.ci[1] * self.scale) if mean.ci else None
            yield [
                *row, Cell(found.first * self.scale, self.decimals), Cell(found.second * self.scale, self.decimals),
                Cell(mean.value * self.scale, self.decimals, ci),
                *(Cell(p, 4, is_p=True) for p in (found.p, next(adjusted), found.least)),
            ]  # fmt: skip


class PairsTable:
    """Two by two, by the figures that a table prints of its metrics."""

    def __init__(self, beside: str, title: str, wanted: Sequence[str]) -> None:
        self.key, self.beside, self.title, self.metrics = f"{beside}-pairs", beside, title, wanted

    def build(self, scores: Scores) -> Table:
        found = [
            _Family(of, pairs, shown.scale, shown.decimals)
            for metric in self.metrics
            for shown in (figure(metric, key) for key in COMPARED[metric])
            for of, pairs in self._pairs(scores, metric, shown).items()
        ]
        others = [
            *self._unlike(scores), *scores.few(self.metrics), *versions((at.name, at.run) for at in scores.runs),
            *scores.hidden(),
        ]  # fmt: skip
        return Table(
            self.key,
            self.title,
            f"Systems two by two, {scores.project.name}: a row for every figure and pair of systems of one level; n "
            "counts what both have.",
            COLUMNS,
            [row for family in found for row in family.rows()],
            _notes(found, others),
            [*scores.missing(self.metrics), *self._missing(scores)],
            self.beside,
        )

    def _pairs(self, scores: Scores, metric: str, shown: Figure) -> Mapping[Of, Sequence[_Pair]]:
        found: dict[Of, list[_Pair]] = defaultdict(list)
        for one, other in _scored(scores, metric, alike=True):
            for side in one.sides():
                comparison = scores.comparison(metric, one.run, other.run, shown.key, side)
                if comparison:
                    against = side if shown.against == "reference" else shown.against
                    found[shown.label, one.level, against].append(_Pair(one.name, other.name, comparison))
        return found

    def _unlike(self, scores: Scores) -> list[str]:
        return [
            f"{metrics.get(metric).name} of {one.called} and {other.called} is not compared: it was not scored alike."
            for metric in self.metrics
            for one, other in _scored(scores, metric, alike=False)
        ]

    def _missing(self, scores: Scores) -> list[Missing]:
        """What was scored, and not compared yet: who is scored again is compared with all others."""
        steps = []
        for metric in self.metrics:
            lacking = [
                (one, other) for one, other in _scored(scores, metric, alike=True)
                if not scores.is_compared(metric, one.run, other.run)
            ]  # fmt: skip
            if lacking:
                steps += scores.to_compare(metric, lacking)
        return steps


class ProbePairsTable:
    """Probes two by two, kind by kind."""

    key = "m3-7-pairs"
    title = "Two by two: counterfactual probe"
    metrics: Sequence[str] = ()

    def build(self, scores: Scores) -> Table:
        found = [
            _Family(of, pairs, 1.0, decimals)
            for name, decimals in zip(PROBED, (3, 2), strict=True)
            for kind in (*KINDS, OVERALL)
            for of, pairs in _probed(scores, name, kind).items()
        ]
        return Table(
            self.key,
            self.title,
            "Systems two by two on the pairs of a target and a counterfactual that both have judged, "
            f"{scores.project.name}: a row for every figure, kind and pair of systems of one level; n counts pairs.",
            [Column("Counterfactual", False) if column.title == "Against" else column for column in COLUMNS],
            [row for family in found for row in family.rows()],
            _notes(found, [*few(scores.probed), *versions((p.name, p.run) for p in scores.probed), *scores.hidden()]),
            [*missing(scores, scores.probed), *_probes_missing(scores)],
            "m3-7",
        )


def _scored(scores: Scores, metric: str, *, alike: bool) -> Iterator[tuple[RunAtHand, RunAtHand]]:
    """The pairs of systems of a level that are both scored, in the same way or not."""
    for one, other in combinations(scores.runs, 2):
        first, second = scores.reckoned(metric, one.run), scores.reckoned(metric, other.run)
        if one.level == other.level and first and second and are_alike(first, second) == alike:
            yield one, other


def _probed(scores: Scores, name: str, kind: str) -> Mapping[Of, Sequence[_Pair]]:
    found: dict[Of, list[_Pair]] = defaultdict(list)
    for one, other in combinations(scores.probed, 2):
        comparison = scores.probes_compared(one, other, name, kind)
        if one.level == other.level and comparison:
            found[name.capitalize(), one.level, kind].append(_Pair(one.name, other.name, comparison))
    return found


def _probes_missing(scores: Scores) -> list[Missing]:
    """What is reckoned, and not compared yet: who is reckoned again is compared with all others."""
    lacking = {
        other.called: other.run
        for one, other in combinations(scores.probed, 2)
        if one.level == other.level and one.figures and other.figures and not scores.are_compared(one, other)
    }
    if not lacking:
        return []
    page = f"/projects/{scores.project.slug}/systems"
    return [Missing(f"the comparison of {listed(lacking)} with others", by_version("probe", lacking.values()), page)]


def _notes(found: Sequence[_Family], others: Sequence[str]) -> list[str]:
    compared = [pair.comparison for family in found for pair in family.pairs if pair.comparison.p is not None]
    if not compared:
        return list(others)
    powerless = sum(not each.can_be_small for each in compared)
    said = [LEAST.format(fewest=FEWEST, some=powerless, all=len(compared))] if powerless else []
    without = Counter(each.difference.no_interval for each in compared if each.difference.no_interval)
    said += [f"In {some} of {len(compared)} rows {why}." for why, some in sorted(without.items())]
    return [NOTE, HOLM, *said, *others]
