"""Spreadsheet format of a kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The JSON-able value of one answer, as the kind's value serializer validates and shows it.
Value = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """One spreadsheet column: its name in the file and, if only some values are allowed, these values."""

    name: str
    width: int = 16
    allowed: tuple[str, ...] = ()
    note: str = ""


class SheetFaults(Exception):
    """Invalid cells of one row, as (column, message). The message says what is wrong and what was expected."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(message for _, message in faults))
        self.faults = list(faults)


@dataclass(frozen=True)
class Sheet:
    """The columns that a row shows and asks for, and the conversion between rows and values."""

    #: Columns filled from the card. One of them is "text", which reveals rows whose ids were shifted.
    shown: Sequence[Column]
    #: Columns that the person fills in.
    answer_columns: Sequence[Column]
    #: Converts a card (`Kind.card`) to the cells of the shown columns.
    cells: Callable[[Mapping[str, Any]], dict[str, str]]
    #: Converts the unit's text and the filled cells, by name, to a value. Raises `SheetFaults`; it never guesses.
    value: Callable[[str, Mapping[str, str]], Value]
    #: Converts a value to the cells of the answer columns: the inverse of ``value``.
    filled: Callable[[Value], dict[str, str]]
