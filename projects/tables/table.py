"""A table as a value: what it says, of how many, how it was made, and what it still lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Column:
    """``numeric`` ones are set flush right. ``better``: "higher" or "lower", where one is: the best is bold."""

    title: str
    numeric: bool = True
    better: str = ""


@dataclass(frozen=True)
class Cell:
    """A word, a count, or a figure with what belongs to it, all in the unit that is printed.

    ``bracket``: a second figure printed with its sign and its interval ``bracket_ci``, in brackets (M3's Table 6).
    ``sd``: printed behind a plus-minus.
    ``is_p``: never printed as 0.
    ``letters``: raised behind it, those of systems that were not shown to differ.
    ``count``: how many of ``n`` a percentage is, printed behind it as 11/18.
    ``n``, and ``bracket_n`` of the second figure: only where it is not the row's. A figure that is not there says why
    in ``undefined``, and never is 0.
    """

    value: str | float | int | None
    decimals: int = 1
    ci: tuple[float, float] | None = None
    bracket: float | None = None
    bracket_ci: tuple[float, float] | None = None
    bracket_n: int | None = None
    sd: float | None = None
    n: int | None = None
    undefined: str = ""
    is_p: bool = False
    count: float | None = None
    letters: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.undefined):
            raise ValueError("a cell has a value, or says why it has none")


@dataclass(frozen=True)
class Missing:
    """A step that has to be done before the table is whole and of today: what it is of, the command and the page that
    do it.

    ``outdated``: why what is there is no longer of today; empty where there is nothing yet. ``runs``, ``metric`` and
    ``params`` (which are not its defaults) are what a lead can start at once from the page, where it is a scoring.
    """

    words: str
    command: str
    page: str
    outdated: str = ""
    runs: Sequence[int] = ()
    metric: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lacking(self) -> str:
        """What the step is for, up to how it is done."""
        if self.outdated:
            return f"Out of date: {self.words}; {self.outdated}. Do it again"
        return f"Missing: {self.words}. Do it"

    @property
    def sentence(self) -> str:
        return " ".join(f"{self.lacking} with `{self.command}`, or on the page {self.page}.".split())


@dataclass(frozen=True)
class Table:
    """``caption`` says what the rows are and what n counts; ``notes`` name parameters, libraries and methods.

    ``beside``: the key of the table that it stands beside, where it is not one of its own. ``alike``: the columns whose
    words rows have to share to be held against one another.
    """

    key: str
    title: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    missing: Sequence[Missing] = field(default_factory=tuple)
    beside: str = ""
    alike: Sequence[int] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row has a cell for each column")

    def best(self) -> set[tuple[int, int]]:
        """(row, column) of the best figures of columns that have a direction: nobody's where two are even, or there is
        nothing to be better than."""
        return {
            (places[0], at)
            for at, column in enumerate(self.columns) if column.better
            for rows in self._alike().values()
            for places in [self._first(rows, at, column.better)] if len(places) == 1
        }  # fmt: skip

    def _alike(self) -> dict[tuple[object, ...], list[int]]:
        found: dict[tuple[object, ...], list[int]] = {}
        for i, row in enumerate(self.rows):
            found.setdefault(tuple(row[at].value for at in self.alike), []).append(i)
        return found

    def _first(self, rows: Sequence[int], at: int, better: str) -> list[int]:
        """The rows with the best value; none where fewer than two have one."""
        values = {i: value for i in rows if isinstance(value := self.rows[i][at].value, int | float)}
        if len(values) < 2:
            return []
        best = min(values.values()) if better == "lower" else max(values.values())
        return [i for i, value in values.items() if value == best]

    def reasons(self) -> list[str]:
        """Why figures are undefined, each once, in the order of the rows: what the marks in cells point at."""
        return list(dict.fromkeys(cell.undefined for row in self.rows for cell in row if cell.undefined))


def mark(number: int) -> str:
    """a, b, ... z, aa, ab, ...: what stands at an undefined figure."""
    letters = ""
    while number >= 0:
        letters = chr(ord("a") + number % 26) + letters
        number = number // 26 - 1
    return letters
