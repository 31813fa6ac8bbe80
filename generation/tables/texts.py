"""What else is measured of the texts: BLEU and chrF of the corpus, length, repetition."""

from projects.tables import Cell, Column, Table

from ..scoring.reckoning import NOT_SCORED, OWN
from .building import BEGINNING, ScoresTable, beginning, figure
from .scored import INTERVALS, RunAtHand, Scores

MEANS = (("length", "words"), ("length", "sentences"), ("length", "words_ratio"), ("repetition", "repeated_2"))


class TextsTable(ScoresTable):
    key = "texts"
    title = "BLEU, chrF, length and repetition"
    metrics = ("bleu", "chrf", "length", "repetition")

    def build(self, scores: Scores) -> Table:
        rows = []
        for at in scores.runs:
            cells, n = beginning(scores, at, OWN, [*MEANS, ("bleu", "bleu"), ("chrf", "chrf")])
            del cells[2]
            cells += [self._of_corpus(scores, at, metric, n) for metric in ("bleu", "chrf")]
            cells += [scores.cell(metric, at, figure(metric, key), OWN, n) for metric, key in MEANS]
            rows.append(cells)
        columns = [column for column in BEGINNING if column.title != "Against"]
        columns += [Column("BLEU"), Column("chrF"), *(Column(figure(*mean).label) for mean in MEANS)]
        return Table(
            self.key,
            self.title,
            f"BLEU and chrF of all summaries together against their own targets, 0 to 100, {scores.project.name}; "
            "means of the rest. n counts summaries.",
            columns,
            rows,
            [
                INTERVALS,
                *scores.left_out((metric, figure(metric, key)) for metric, key in MEANS),
                *self._signatures(scores),
                *scores.notes(("length", "repetition")),
            ],
            scores.missing(self.metrics),
        )

    def _signatures(self, scores: Scores) -> list[str]:
        """How the figures of the corpus were made: sacrebleu's own words."""
        said = [
            f"{metric}: {scoring.corpus[metric]['signature']}."
            for metric in ("bleu", "chrf")
            for at in scores.runs
            if (scoring := scores.scoring(metric, at.run)) and scoring.corpus[metric]["signature"]
        ]
        return list(dict.fromkeys(said))

    def _of_corpus(self, scores: Scores, at: RunAtHand, metric: str, n: int) -> Cell:
        scoring = scores.scoring(metric, at.run)
        if scoring is None:
            return Cell(None, undefined=NOT_SCORED)
        found = scoring.corpus[metric]
        if found["score"] is None:
            return Cell(None, undefined=found["undefined"])
        return Cell(found["score"], 1, n=found["n"] if found["n"] != n else None)
