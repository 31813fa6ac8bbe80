"""A table as a value: what it says, of how many, how it was made, and what it still lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Column:
    """``numeric`` ones are set flush right."""

    title: str
    numeric: bool = True


@dataclass(frozen=True)
class Cell:
    """A word, a count, or a figure with what belongs to it, all in the unit that is printed.

    ``bracket``: a second figure printed with its sign and its interval ``bracket_ci``, in brackets (M3's Table 6).
    ``sd``: printed behind a plus-minus.
    ``is_p``: never printed as 0.
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

    ``beside``: the key of the table that it stands beside, where it is not one of its own.
    """

    key: str
    title: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    missing: Sequence[Missing] = field(default_factory=tuple)
    beside: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row has a cell for each column")

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
