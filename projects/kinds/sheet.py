"""How a kind is worked on in a spreadsheet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The JSON-able value of one answer, as the kind's value serializer validates and shows it.
Value = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """One column of a spreadsheet: its name in the file, and where only some values are allowed, those."""

    name: str
    width: int = 16
    allowed: tuple[str, ...] = ()
    note: str = ""


class SheetFaults(Exception):
    """Cells of one row that hold no answer: (column, what is wrong and what was expected)."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(message for _, message in faults))
        self.faults = list(faults)


@dataclass(frozen=True)
class Sheet:
    """What a row shows, what is asked, and how a row becomes a value."""

    #: Columns filled from the card; "text" is among them, by which a row whose ids were shifted is noticed.
    shown: Sequence[Column]
    #: Columns for the person to fill in.
    asked: Sequence[Column]
    #: A card (`Kind.card`) as the cells of the shown columns.
    cells: Callable[[Mapping[str, Any]], dict[str, str]]
    #: (the unit's text, the filled cells by name) -> the value. Raises `SheetFaults`. Nothing is guessed.
    value: Callable[[str, Mapping[str, str]], Value]
    #: A value as the cells of the asked columns: the inverse of ``value``.
    filled: Callable[[Value], dict[str, str]]
