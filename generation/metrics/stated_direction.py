"""The direction that an output names, compared with that of its target: MS^2's table-to-table task (Table 6)."""

from collections.abc import Iterable
from typing import Any

from measures.means import FROM_0_TO_1
from measures.stated_direction import CELLS, OTHER, compare_directions, macro_f1

from .protocol import CpuMetric, Figure, Judged, Params, PerSummaryScorer, Row

NO_DIRECTION = "the target names no direction"
SHARES = ("correct", OTHER)


class StatedDirectionMetric(CpuMetric):
    key = "stated_direction"
    name = "Stated direction"
    description = (
        "For outputs that only name a direction, as at the level of pairs: macro F1 over the three directions of MS^2. "
        "An output that names none of them counts as other."
    )
    figures: tuple[Figure, ...] = (
        Figure("correct", "Correct directions", scale=100, bounds=FROM_0_TO_1, better="higher", headline=True),
        Figure(OTHER, "Outputs without a direction", scale=100, bounds=FROM_0_TO_1, better="lower"),
        *(Figure(cell, f"Target {cell.replace('/', ', output ')}", scale=100, bounds=FROM_0_TO_1) for cell in CELLS),
    )
    has_corpus = True

    def libraries(self, params: Params) -> dict[str, Any]:
        return {}

    def load(self, params: Params) -> "StatedDirectionScorer":
        return StatedDirectionScorer()


class StatedDirectionScorer(PerSummaryScorer):
    def rows(self, judged: Judged) -> list[Row]:
        return [_row(reference.unit, judged.text, reference.text) for reference in judged.material.references]

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """Compute macro F1 over all summaries, each against its own target, from the counts in the rows."""
        return macro_f1(
            (judged.material.review, row.values)
            for judged, rows in everything
            for row in rows
            if judged.material.own and row.reference == judged.material.own.unit
        )


def _row(reference: int, text: str, target: str) -> Row:
    values = compare_directions(text, target)
    if values is None:
        names = (*SHARES, *CELLS)
        return Row(reference, dict.fromkeys(names), dict.fromkeys(names, NO_DIRECTION))
    return Row(reference, {**values})
