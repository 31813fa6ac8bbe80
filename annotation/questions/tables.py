"""Table of the agreement between people who wrote summaries (MEDIQA-AnS, Table 3)."""

from functools import cached_property
from typing import Any

from measures.means import Mean
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from .figures import KEY

TITLES = {"rouge2": "ROUGE-2 F1", "rouge_l": "ROUGE-L F1", "bleu": "BLEU"}
FIRST = {"passage": "of a passage", "all": "of all passages"}


class WriterData(TableContext):
    """Stored agreement. It contains no texts."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)


class WriterTable(ReportTable[WriterData]):
    key = "writers"
    title = "Agreement between writers"
    data = WriterData

    def is_of(self, data: WriterData) -> bool:
        return any(row["pairs"] for of in ("types", "forms") for row in (data.stored.figures or {}).get(of, ()))

    def build(self, data: WriterData) -> Table:
        figures = data.stored.figures
        rows = [[*_names(row["type"]), *_cells(row)] for row in figures["types"]]
        against = Cell("extractive against abstractive")
        rows += [[against, Cell(FIRST[row["type"]]), *_cells(row)] for row in figures["forms"]]
        return Table(
            self.key,
            self.title,
            f"Agreement between {len(figures['writers'])} writers of {data.project.name}, imported ones included, with "
            "95% CI over questions.",
            [
                *(Column(title, False) for title in ("Compared", "Summary")),
                *map(Column, ("Pairs", "Questions", "Left out", *TITLES.values())),
            ],
            rows,
            [
                f"Between writers: {figures['method']}. ROUGE F1 is the same in both directions.",
                f"Extractive against abstractive: {figures['forms_method']}; one direction.",
                "Left out: pairs with an empty text (nothing relevant).",
                f"ROUGE: {figures['libraries']['rouge']}, no stemming. BLEU: sacrebleu {figures['libraries']['bleu']}.",
                *data.stored.notes(),
            ],
        )


def _names(type: str) -> list[Cell]:
    scope, form = type.split(" ")
    return [Cell(form), Cell(FIRST[scope])]


def _cells(row: dict[str, Any]) -> list[Cell]:
    return [
        *(Cell(row[name]) for name in ("pairs", "questions", "left_out")),
        *(_mean(Mean.from_json(row["measures"][name]), 1 if name == "bleu" else 2) for name in TITLES),
    ]


def _mean(mean: Mean, decimals: int) -> Cell:
    return Cell(mean.value, decimals, ci=mean.ci, ci_reason=mean.ci_reason, undefined=mean.undefined)
