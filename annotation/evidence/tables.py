"""Rankers of evidence side by side, as M3 compared its encoders."""

from functools import cached_property
from typing import Any

from measures.means import Mean
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from ..models import Ranking
from .figures import KEY

#: M3 used this figure to choose the encoder that ranks its candidates.
M3_FIGURE = (
    "For comparison, not computed here: M3 reports .522 on its own data, the accuracy of the best of 15 encoders at "
    "finding a target's evidence in the study's abstract."
)
REFERENCE = "the others are compared with it"
COLUMNS = (
    Column("Ranked by", False),
    Column("n"),
    Column("Reviews"),
    Column("Accuracy (%)", better="higher"),
    Column("Recall at 3 (%)", better="higher"),
    Column("Accuracy minus reference"),
    Column("p"),
    Column("Recall at 3 minus reference"),
    Column("p (recall at 3)"),
)


class RankerData(TableContext):
    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)

    @property
    def figures(self) -> dict[str, Any]:
        return self.stored.figures or {"mapped": 0, "rankings": [], "against": ""}


class RankerTable(ReportTable[RankerData]):
    key = "rankers"
    title = "Rankers of evidence"
    data = RankerData
    #: Same permission as the page *Sentence ranking*, which shows the same figures.
    verb = "curate"

    def is_of(self, data: RankerData) -> bool:
        figures = data.figures
        if data.stored.figures is None:
            return Ranking.objects.filter(target__project=data.project).exists()
        return bool(figures["rankings"] and figures["mapped"])

    def build(self, data: RankerData) -> Table:
        figures = data.figures
        notes = [
            "Accuracy: recall at 1, the share of pairs whose first sentence people chose as evidence. Brackets: 95% CI "
            "clustered by review. Differences are paired, in percentage points; p is of swaps by review, adjusted by "
            "Holm.",
            M3_FIGURE,
        ]
        if figures["against"]:
            notes.insert(1, f"Reference: {figures['against']}, the most accurate.")
        if few := _restricting(figures):
            notes.append(few)
        return Table(
            self.key,
            self.title,
            f"Rankers of the sentences of studies in {data.project.name}, on the same pairs of a target and a study. "
            "n counts the pairs that people mapped and all rankers have ranked.",
            COLUMNS,
            [_row(one) for one in figures["rankings"]],
            [*notes, *data.stored.notes()],
        )


def _restricting(figures: dict[str, Any]) -> str:
    """Return a note on the ranker that restricts the common pairs most; empty if all have ranked the same number."""
    rankings = [one for one in figures["rankings"] if one["mapped"]]
    fewest = min(rankings, key=lambda one: one["mapped"], default=None)
    if fewest is None or fewest["mapped"] == max(one["mapped"] for one in rankings):
        return ""
    return f"{fewest['ranker']} has ranked only {fewest['mapped']:,} of {figures['mapped']:,} mapped pairs."


def _row(one: dict[str, Any]) -> list[Cell]:
    top_1, top_3 = (Mean.from_json(one["report"][name]) for name in ("top_1", "top_3"))
    cells = [Cell(one["ranker"]), Cell(top_1.n), Cell(top_1.clusters), _percent(top_1), _percent(top_3)]
    if not one["differences"]:
        return [*cells, *[Cell(None, undefined=REFERENCE)] * 4]
    for difference in one["differences"]:
        mean = Mean.from_json(difference)
        p = difference["p"]
        cells += [_percent(mean), Cell(None, undefined=mean.undefined) if p is None else Cell(float(p), is_p=True)]
    return cells


def _percent(mean: Mean) -> Cell:
    if mean.value is None:
        return Cell(None, undefined=mean.undefined)
    return Cell(100 * mean.value, ci=mean.ci and (100 * mean.ci[0], 100 * mean.ci[1]), ci_reason=mean.ci_reason)
