"""M3's Table 4: overlap with the target, by system."""

from projects.tables import Column, Table

from ..scoring.printed import BERTSCORE, ROUGE
from .building import BEGINNING, ScoresTable, beginning, figure, rows_of
from .scored import INTERVALS, Scores

SHOWN = [*(("rouge", figure("rouge", key)) for key in ROUGE), ("bertscore", figure("bertscore", BERTSCORE))]


class OverlapTable(ScoresTable):
    key = "m3-4"
    title = "Overlap with the target (M3, Table 4)"
    metrics = ("rouge", "bertscore")

    def build(self, scores: Scores) -> Table:
        rows = []
        for at, side in rows_of(scores):
            cells, n = beginning(scores, at, side, [("rouge", ROUGE[0]), ("bertscore", BERTSCORE)])
            cells += [scores.cell("rouge", at, figure("rouge", key), side, n) for key in ROUGE]
            cells.append(scores.cell("bertscore", at, figure("bertscore", BERTSCORE), side, n))
            rows.append(cells)
        return Table(
            self.key,
            self.title,
            f"F1 of ROUGE in per cent and of BERTScore, {scores.project.name}: a row for every system, level and "
            "kind of reference; n counts pairs of a summary and a reference.",
            [*BEGINNING, *(Column(name, better="higher") for name in ("ROUGE-1", "ROUGE-2", "ROUGE-L", "BERTScore"))],
            rows,
            [INTERVALS, *scores.left_out(SHOWN), *scores.notes(self.metrics)],
            scores.missing(self.metrics), alike=(1, 2),
        )  # fmt: skip
