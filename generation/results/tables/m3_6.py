"""M3's Table 6: ROUGE against the inputs, and in brackets the difference from ROUGE against the target."""

from dataclasses import replace

from projects.reports.table import Cell, Column, Table

from ...scoring.checking import COPYING, KINDS, OTHERS
from ...scoring.computing import OWN
from .building import LEADING_COLUMNS, ScoresTable, figure, leading_cells
from .scored import Scores
from .scored_run import ScoredRun
from .wording import INTERVALS

SHOWN = [("copying", figure("copying", key)) for key in COPYING]


class CopyingTable(ScoresTable):
    key = "m3-6"
    title = "Copying from the inputs (M3, Table 6)"
    metrics = ("copying",)

    def build(self, scores: Scores) -> Table:
        rows = []
        for scored_run in scores.runs:
            cells, n = leading_cells(scores, scored_run, OWN, [("copying", "inputs_rouge1_f1")])
            del cells[2]
            cells += [self._pair(scores, scored_run, kind, n) for kind in KINDS]
            cells += [scores.cell("copying", scored_run, figure("copying", key), OWN, n) for key in OTHERS]
            rows.append(cells)
        columns = [column for column in LEADING_COLUMNS if column.title != "Against"]
        columns += [Column(title) for title in KINDS.values()]
        columns += [Column(figure("copying", key).label) for key in OTHERS]
        return Table(
            self.key,
            self.title,
            f"F1 of ROUGE of summaries against their inputs, in percent, {scores.project.name}. In round brackets: "
            "minus ROUGE against the own target, with its own interval; positive: closer to the inputs than to the "
            "target. n: summaries.",
            columns,
            rows,
            [
                INTERVALS,
                "Coverage in percent of a summary's tokens.",
                *scores.exclusion_notes(SHOWN),
                *scores.notes(self.metrics),
            ],
            scores.missing(self.metrics),
        )

    def _pair(self, scores: Scores, scored_run: ScoredRun, kind: str, n: int) -> Cell:
        cell = scores.cell("copying", scored_run, figure("copying", f"inputs_{kind}_f1"), OWN, n)
        difference = figure("copying", f"difference_{kind}_f1")
        mean = scores.found("copying", scored_run.run, difference.key).mean
        # Without a target, the figure has no bracket.
        if cell.undefined or mean.value is None:
            return cell
        return replace(
            cell,
            bracket=mean.value * difference.scale,
            bracket_n=mean.n if mean.n != n else None,
            bracket_ci=(mean.ci[0] * difference.scale, mean.ci[1] * difference.scale) if mean.ci else None,
        )
