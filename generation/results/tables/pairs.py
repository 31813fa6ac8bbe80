"""Pairwise differences between systems on their common units, beside Tables 4, 6 and 7 of M3."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from generation import metrics
from generation.metrics.protocol import Figure
from generation.results.tables.building import ScoresTable, figure
from generation.results.tables.m3_7 import few, missing
from generation.results.tables.probed import Probed
from generation.results.tables.scored import Scores
from generation.results.tables.scored_run import ScoredRun
from generation.results.tables.wording import join_words, version_commands, versions
from generation.scoring.checking import COMPARED, compared_figures
from generation.scoring.comparing import are_alike
from generation.scoring.computing import KINDS, OWN
from measures.comparison import FEWEST, NONE_COMMON, PROBED, RULE, Comparison, holm
from measures.probe import OVERALL
from projects.reports.table import Cell, Column, Missing, Table

At = TypeVar("At", ScoredRun, Probed)


@dataclass(frozen=True)
class Compared(Generic[At]):
    """Comparison of two systems by one figure.

    ``adjusted`` is p adjusted over the family, or None if not comparable.
    """

    first: At
    second: At
    comparison: Comparison
    adjusted: float | None


@dataclass(frozen=True)
class Family(Generic[At]):
    """Comparisons whose p is adjusted together: one figure, level, and kind of reference or counterfactual."""

    figure: str
    level: str
    against: str
    pairs: Sequence[Compared[At]]


def scored_families(scores: Scores, metric: str, figure: str) -> list[Family[ScoredRun]]:
    """Return the families of scored runs for a figure."""
    return _families(
        figure,
        (
            (side, first, second, comparison)
            for first, second in scored_pairs(scores, metric)
            # Figures against the inputs count as those of the own target.
            for side in dict.fromkeys((OWN, *scores.sides(first)))
            if (comparison := scores.comparison(metric, first.run, second.run, figure, side))
        ),
    )


def probed_families(scores: Scores, figure: str, kind: str) -> list[Family[Probed]]:
    """Return the families of probes for a figure and a kind of counterfactual, or all kinds."""
    return _families(
        figure,
        (
            (kind, first, second, comparison)
            for first, second in probed_pairs(scores)
            if (comparison := scores.probes_compared(first, second, figure, kind))
        ),
    )


def scored_pairs(scores: Scores, metric: str, *, alike: bool = True) -> Iterator[tuple[ScoredRun, ScoredRun]]:
    """Yield the pairs of scored systems of a level. ``alike`` selects pairs scored with equal or different settings."""
    for first, second in combinations(scores.runs, 2):
        first_scoring, second_scoring = (
            scores.computed_scoring(metric, first.run),
            scores.computed_scoring(metric, second.run),
        )
        if (
            first.level == second.level
            and compared_figures(metric, first.level)
            and first_scoring
            and second_scoring
            and are_alike(first_scoring, second_scoring) == alike
        ):
            yield first, second


def probed_pairs(scores: Scores) -> Iterator[tuple[Probed, Probed]]:
    """Yield the pairs of probes of a level that both have computed figures."""
    for first, second in combinations(scores.probed, 2):
        if first.level == second.level and first.figures and second.figures:
            yield first, second


def _families(figure: str, comparisons: Iterable[tuple[str, At, At, Comparison]]) -> list[Family[At]]:
    pairs: dict[tuple[str, str], list[tuple[At, At, Comparison]]] = defaultdict(list)
    for against, first, second, comparison in comparisons:
        pairs[first.level, against].append((first, second, comparison))
    return [
        Family(
            figure,
            level,
            against,
            [
                Compared(*row, p)
                for row, p in zip(group, holm([comparison.p for _, _, comparison in group]), strict=True)
            ],
        )
        for (level, against), group in pairs.items()
    ]


NOTE = (
    "Means and difference (first minus second) over common units, with the 95% interval of the difference, clustered "
    f"by review. Rule: {RULE}."
)
HOLM = "p (Holm): adjusted over all pairs of systems in this table with one figure, level and kind of reference."
LEAST = (
    "Least p: the smallest p that is possible with this number of reviews. If two systems differ in fewer than "
    "{fewest} reviews, no p below .05 is possible: {some} of {all} rows."
)
COLUMNS = (
    Column("Figure", False),
    Column("Level", False),
    Column("Against", False),
    Column("First", False),
    Column("Second", False),
    Column("n"),
    Column("Reviews"),
    Column("Mean of first"),
    Column("Mean of second"),
    Column("Difference"),
    Column("p"),
    Column("p (Holm)"),
    Column("Least p"),
)


@dataclass(frozen=True)
class _FamilyRows:
    """The table rows of a family. ``label`` and ``against`` are its display texts."""

    family: Family[ScoredRun] | Family[Probed]
    label: str
    against: str
    scale: float
    decimals: int

    def rows(self) -> Iterator[list[Cell]]:
        return (self._row(pair) for pair in self.family.pairs)

    def _row(self, pair: Compared[ScoredRun] | Compared[Probed]) -> list[Cell]:
        comparison, mean = pair.comparison, pair.comparison.difference
        row = [
            Cell(self.label),
            Cell(self.family.level),
            Cell(self.against),
            pair.first.name_cell,
            pair.second.name_cell,
            Cell(mean.n),
            Cell(mean.clusters),
        ]
        if comparison.p is None or comparison.first is None or comparison.second is None or mean.value is None:
            return [*row, *[Cell(None, undefined=NONE_COMMON)] * 6]
        ci = (mean.ci[0] * self.scale, mean.ci[1] * self.scale) if mean.ci else None
        return [
            *row,
            Cell(comparison.first * self.scale, self.decimals),
            Cell(comparison.second * self.scale, self.decimals),
            Cell(mean.value * self.scale, self.decimals, ci),
            *(Cell(p, 4, is_p=True) for p in (comparison.p, pair.adjusted, comparison.least)),
        ]


class PairsTable(ScoresTable):
    """Pairwise differences by the main figures of the metrics in the table beside it."""

    def build(self, scores: Scores) -> Table:
        parts = [
            _FamilyRows(family, declared.label, _against(family, declared), declared.scale, declared.decimals)
            for metric in self.metrics
            for declared in (figure(metric, key) for key in COMPARED[metric])
            for family in scored_families(scores, metric, declared.key)
        ]
        other_notes = [
            *self._incomparable_notes(scores),
            *scores.few(self.metrics),
            *versions((scored_run.name, scored_run.run) for scored_run in scores.runs),
            *scores.hidden(),
        ]
        return Table(
            self.key,
            self.title,
            f"Pairwise differences, {scores.project.name}: one row per figure and pair of systems of one level. n: "
            "common items.",
            COLUMNS,
            [row for part in parts for row in part.rows()],
            _notes(parts, other_notes),
            [*scores.missing(self.metrics), *self._missing(scores)],
            self.beside,
        )

    def _incomparable_notes(self, scores: Scores) -> list[str]:
        return [
            f"{metrics.get(metric).name} of {first.label} and {second.label} is not compared: the settings differ."
            for metric in self.metrics
            for first, second in scored_pairs(scores, metric, alike=False)
        ]

    def _missing(self, scores: Scores) -> list[Missing]:
        """Return the steps for missing comparisons. Scoring a run again compares it with all others."""
        steps = []
        for metric in self.metrics:
            uncompared = [
                (first, second)
                for first, second in scored_pairs(scores, metric)
                if not scores.is_compared(metric, first.run, second.run)
            ]
            if uncompared:
                steps += scores.to_compare(metric, uncompared)
        return steps


class OverlapPairsTable(PairsTable):
    key = "m3-4-pairs"
    beside = "m3-4"
    title = "Pairwise differences: overlap with the target"
    metrics = ("rouge", "bertscore")

    def is_of(self, data: Scores) -> bool:
        return data.has_targets

    def build(self, data: Scores) -> Table:
        return super().build(data.only(data.target_runs))


class CopyingPairsTable(PairsTable):
    key = "m3-6-pairs"
    beside = "m3-6"
    title = "Pairwise differences: copying from the inputs"
    metrics = ("copying",)


class ProbePairsTable(ScoresTable):
    """Pairwise differences between probes, by kind."""

    key = "m3-7-pairs"
    beside = "m3-7"
    title = "Pairwise differences: counterfactual probe"

    def build(self, scores: Scores) -> Table:
        parts = [
            _FamilyRows(family, name.capitalize(), kind, 1.0, decimals)
            for name, decimals in zip(PROBED, (3, 2), strict=True)
            for kind in (*KINDS, OVERALL)
            for family in probed_families(scores, name, kind)
        ]
        return Table(
            self.key,
            self.title,
            "Pairwise differences on the pairs of a target and a counterfactual that both systems judged, "
            f"{scores.project.name}: one row per figure, kind and pair of systems of one level. n: pairs.",
            [Column("Counterfactual", False) if column.title == "Against" else column for column in COLUMNS],
            [row for part in parts for row in part.rows()],
            _notes(parts, [*few(scores.probed), *versions((p.name, p.run) for p in scores.probed), *scores.hidden()]),
            [*missing(scores, scores.probed), *_probes_missing(scores)],
            self.beside,
        )


def _against(family: Family[ScoredRun], declared: Figure) -> str:
    return family.against if declared.against == "reference" else declared.against


def _probes_missing(scores: Scores) -> list[Missing]:
    """Return the steps for missing comparisons. Computing the figures of a probe again compares it with all others."""
    uncompared = {
        second.label: second.run for first, second in probed_pairs(scores) if not scores.are_compared(first, second)
    }
    if not uncompared:
        return []
    page = f"/projects/{scores.project.slug}/systems"
    return [
        Missing(
            f"the comparison of {join_words(uncompared)} with others",
            version_commands("probe", uncompared.values()),
            page,
        )
    ]


def _notes(parts: Sequence[_FamilyRows], other_notes: Sequence[str]) -> list[str]:
    comparisons = [pair.comparison for part in parts for pair in part.family.pairs if pair.comparison.p is not None]
    if not comparisons:
        return list(other_notes)
    powerless = sum(not comparison.can_be_small for comparison in comparisons)
    notes = [LEAST.format(fewest=FEWEST, some=powerless, all=len(comparisons))] if powerless else []
    ci_reasons = Counter(
        comparison.difference.ci_reason for comparison in comparisons if comparison.difference.ci_reason
    )
    notes += [f"In {count} of {len(comparisons)} rows {reason}." for reason, count in sorted(ci_reasons.items())]
    return [NOTE, HOLM, *notes, *other_notes]
