"""M3's Tables 3 and 5: system outputs compared with their targets."""

from collections.abc import Mapping, Sequence

from projects.reports.table import Cell, Column, Table

from .building import ROUND, Json, RatedRound, Ratings, RatingsTable, share

TABLE_3: Mapping[str, str] = {
    "m3:pico": "PICO",
    "m3:polarity": "Polarity",
    "m3:modality": "Modality",
    "m3:all correct": "All correct",
    "m3:all wrong": "All wrong",
}
TABLE_5: Mapping[str, str] = {
    **TABLE_3,
    "m3:hallucination": "Hallucination",
    "m3:repetition": "Repetition",
    "m3:no evidence": "No evidence",
}
#: Direction of each column. Lower is better for columns that are missing here.
BETTER = {
    "m3:pico": "higher",
    "m3:polarity": "higher",
    "m3:modality": "higher",
    "m3:all correct": "higher",
    "m3:no evidence": "",
}
HALLUCINATION = "m3:hallucination"


def by_key(figures: Json) -> dict[str, Mapping[str, Json]]:
    """Return criterion -> system -> figure."""
    return {each["criterion"]: {row["system"]: row for row in each["systems"]} for each in figures["criteria"]}


class _M3Table(RatingsTable):
    columns: Mapping[str, str]
    with_hallucination: bool

    def _rounds(self, data: Ratings) -> list[RatedRound]:
        return [each for each in data.computed_rounds if each.figures["m3"] is not None and self._is_here(each)]  # type: ignore[index]

    def _is_here(self, each: RatedRound) -> bool:
        rows = by_key(each.cited).get(HALLUCINATION, {}).values()
        return any(row["n"] for row in rows) == self.with_hallucination

    def is_of(self, data: Ratings) -> bool:
        return bool(self._rounds(data))

    def build(self, data: Ratings) -> Table:
        rounds = self._rounds(data)
        return Table(
            self.key,
            self.title,
            (
                "Outputs that match the target: percentage, count and denominator. The denominator of "
                "polarity is the number of outputs with a judged polarity."
            ),
            [
                ROUND,
                Column("System", False),
                *(Column(name, better=BETTER.get(key, "lower")) for key, name in self.columns.items()),
            ],
            [row for each in rounds for row in self._rows(each)],
            [
                (
                    "PICO: all PICO elements of the target match. All correct: PICO, polarity and modality "
                    "match; all wrong: none matches. In both, polarity N/A counts as incorrect."
                ),
                *self._odd(rounds),
                *self._not_compared(rounds),
                *data.notes(rounds),
            ],
            data.missing(),
            alike=(0,),
        )

    def _rows(self, each: RatedRound) -> list[list[Cell]]:
        found = by_key(each.cited)
        return [
            [Cell(each.name), each.system_cell(system), *(share(found[key][system]) for key in self.columns)]
            for system in each.cited["systems"]
        ]

    def _odd(self, rounds: Sequence[RatedRound]) -> list[str]:
        return [
            f"{each.name}, {system}: {n} outputs, {words}."
            for each in rounds
            for system, counts in (each.figures or {})["m3"].items()
            for words, n in counts.items()
            if n
        ]

    def _not_compared(self, rounds: Sequence[RatedRound]) -> list[str]:
        return [
            (
                f"{each.name}, {each.called(found['criterion'])}: {found['n']} ratings excluded, also "
                f"from all correct and all wrong: {_why(found['value'])}."
            )
            for each in rounds
            for found in (each.figures or {})["not_compared"]
        ]


def _why(value: str | None) -> str:
    return "the target has no label" if value is None else f"{value!r} corresponds to no label of the target"


class Table3(_M3Table):
    key = "m3-3"
    title = "Outputs against targets (M3, Table 3)"
    columns = TABLE_3
    with_hallucination = False


class Table5(_M3Table):
    key = "m3-5"
    title = "Outputs against targets, with errors (M3, Table 5)"
    columns = TABLE_5
    with_hallucination = True
