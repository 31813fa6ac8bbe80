"""M3's Table 4: overlap with the target, by system."""

from projects.reports.table import Column, Table

from ...scoring.checking import BERTSCORE, ROUGE
from .building import LEADING_COLUMNS, ScoresTable, figure, leading_cells, rows_of
from .scored import Scores
from .wording import INTERVALS

SHOWN = [*(("rouge", figure("rouge", key)) for key in ROUGE), ("bertscore", figure("bertscore", BERTSCORE))]


class OverlapTable(ScoresTable):
    key = "m3-4"
    title = "Overlap with the target (M3, Table 4)"
    metrics = ("rouge", "bertscore")

    def is_of(self, data: Scores) -> bool:
        return data.has_targets

    def build(self, data: Scores) -> Table:
        scores = data.only(data.target_runs)
        rows = []
        for scored_run, side in rows_of(scores):
            cells, n = leading_cells(scores, scored_run, side, [("rouge", ROUGE[0]), ("bertscore", BERTSCORE)])
            cells += [scores.cell("rouge", scored_run, figure("rouge", key), side, n) for key in ROUGE]
            cells.append(scores.cell("bertscore", scored_run, figure("bertscore", BERTSCORE), side, n))
            rows.append(cells)
        return Table(
            self.key,
            self.title,
            f"F1 of ROUGE in percent and of BERTScore, {scores.project.name}: one row per system, level and kind of "
            "reference. n: pairs of a summary and a reference.",
            [
                *LEADING_COLUMNS,
                *(Column(name, better="higher") for name in ("ROUGE-1", "ROUGE-2", "ROUGE-L", "BERTScore")),
            ],
            rows,
            [INTERVALS, *scores.exclusion_notes(SHOWN), *scores.notes(self.metrics)],
            scores.missing(self.metrics),
            alike=(1, 2),
        )
