"""Value objects for a table: columns, cells, notes and missing steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Column:
    """A column. ``numeric`` columns are right-aligned.

    ``better`` is "higher", "lower" or "". If it is set, the best value is bold.
    """

    title: str
    numeric: bool = True
    better: str = ""

    @property
    def head(self) -> str:
        """Return the title, with an arrow if lower is better."""
        return f"{self.title} ↓" if self.better == "lower" else self.title


@dataclass(frozen=True)
class Cell:
    """A text, a count, or a number with its interval and other details, all in the printed unit.

    ``bracket``: a second number, printed in brackets with its sign and its interval ``bracket_ci`` (M3's Table 6).
    ``sd``: printed after ±.
    ``is_p``: a p-value, which is never printed as 0.
    ``ci_reason``: why the interval is withheld.
    ``letters``: superscripts of systems that were not shown to differ.
    ``count``: numerator of a percentage, printed after it as 11/18 (the denominator is ``n``).
    ``n`` and ``bracket_n``: set only if they differ from the n of the row.
    ``undefined``: why there is no value. An undefined value is never 0.
    ``note``: a remark on the value, printed below the table.
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
    ci_reason: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.undefined):
            raise ValueError("A cell needs either a value or the reason why it has none.")


@dataclass(frozen=True)
class Missing:
    """A step that is needed to complete or update the table, with the command and the page that do it.

    ``outdated``: why the existing result is out of date; empty if there is no result yet.
    ``runs``, ``metric`` and ``params``: a scoring that a lead can start from the page. ``params`` contains only
    values that differ from the metric's defaults.
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
        """The first part of `sentence`, without the command and the page."""
        if self.outdated:
            return f"Out of date: {self.words}; {self.outdated}. Do it again"
        return f"Missing: {self.words}. Do it"

    @property
    def sentence(self) -> str:
        return " ".join(f"{self.lacking} with `{self.command}`, or on the page {self.page}.".split())


@dataclass(frozen=True)
class Table:
    """A table. ``caption`` explains the rows and what n counts; ``notes`` name parameters, libraries and methods.

    ``beside``: key of the table that it is printed next to, if any. ``alike``: indexes of the columns whose values
    must be equal for two rows to be compared.
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
            raise ValueError("Each row needs one cell per column.")

    def best(self) -> set[tuple[int, int]]:
        """Return the (row, column) of the best value of each column with a direction.

        Ties have no best value, and neither do columns with fewer than two values.
        """
        return {
            (places[0], at)
            for at, column in enumerate(self.columns)
            if column.better
            for rows in self._alike().values()
            for places in [self._first(rows, at, column.better)]
            if len(places) == 1
        }

    def _alike(self) -> dict[tuple[object, ...], list[int]]:
        groups: dict[tuple[object, ...], list[int]] = {}
        for i, row in enumerate(self.rows):
            groups.setdefault(tuple(row[at].value for at in self.alike), []).append(i)
        return groups

    def _first(self, rows: Sequence[int], at: int, better: str) -> list[int]:
        """Return the rows with the best value. Empty if fewer than two rows have a value."""
        values = {i: value for i in rows if isinstance(value := self.rows[i][at].value, int | float)}
        if len(values) < 2:
            return []
        best = min(values.values()) if better == "lower" else max(values.values())
        return [i for i, value in values.items() if value == best]

    def reasons(self) -> list[str]:
        """Return the reasons for undefined values, without duplicates, in row order. Marks in cells refer to them."""
        return list(dict.fromkeys(cell.undefined for row in self.rows for cell in row if cell.undefined))

    def withheld(self) -> list[str]:
        """Return the reasons for withheld intervals, without duplicates, in row order."""
        return list(dict.fromkeys(cell.ci_reason for row in self.rows for cell in row if cell.ci_reason))

    def remarks(self) -> list[str]:
        """Return the notes on values, without duplicates, in row order."""
        return list(dict.fromkeys(cell.note for row in self.rows for cell in row if cell.note))


def mark(number: int) -> str:
    """Return the footnote mark for a number: a, b, ... z, aa, ab, ..."""
    letters = ""
    while number >= 0:
        letters = chr(ord("a") + number % 26) + letters
        number = number // 26 - 1
    return letters
