"""Systems two by two, on the units that both have: beside Tables 4, 6 and 7 of M3."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from measures.comparison import FEWEST, NONE_COMMON, RULE
from measures.probe import OVERALL
from measures.two_systems import PROBED
from projects.tables import Cell, Column, Missing, Table

from .. import metrics
from ..metrics.protocol import Figure
from ..scoring.printed import COMPARED
from ..scoring.reckoning import KINDS
from .building import ScoresTable, figure
from .families import Compared, Family, probed_families, probed_pairs, scored_families, scored_pairs
from .m3_7 import few, missing
from .probed import Probed
from .scored import RunAtHand, Scores, by_version, listed, versions

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
class _Part:
    """The rows of a family, as they are printed: ``label`` and ``against`` are the words for what it is of."""

    family: Family[RunAtHand] | Family[Probed]
    label: str
    against: str
    scale: float
    decimals: int

    def rows(self) -> Iterator[list[Cell]]:
        return (self._row(pair) for pair in self.family.pairs)

    def _row(self, pair: Compared[RunAtHand] | Compared[Probed]) -> list[Cell]:
        found, mean = pair.comparison, pair.comparison.difference
        row = [
            Cell(self.label), Cell(self.family.level), Cell(self.against), Cell(pair.first.name),
            Cell(pair.second.name), Cell(mean.n), Cell(mean.clusters),
        ]  # fmt: skip
        if found.p is None or found.first is None or found.second is None or mean.value is None:
            return [*row, *[Cell(None, undefined=NONE_COMMON)] * 6]
        ci = (mean.ci[0] * self.scale, mean.ci[1] * self.scale) if mean.ci else None
        return [
            *row, Cell(found.first * self.scale, self.decimals), Cell(found.second * self.scale, self.decimals),
            Cell(mean.value * self.scale, self.decimals, ci),
            *(Cell(p, 4, is_p=True) for p in (found.p, pair.adjusted, found.least)),
        ]  # fmt: skip


class PairsTable(ScoresTable):
    """Two by two, by the figures that the table which it stands beside prints of its metrics."""

    def build(self, scores: Scores) -> Table:
        found = [
            _Part(family, shown.label, _against(family, shown), shown.scale, shown.decimals)
            for metric in self.metrics
            for shown in (figure(metric, key) for key in COMPARED[metric])
            for family in scored_families(scores, metric, shown.key)
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
            [row for part in found for row in part.rows()],
            _notes(found, others),
            [*scores.missing(self.metrics), *self._missing(scores)],
            self.beside,
        )

    def _unlike(self, scores: Scores) -> list[str]:
        return [
            f"{metrics.get(metric).name} of {one.called} and {other.called} is not compared: it was not scored alike."
            for metric in self.metrics
            for one, other in scored_pairs(scores, metric, alike=False)
        ]

    def _missing(self, scores: Scores) -> list[Missing]:
        """What was scored, and not compared yet: who is scored again is compared with all others."""
        steps = []
        for metric in self.metrics:
            lacking = [
                (one, other) for one, other in scored_pairs(scores, metric)
                if not scores.is_compared(metric, one.run, other.run)
            ]  # fmt: skip
            if lacking:
                steps += scores.to_compare(metric, lacking)
        return steps


class OverlapPairsTable(PairsTable):
    key = "m3-4-pairs"
    beside = "m3-4"
    title = "Two by two: overlap with the target"
    metrics = ("rouge", "bertscore")


class CopyingPairsTable(PairsTable):
    key = "m3-6-pairs"
    beside = "m3-6"
    title = "Two by two: copying from the inputs"
    metrics = ("copying",)


class ProbePairsTable(ScoresTable):
    """Probes two by two, kind by kind."""

    key = "m3-7-pairs"
    beside = "m3-7"
    title = "Two by two: counterfactual probe"

    def build(self, scores: Scores) -> Table:
        found = [
            _Part(family, name.capitalize(), kind, 1.0, decimals)
            for name, decimals in zip(PROBED, (3, 2), strict=True)
            for kind in (*KINDS, OVERALL)
            for family in probed_families(scores, name, kind)
        ]
        return Table(
            self.key,
            self.title,
            "Systems two by two on the pairs of a target and a counterfactual that both have judged, "
            f"{scores.project.name}: a row for every figure, kind and pair of systems of one level; n counts pairs.",
            [Column("Counterfactual", False) if column.title == "Against" else column for column in COLUMNS],
            [row for part in found for row in part.rows()],
            _notes(found, [*few(scores.probed), *versions((p.name, p.run) for p in scores.probed), *scores.hidden()]),
            [*missing(scores, scores.probed), *_probes_missing(scores)],
            self.beside,
        )


def _against(family: Family[RunAtHand], shown: Figure) -> str:
    return family.against if shown.against == "reference" else shown.against


def _probes_missing(scores: Scores) -> list[Missing]:
    """What is reckoned, and not compared yet: who is reckoned again is compared with all others."""
    lacking = {other.called: other.run for one, other in probed_pairs(scores) if not scores.are_compared(one, other)}
    if not lacking:
        return []
    page = f"/projects/{scores.project.slug}/systems"
    return [Missing(f"the comparison of {listed(lacking)} with others", by_version("probe", lacking.values()), page)]


def _notes(found: Sequence[_Part], others: Sequence[str]) -> list[str]:
    compared = [pair.comparison for part in found for pair in part.family.pairs if pair.comparison.p is not None]
    if not compared:
        return list(others)
    powerless = sum(not each.can_be_small for each in compared)
    said = [LEAST.format(fewest=FEWEST, some=powerless, all=len(compared))] if powerless else []
    without = Counter(each.difference.no_interval for each in compared if each.difference.no_interval)
    said += [f"In {some} of {len(compared)} rows {why}." for why, some in sorted(without.items())]
    return [NOTE, HOLM, *said, *others]
