"""Tables of MS^2's directions of effect: system texts compared with references."""

from collections.abc import Iterator

from projects.reports.table import Cell, Column, Table

from .building import ROUND, Json, RatedRound, Ratings, RatingsTable, ends, figure, per_cent, reason


def _whole(value: float) -> Cell:
    """Return a cell with a sum of judgements. It is a whole number unless raters differ."""
    return Cell(value) if isinstance(value, int) else Cell(value, 2)


class DirectionsTable(RatingsTable):
    key = "directions"
    title = "Direction of effect against the references (MS^2)"

    def is_of(self, data: Ratings) -> bool:
        return any(made["systems"] for each in data.computed_rounds for made in (each.figures or {})["directions"])

    def _systems(self, data: Ratings) -> Iterator[tuple[RatedRound, Json]]:
        for each in data.computed_rounds:
            for made in (each.figures or {})["directions"]:
                for system in made["systems"]:
                    yield each, system

    def build(self, data: Ratings) -> Table:
        return Table(
            self.key,
            self.title,
            "Texts with the same direction as the reference for the same source. Both were judged blindly.",
            [
                ROUND,
                Column("System", False),
                Column("Accuracy", better="higher"),
                Column("Kappa", better="higher"),
                Column("n"),
                Column("Left out"),
                Column("Raters differ"),
            ],
            [
                [
                    Cell(each.name),
                    each.system_cell(system["system"]),
                    figure(
                        per_cent(system["accuracy"]),
                        system["undefined"],
                        1,
                        ci=ends(system.get("ci"), 100),
                        ci_reason=reason(system),
                        n=system["n"],
                        count=system["correct"],
                    ),
                    figure(
                        system["kappa"],
                        system["no_kappa"] or system["undefined"],
                        3,
                        ci=ends(system["kappa_ci"]),
                        ci_reason=reason(system, "kappa_ci_reason"),
                    ),
                    _whole(system["n"]),
                    _whole(system["excluded"]),
                    Cell(system["split"]),
                ]
                for each, system in self._systems(data)
            ],
            [
                (
                    "If raters differ, each class is weighted by its share of raters, so counts may be "
                    "fractional. Skipped references are excluded."
                ),
                *data.notes(),
            ],
            data.missing(),
            alike=(0,),
        )


class DirectionMatrixTable(DirectionsTable):
    key = "direction-matrix"
    title = "Directions (references in rows)"
    beside = "directions"

    def build(self, data: Ratings) -> Table:
        found = list(self._systems(data))
        classes = list(dict.fromkeys(name for _, system in found for name in system["classes"]))
        return Table(
            self.key,
            self.title,
            "Number of texts with the column's direction whose reference has the row's direction.",
            [ROUND, Column("System", False), Column("Reference", False), *map(Column, classes)],
            [
                [Cell(each.name), each.system_cell(system["system"]), Cell(gold), *self._counts(system, row, classes)]
                for each, system in found
                for gold, row in zip(system["classes"], system["table"], strict=True)
            ],
            missing=data.missing(),
            beside=self.beside,
        )

    def _counts(self, system: Json, row: list[float], classes: list[str]) -> list[Cell]:
        of = dict(zip(system["classes"], row, strict=True))
        return [_whole(of.get(name, 0)) for name in classes]
