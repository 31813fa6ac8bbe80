"""M3's Table 6: ROUGE against the inputs, and in brackets how much closer a summary is to them than to its target."""

from dataclasses import replace

from projects.tables import Cell, Column, Table

from ..scoring.printed import COPYING, KINDS, OTHERS
from ..scoring.reckoning import OWN
from .building import BEGINNING, ScoresTable, beginning, figure
from .scored import INTERVALS, RunAtHand, Scores

SHOWN = [("copying", figure("copying", key)) for key in COPYING]


class CopyingTable(ScoresTable):
    key = "m3-6"
    title = "Copying from the inputs (M3, Table 6)"
    metrics = ("copying",)

    def build(self, scores: Scores) -> Table:
        rows = []
        for at in scores.runs:
            cells, n = beginning(scores, at, OWN, [("copying", "inputs_rouge1_f1")])
            del cells[2]
            cells += [self._pair(scores, at, kind, n) for kind in KINDS]
            cells += [scores.cell("copying", at, figure("copying", key), OWN, n) for key in OTHERS]
            rows.append(cells)
        columns = [column for column in BEGINNING if column.title != "Against"]
        columns += [Column(title) for title in KINDS.values()]
        columns += [Column(figure("copying", key).label) for key in OTHERS]
        return Table(
            self.key,
            self.title,
            f"F1 of ROUGE of summaries against their inputs, in per cent, {scores.project.name}; in round brackets "
            "that less ROUGE against the own target, with an interval of its own: positive is closer to the inputs "
            "than to what should be said. n counts summaries.",
            columns,
            rows,
            [
                INTERVALS,
                "Coverage in per cent of a summary's tokens.",
                *scores.left_out(SHOWN),
                *scores.notes(self.metrics),
            ],
            scores.missing(self.metrics),
        )

    def _pair(self, scores: Scores, at: RunAtHand, kind: str, n: int) -> Cell:
        cell = scores.cell("copying", at, figure("copying", f"inputs_{kind}_f1"), OWN, n)
        difference = figure("copying", f"difference_{kind}_f1")
        mean = scores.found("copying", at.run, difference.key).mean
        # Without a target there is a figure, and no bracket.
        if cell.undefined or mean.value is None:
            return cell
        return replace(
            cell, bracket=mean.value * difference.scale, bracket_n=mean.n if mean.n != n else None,
            bracket_ci=(mean.ci[0] * difference.scale, mean.ci[1] * difference.scale) if mean.ci else None,
        )  # fmt: skip
