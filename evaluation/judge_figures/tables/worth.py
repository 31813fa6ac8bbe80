"""Table of what judges are worth: agreement, the alternative annotator test and the decision by criterion."""

from typing import Any

from projects.reports.table import Cell, Column, Table

from ...results.tables.building import ROUND, ends, figure
from .reading import Judges, JudgesTable, WorthOfJudge

Json = dict[str, Any]
DECISIONS = {"yes": "may replace a rater", "no": "may not replace a rater", "unknown": "cannot be shown"}


class WorthTable(JudgesTable):
    key = "judges"
    title = "What judges are worth"

    def build(self, data: Judges) -> Table:
        return Table(
            self.key,
            self.title,
            (
                "Agreement of model judges with people beside people's own, and the alternative annotator test "
                "(Calderon et al., 2025): share of raters against whom the judge wins. The lower of the winning rates "
                "of the t test and of the test clustered by source is given."
            ),
            [
                ROUND,
                Column("Judge", False),
                Column("Criterion", False),
                Column("Coefficient", False),
                Column("People"),
                Column("Judge with people"),
                Column("Difference"),
                Column("Winning rate"),
                Column("Epsilon"),
                Column("Advantage"),
                Column("Texts"),
                Column("Decision", False),
            ],
            [_row(each, row) for each in data.judges for row in each.figures["criteria"]],
            [
                "Brackets: 95% confidence intervals clustered by source.",
                *[f"{each.round.name}: {row['sentence']}" for each in data.judges for row in each.figures["criteria"]],
            ],
            [],
            alike=(0, 1, 2),
        )


def _row(each: WorthOfJudge, row: Json) -> list[Cell]:
    agreement, test = row["agreement"], row["alternative"]
    undefined = test["undefined"] or test["undefined_clustered"]
    return [
        Cell(each.round.name),
        Cell(each.judge),
        Cell(each.called(row["criterion"])),
        Cell(agreement["coefficient"]),
        *[_figure(agreement[name]) for name in ("own", "judge", "difference")],
        figure(test["cited"], undefined),
        Cell(test["epsilon"], 2),
        figure(test["advantage"], undefined),
        Cell(row["n"]),
        Cell(DECISIONS[row["decision"]]),
    ]


def _figure(row: Json) -> Cell:
    return figure(row["value"], row["undefined"], ci=ends(row["ci"]), ci_reason=row["ci_reason"])
