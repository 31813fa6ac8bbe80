"""MEDIQA-AnS's Tables 5 to 7: ROUGE and BLEU of systems against written summaries, by name of the reference."""

from collections.abc import Sequence

from measures.signed_ranks import METHOD
from projects.reports.table import Cell, Column, Missing, Table

from ...metrics.protocol import Figure
from ...scoring.checking import PUBLISHED, every_compared_figure
from .building import LEADING_COLUMNS, ScoresTable, figure, leading_cells, rows_of
from .pairs import Compared, PairsTable, scored_families
from .scored import Scores
from .scored_run import ScoredRun
from .wording import INTERVALS

BLEU = ("bleu", figure("bleu", "bleu"))
AS_PUBLISHED = [*(("rouge", figure("rouge", key)) for key in PUBLISHED), BLEU]
STANDARD = [
    ("rouge", figure("rouge", f"{kind}_{part}"))
    for kind in ("rouge1", "rouge2", "rougeL")
    for part in ("f1", "precision", "recall")
]
LEADING = [Column("Questions") if column.title == "Reviews" else column for column in LEADING_COLUMNS]
REFERENCES = (
    "Against: the written summary by form and, if known, its writer; or the maximum over references, for each figure "
    "alone, if ROUGE or BLEU is computed with this setting."
)
OF_SUMMARIES = "BLEU: mean over summaries (effective order), not the BLEU of the corpus."


class WrittenTable(ScoresTable):
    """A table of the runs over passages and questions."""

    metrics: Sequence[str] = ("rouge", "bleu")
    shown: Sequence[tuple[str, Figure]] = ()
    subtitle = ""

    def is_of(self, data: Scores) -> bool:
        return bool(data.written_runs)

    def build(self, data: Scores) -> Table:
        scores = data.only(data.written_runs)
        rows = []
        for scored_run, side in rows_of(scores):
            cells, n = leading_cells(scores, scored_run, side, [(metric, each.key) for metric, each in self.shown])
            rows.append([*cells, *(scores.cell(metric, scored_run, each, side, n) for metric, each in self.shown)])
        return Table(
            self.key,
            self.title,
            f"{self.subtitle}, {scores.project.name}: one row per system, level and reference. n: pairs of a summary "
            "and a reference.",
            [*LEADING, *(Column(title, better="higher") for title in self.titles())],
            rows,
            [
                *self.remarks(),
                REFERENCES,
                INTERVALS.replace("by review", "by question"),
                *scores.exclusion_notes(self.shown),
                *scores.notes(self.metrics),
            ],
            scores.missing(self.metrics),
            self.beside,
            alike=(1, 2),
        )

    def titles(self) -> list[str]:
        return [each.label for _, each in self.shown]

    def remarks(self) -> list[str]:
        return []


class PublishedTable(WrittenTable):
    key = "mediqa"
    title = "Systems against written summaries, as published (MEDIQA-AnS, Tables 5 to 7)"
    subtitle = "Recall of ROUGE-1, -2 and -3 in percent, and BLEU, 0 to 100"
    shown = AS_PUBLISHED

    def remarks(self) -> list[str]:
        return [
            "As published: the programs of MEDIQA-AnS call py-rouge for ROUGE-1 to -3 with recall only and unpack its "
            "sorted result, so the column that the paper calls ROUGE-L has ROUGE-3 recall. Tokens are those of "
            "rouge-score; py-rouge's differ slightly.",
            OF_SUMMARIES,
        ]


class StandardTable(WrittenTable):
    key = "mediqa-standard"
    beside = "mediqa"
    title = "Systems against written summaries, standard ROUGE"
    subtitle = "F1, precision and recall of ROUGE-1, -2 and -L in percent"
    metrics = ("rouge",)
    shown = STANDARD


COLUMNS = (
    Column("Figure", False),
    Column("Level", False),
    Column("Against", False),
    Column("First", False),
    Column("Second", False),
    Column("n"),
    Column("Zeros"),
    Column("Mean of first"),
    Column("Mean of second"),
    Column("Difference"),
    Column("W+"),
    Column("W-"),
    Column("p (Wilcoxon)"),
    Column("p (swaps)"),
    Column("p (swaps, Holm)"),
)
#: The figures that are compared, as published first.
TESTED = [
    (metric, figure(metric, key))
    for metric, keys in (("rouge", (*PUBLISHED, *every_compared_figure("rouge"))), ("bleu", ("bleu",)))
    for key in dict.fromkeys(keys)
]


class WilcoxonTable(PairsTable):
    key = "mediqa-pairs"
    beside = "mediqa"
    title = "Pairwise differences: Wilcoxon signed-rank tests (MEDIQA-AnS)"
    metrics = ("rouge", "bleu")

    def is_of(self, data: Scores) -> bool:
        return bool(data.written_runs)

    def build(self, data: Scores) -> Table:
        scores = data.only(data.written_runs)
        rows = [
            self._row(pair, declared, family.level, family.against)
            for metric, declared in TESTED
            for family in scored_families(scores, metric, declared.key)
            for pair in family.pairs
        ]
        return Table(
            self.key,
            self.title,
            f"Tests of the scores of the same summarised units, {scores.project.name}: one row per figure, reference "
            "and pair of systems of one level.",
            COLUMNS,
            rows,
            [
                f"{METHOD}. n: pairs of scores of the same unit and reference; zeros: pairs without a difference. W+ "
                "and W-: sums of the ranks of positive and negative differences (first minus second).",
                "Wilcoxon's test counts passages of one question as independent, and its p is not adjusted. p (swaps): "
                "permutation test that swaps whole questions; Holm: adjusted over the pairs of systems with one "
                "figure, level and reference. Differences have 95% intervals, clustered by question.",
                *self._incomparable_notes(scores),
                *scores.hidden(),
            ],
            self._steps(scores),
            self.beside,
        )

    def _steps(self, scores: Scores) -> list[Missing]:
        return [*scores.missing(self.metrics), *self._missing(scores)]

    @staticmethod
    def _row(pair: Compared[ScoredRun], declared: Figure, level: str, against: str) -> list[Cell]:
        comparison, ranks = pair.comparison, pair.comparison.ranks
        difference, scale, decimals = comparison.difference, declared.scale, declared.decimals
        names = [Cell(declared.label), Cell(level), Cell(against), pair.first.name_cell, pair.second.name_cell]
        if ranks is None or comparison.first is None or comparison.second is None or difference.value is None:
            return [*names, Cell(difference.n), *[Cell(None, undefined=difference.undefined)] * 9]
        ci = (difference.ci[0] * scale, difference.ci[1] * scale) if difference.ci else None
        p = Cell(None, undefined=ranks.undefined) if ranks.p is None else Cell(ranks.p, 4, is_p=True)
        return [
            *names,
            Cell(ranks.n),
            Cell(ranks.zeros),
            Cell(comparison.first * scale, decimals),
            Cell(comparison.second * scale, decimals),
            Cell(difference.value * scale, decimals, ci, ci_reason=difference.ci_reason),
            Cell(ranks.positive, 1),
            Cell(ranks.negative, 1),
            p,
            Cell(comparison.p, 4, is_p=True),
            Cell(pair.adjusted, 4, is_p=True),
        ]
