"""Systems in rows, what people said of them beside what metrics gave the same texts: the table that a paper prints."""

from measures.ratings.judgements import DERIVED
from projects.tables import Cell, Column, Table

from .building import INTERVALS, ROUND, Json, RatedRound, Ratings, RatingsTable, ends
from .criteria import LETTERS

EMPTY = Cell("")


class RatedSystemsTable(RatingsTable):
    key = "rated-systems"
    title = "Systems: people and metrics"
    beside = "ratings"

    def build(self, data: Ratings) -> Table:
        criteria = {
            (each.called(one["criterion"]), one["kind"]): one["better"]
            for each in data.reckoned for one in _criteria(each)
        }  # fmt: skip
        metrics = {name: how for each in data.reckoned for name, how in _headlines(each).items()}
        return Table(
            self.key, self.title,
            "What people said of systems, means of numbers and shares of good ratings in per cent, by the rules that "
            "each round declared; and what metrics gave the texts that were rated.",
            [
                ROUND, Column("System", False), Column("Texts"),
                *(Column(f"{name} (%)" if kind == "share" else name, better=better)
                  for (name, kind), better in criteria.items()),
                *(Column(how["label"], better=how["better"]) for how in metrics.values()),
            ],
            [
                [Cell(each.name), Cell(system), Cell(_texts(each, system)),
                 *(_said(each, system, *which) for which in criteria),
                 *(_given(each, system, metric, how) for metric, how in metrics.items())]
                for each in data.reckoned for system in each.cited["systems"]
            ],
            [INTERVALS, LETTERS, "Best in bold.", *data.notes()],
            data.missing(), beside=self.beside, alike=(0,),
        )  # fmt: skip


def _criteria(each: RatedRound) -> list[Json]:
    return [one for one in each.cited["criteria"] if DERIVED not in one["criterion"] and one["kind"] != "counts"]


def _headlines(each: RatedRound) -> dict[str, Json]:
    """The metrics of a round that stand for the others, with how they are printed."""
    there = {one["metric"] for one in each.cited["metrics"]}
    return {name: how for name, how in (each.figures or {})["printed"].items() if how["headline"] and name in there}


def _texts(each: RatedRound, system: str) -> int:
    """Of how many texts of a system something was said that counts."""
    return max((row["n"] for one in _criteria(each) for row in one["systems"] if row["system"] == system), default=0)


def _said(each: RatedRound, system: str, name: str, kind: str) -> Cell:
    for one in _criteria(each):
        if each.called(one["criterion"]) == name and one["kind"] == kind:
            row = next(row for row in one["systems"] if row["system"] == system)
            scale, decimals = (100, 1) if kind == "share" else (1, 2)
            return _cell(each, row, scale, decimals, one["letters"].get(system, ""))
    return EMPTY


def _given(each: RatedRound, system: str, metric: str, how: Json) -> Cell:
    for one in each.cited["metrics"]:
        if one["metric"] == metric:
            row = next(row for row in one["systems"] if row["system"] == system)
            return _cell(each, row, how["scale"], how["decimals"])
    return EMPTY


def _cell(each: RatedRound, row: Json, scale: float, decimals: int, letters: str = "") -> Cell:
    """A figure; its n only where that is not the number of the row's texts."""
    if row["value"] is None:
        return Cell(None, undefined=row["undefined"])
    n = None if row["n"] == _texts(each, row["system"]) else row["n"]
    return Cell(row["value"] * scale, decimals, ends(row["ci"], scale), n=n, letters=letters)
