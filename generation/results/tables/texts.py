"""Table of further text metrics: corpus BLEU and chrF, length and repetition."""

from projects.reports.table import Cell, Column, Table

from ...scoring.computing import OWN
from .building import LEADING_COLUMNS, ScoresTable, figure, leading_cells
from .scored import Scores
from .scored_run import ScoredRun
from .wording import INTERVALS

MEANS = (("length", "words"), ("length", "sentences"), ("length", "words_ratio"), ("repetition", "repeated_2"))


class TextsTable(ScoresTable):
    key = "texts"
    title = "BLEU, chrF, length and repetition"
    metrics = ("bleu", "chrf", "length", "repetition")

    def build(self, scores: Scores) -> Table:
        rows = []
        for scored_run in scores.runs:
            cells, n = leading_cells(scores, scored_run, OWN, [*MEANS, ("bleu", "bleu"), ("chrf", "chrf")])
            del cells[2]
            cells += [self._of_corpus(scores, scored_run, metric, n) for metric in ("bleu", "chrf")]
            cells += [scores.cell(metric, scored_run, figure(metric, key), OWN, n) for metric, key in MEANS]
            rows.append(cells)
        columns = [column for column in LEADING_COLUMNS if column.title != "Against"]
        columns += [Column("BLEU"), Column("chrF"), *(Column(figure(*mean).label) for mean in MEANS)]
        return Table(
            self.key,
            self.title,
            f"Corpus BLEU and chrF against the own targets, 0 to 100, {scores.project.name}; means of the other "
            "figures. n: summaries.",
            columns,
            rows,
            [
                INTERVALS,
                *scores.exclusion_notes((metric, figure(metric, key)) for metric, key in MEANS),
                *self._signatures(scores),
                *scores.notes(("length", "repetition")),
            ],
            scores.missing(self.metrics),
        )

    def _signatures(self, scores: Scores) -> list[str]:
        """Return the sacrebleu signatures of the corpus figures."""
        signatures = [
            f"{metric}: {corpus[metric]['signature']}."
            for metric in ("bleu", "chrf")
            for scored_run in scores.runs
            if (corpus := scores.corpus(metric, scored_run.run)[0]) and corpus[metric]["signature"]
        ]
        return list(dict.fromkeys(signatures))

    def _of_corpus(self, scores: Scores, scored_run: ScoredRun, metric: str, n: int) -> Cell:
        corpus, reason = scores.corpus(metric, scored_run.run)
        if corpus is None:
            return Cell(None, undefined=reason)
        result = corpus[metric]
        if result["score"] is None:
            return Cell(None, undefined=result["undefined"])
        return Cell(result["score"], 1, n=result["n"] if result["n"] != n else None)
