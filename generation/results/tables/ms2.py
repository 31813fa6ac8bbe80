"""The MS^2 table: ROUGE, delta-EI and direction F1, by system."""

from projects.reports.table import Cell, Column, Table

from ...scoring.checking import ROUGE
from ...scoring.computing import OWN
from .building import LEADING_COLUMNS, ScoresTable, figure, leading_cells
from .scored import Scores
from .scored_run import ScoredRun
from .wording import INTERVALS

DELTAS = {"delta_ei": "Delta-EI (ln)", "delta_ei_base2": "Delta-EI (base 2)", "delta_ei_prior": "Prior baseline (ln)"}
LEXICON = (
    "Directions of {} were classified by a cue lexicon, not by a trained classifier: these figures are not comparable "
    "with published ones."
)


class DirectionTable(ScoresTable):
    key = "ms2"
    title = "ROUGE, delta-EI and direction F1 (MS^2)"
    metrics = ("rouge", "direction")

    def is_of(self, data: Scores) -> bool:
        return data.has_targets

    def build(self, data: Scores) -> Table:
        scores = data.only(data.target_runs)
        rows = []
        for scored_run in scores.runs:
            cells, n = leading_cells(scores, scored_run, OWN, [("rouge", ROUGE[0]), ("direction", "pairs")])
            del cells[2]
            cells += [scores.cell("rouge", scored_run, figure("rouge", key), OWN, n) for key in ROUGE]
            cells += [scores.cell("direction", scored_run, figure("direction", key), OWN, n) for key in DELTAS]
            cells += self._f1(scores, scored_run)
            rows.append(cells)
        columns = [column for column in LEADING_COLUMNS if column.title != "Against"]
        columns += [Column(name, better="higher") for name in ("ROUGE-1", "ROUGE-2", "ROUGE-L")]
        # The figure of the prior baseline does not depend on the system, so neither direction is better.
        columns += [Column(name, better="" if "prior" in key else "lower") for key, name in DELTAS.items()]
        columns += [Column("Pairs"), Column("Macro F1", better="higher"), Column("Micro F1", better="higher")]
        return Table(
            self.key,
            self.title,
            f"F1 of ROUGE in percent, {scores.project.name}; delta-EI: distance between the directions of own target "
            "and summary for each pair of an intervention and an outcome, averaged over the pairs of a unit, then "
            "over units, 0 is best; F1 of the likeliest direction over all pairs. n: summaries; units without a pair "
            "have no delta-EI.",
            columns,
            rows,
            [
                INTERVALS,
                "The maximum of delta-EI is 0.83 with natural logarithms (MS^2's paper) and 1 in base 2 (its programs)."
                " Prior baseline: delta-EI of always answering with MS^2's prior.",
                "Pairs from tags: distinct ones (pairs_of, as in MS^2's files) or every tag (every_pair_of, as in the "
                "scorers of MS^2 and MSLR); the parameters below say which.",
                "Macro F1 is over the classes that occur. Direction is increase or decrease, never benefit or harm.",
                *self._lexicon(scores),
                *scores.exclusion_notes(("direction", figure("direction", key)) for key in list(DELTAS)[:1]),
                *scores.notes(self.metrics),
            ],
            scores.missing(self.metrics),
            alike=(1,),
        )

    def _f1(self, scores: Scores, scored_run: ScoredRun) -> list[Cell]:
        corpus, reason = scores.corpus("direction", scored_run.run)
        if corpus is None:
            return [Cell(None, undefined=reason)] * 3
        if corpus["macro_f1"] is None:
            return [Cell(0), *[Cell(None, undefined=corpus["undefined"])] * 2]
        return [Cell(corpus["n_pairs"]), Cell(corpus["macro_f1"], 3), Cell(corpus["micro_f1"], 3)]

    def _lexicon(self, scores: Scores) -> list[str]:
        names = [
            scored_run.name
            for scored_run in scores.runs
            if (scoring := scores.scoring("direction", scored_run.run)) and scoring.params["classifier"] == "lexicon"
        ]
        return [LEXICON.format(", ".join(dict.fromkeys(names)))] if names else []
