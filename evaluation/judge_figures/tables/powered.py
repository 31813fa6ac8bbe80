"""Table of prediction-powered means of systems, beside the human-only means."""

from typing import Any

from projects.reports.table import Cell, Column, Table

from ...results.tables.building import ROUND, ends, figure
from .reading import Judges, JudgesTable, WorthOfJudge

Json = dict[str, Any]


class PoweredTable(JudgesTable):
    key = "judges-means"
    title = "Means of systems from people and judges"
    beside = "judges"

    def build(self, data: Judges) -> Table:
        return Table(
            self.key,
            self.title,
            (
                "Human-only means, and prediction-powered means (PPI++; Angelopoulos et al., 2023) from people's "
                "ratings of some sources and a judge's ratings of all. Valid for any judge, if the sources that people "
                "rated are a random sample."
            ),
            [
                ROUND,
                Column("Judge", False),
                Column("Criterion", False),
                Column("System", False),
                Column("People alone"),
                Column("People and judge"),
                Column("Judge alone"),
                Column("Judge minus people"),
                Column("Sources rated by people"),
                Column("Other sources"),
                Column("As precise as"),
            ],
            [
                _row(each, row, system)
                for each in data.judges
                for row in each.figures["criteria"]
                for system in row["systems"]
            ],
            [
                "Brackets: 95% confidence intervals clustered by source. As precise as: the number of sources that "
                "people alone would have to rate."
            ],
            [],
            alike=(0, 1, 2),
        )


def _row(each: WorthOfJudge, row: Json, system: Json) -> list[Cell]:
    why = system["undefined"]

    def number(name: str, decimals: int = 2, **others: Any) -> Cell:
        return figure(system.get(name), why, decimals, **others)

    return [
        Cell(each.round.name),
        Cell(each.judge),
        Cell(each.called(row["criterion"])),
        Cell(system["system"]),
        number("human", ci=ends(system.get("human_ci")), ci_reason=system.get("human_ci_reason", "")),
        number("value", ci=ends(system.get("ci")), ci_reason=system.get("ci_reason", "")),
        number("judge"),
        number("bias"),
        number("n", 0),
        number("others", 0),
        number("saved", 1),
    ]
