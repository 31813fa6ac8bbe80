"""MS^2's Table 6: macro F1 of the directions that systems give for pairs of an intervention and an outcome."""

from collections.abc import Mapping
from typing import Any

from projects.reports.table import Cell, Column, Table

from .building import ScoresTable
from .scored import Scores
from .wording import INTERVALS

METRIC = "stated_direction"


class PairDirectionsTable(ScoresTable):
    key = "ms2-6"
    title = "Directions of pairs (MS^2, Table 6)"
    metrics = (METRIC,)

    def is_of(self, data: Scores) -> bool:
        return bool(data.pair_runs)

    def build(self, data: Scores) -> Table:
        scores = data.only(data.pair_runs)
        rows = []
        for scored_run in scores.runs:
            corpus, reason = scores.corpus(METRIC, scored_run.run)
            if corpus is None:
                rows.append([scored_run.name_cell, Cell("macro"), *[Cell(None, undefined=reason)] * 5])
                continue
            rows += [
                [
                    scored_run.name_cell,
                    Cell(name),
                    Cell(each["n"]),
                    Cell(each["outputs"]),
                    *(_share(each[figure], each) for figure in ("precision", "recall", "f1")),
                ]
                for name, each in corpus["classes"].items()
            ]
            rows.append([scored_run.name_cell, Cell("other"), Cell(0), Cell(corpus["other"]), *[Cell("")] * 3])
            rows.append([scored_run.name_cell, Cell("macro"), Cell(corpus["n"]), Cell(corpus["n"]), *_macro(corpus)])
        columns = [Column("System", False), Column("Direction", False), Column("n"), Column("Outputs")]
        columns += [Column(name, better="higher") for name in ("Precision", "Recall", "F1")]
        return Table(
            self.key,
            self.title,
            f"Precision, recall and F1 of the direction that a system names for each pair of an intervention and an "
            f"outcome, against the direction of the review's abstract, in percent, {scores.project.name}. n: pairs "
            "whose review has the direction. Outputs: pairs for which the system names it.",
            columns,
            rows,
            [
                INTERVALS,
                "Macro: mean over the directions that occur. Other: outputs that name no direction; each is a miss for "
                "the direction of its pair. Direction is increase or decrease, never benefit or harm.",
                "The directions of reviews and studies are the current ones: what people decided, else what a model "
                "found. Pairs whose review states no effect have no target.",
                *scores.notes(()),
                *scores.few(self.metrics),
            ],
            scores.missing(self.metrics),
        )


def _share(value: float | None, of: dict[str, float]) -> Cell:
    if value is None:
        return Cell(None, undefined="no pair" if not of["n"] else "no output")
    return Cell(100 * value)


def _macro(corpus: Mapping[str, Any]) -> list[Cell]:
    if corpus["macro_f1"] is None:
        return [Cell(None, undefined=corpus["undefined"])] * 3
    means = [100 * corpus[f"macro_{figure}"] for figure in ("precision", "recall")]
    ci = corpus["ci"] and (100 * corpus["ci"][0], 100 * corpus["ci"][1])
    return [*map(Cell, means), Cell(100 * corpus["macro_f1"], ci=ci, ci_reason=corpus["ci_reason"])]
