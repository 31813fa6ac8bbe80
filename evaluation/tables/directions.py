"""MS^2's directions of effect: what texts say against what the references say."""

from collections.abc import Iterator

from projects.tables import Cell, Column, Table

from .building import ROUND, Json, RatedRound, Ratings, RatingsTable, ends, figure, per_cent


class DirectionsTable(RatingsTable):
    key = "directions"
    title = "Direction of effect against the references (MS^2)"

    def is_of(self, data: Ratings) -> bool:
        return any(made["systems"] for each in data.reckoned for made in (each.figures or {})["directions"])

    def _systems(self, data: Ratings) -> Iterator[tuple[RatedRound, Json]]:
        for each in data.reckoned:
            for made in (each.figures or {})["directions"]:
                for system in made["systems"]:
                    yield each, system

    def build(self, data: Ratings) -> Table:
        return Table(
            self.key, self.title,
            "Texts whose direction is that of the reference for the same source, both judged by people who did not "
            "know which was which.",
            [ROUND, Column("System", False), Column("Accuracy", better="higher"),
             Column("Kappa", better="higher"), Column("n"), Column("Left out"),
             Column("Raters even")],
            [
                [
                    Cell(each.name), Cell(system["system"]),
                    figure(per_cent(system["accuracy"]), system["undefined"], 1, ci=ends(system["wilson"], 100),
                           n=system["n"], count=system["correct"]),
                    figure(system["kappa"], system["no_kappa"] or system["undefined"], 3, ci=ends(system["kappa_ci"])),
                    Cell(system["n"]), Cell(system["excluded"]), Cell(system["split"]),
                ]
                for each, system in self._systems(data)
            ],
            ["Intervals of accuracy: Wilson's. Left out: references that were skipped.", *data.notes()],
            data.missing(), alike=(0,),
        )  # fmt: skip


class DirectionMatrixTable(DirectionsTable):
    key = "direction-matrix"
    title = "Directions, references in rows"
    beside = "directions"

    def build(self, data: Ratings) -> Table:
        found = list(self._systems(data))
        classes = list(dict.fromkeys(name for _, system in found for name in system["classes"]))
        return Table(
            self.key, self.title,
            "How many texts were given the direction of a column where the reference was given that of the row.",
            [ROUND, Column("System", False), Column("Reference", False), *map(Column, classes)],
            [
                [Cell(each.name), Cell(system["system"]), Cell(gold), *self._counts(system, row, classes)]
                for each, system in found
                for gold, row in zip(system["classes"], system["table"], strict=True)
            ],
            missing=data.missing(), beside=self.beside,
        )  # fmt: skip

    def _counts(self, system: Json, row: list[int], classes: list[str]) -> list[Cell]:
        of = dict(zip(system["classes"], row, strict=True))
        return [Cell(of.get(name, 0)) for name in classes]
