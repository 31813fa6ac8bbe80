"""MS^2's table: ROUGE, delta-EI and direction F1, by system."""

from projects.tables import Cell, Column, Table

from ..scoring.printed import ROUGE
from ..scoring.reckoning import NOT_SCORED, OWN
from .building import BEGINNING, ScoresTable, beginning, figure
from .scored import INTERVALS, RunAtHand, Scores

DELTAS = {"delta_ei": "Delta-EI (ln)", "delta_ei_base2": "Delta-EI (base 2)", "delta_ei_prior": "Prior baseline (ln)"}
LEXICON = (
    "Directions of {} were read by a word list, not by a trained classifier: these figures are not comparable with "
    "published ones."
)


class DirectionTable(ScoresTable):
    key = "ms2"
    title = "ROUGE, delta-EI and direction F1 (MS^2)"
    metrics = ("rouge", "direction")

    def build(self, scores: Scores) -> Table:
        rows = []
        for at in scores.runs:
            cells, n = beginning(scores, at, OWN, [("rouge", ROUGE[0]), ("direction", "pairs")])
            del cells[2]
            cells += [scores.cell("rouge", at, figure("rouge", key), OWN, n) for key in ROUGE]
            cells += [scores.cell("direction", at, figure("direction", key), OWN, n) for key in DELTAS]
            cells += self._f1(scores, at)
            rows.append(cells)
        columns = [column for column in BEGINNING if column.title != "Against"]
        columns += [Column(name, better="higher") for name in ("ROUGE-1", "ROUGE-2", "ROUGE-L")]
        # What always answering with the prior would get is nobody's merit.
        columns += [Column(name, better="" if "prior" in key else "lower") for key, name in DELTAS.items()]
        columns += [Column("Pairs"), Column("Macro F1", better="higher"), Column("Micro F1", better="higher")]
        return Table(
            self.key,
            self.title,
            f"F1 of ROUGE in per cent, {scores.project.name}; delta-EI: distance between what the own target and the "
            "summary say of each pair of an intervention and an outcome, averaged over the pairs of a unit, then over "
            "units, 0 is best; F1 of the likeliest direction over all pairs. n counts summaries; units without a pair "
            "have no delta-EI.",
            columns,
            rows,
            [
                INTERVALS,
                "Delta-EI by natural logarithms reaches 0.83 at most (MS^2's paper), in base 2 1 (its programs)."
                " Of the prior: what always answering with MS^2's prior would get.",
                "Macro F1 is over the classes that occur. Direction is rise or fall, never benefit or harm.",
                *self._lexicon(scores),
                *scores.left_out(("direction", figure("direction", key)) for key in list(DELTAS)[:1]),
                *scores.notes(self.metrics),
            ],
            scores.missing(self.metrics),
            alike=(1,),
        )

    def _f1(self, scores: Scores, at: RunAtHand) -> list[Cell]:
        scoring = scores.scoring("direction", at.run)
        if scoring is None:
            return [Cell(None, undefined=NOT_SCORED)] * 3
        found = scoring.corpus
        if found["macro_f1"] is None:
            return [Cell(0), *[Cell(None, undefined=found["undefined"])] * 2]
        return [Cell(found["n_pairs"]), Cell(found["macro_f1"], 3), Cell(found["micro_f1"], 3)]

    def _lexicon(self, scores: Scores) -> list[str]:
        read = [
            at.name
            for at in scores.runs
            if (scoring := scores.scoring("direction", at.run)) and scoring.params["classifier"] == "lexicon"
        ]
        return [LEXICON.format(", ".join(dict.fromkeys(read)))] if read else []
