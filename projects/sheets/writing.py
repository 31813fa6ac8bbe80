"""A round's slots as CSV or XLSX: blinded, because only cards go in."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from ..kinds import Column
from ..models import Assignment, Round
from ..rounds.cards import cards
from .cells import neutral
from .layout import sheet_of

BATCH = 200
ANSWERS, ABOUT = "answers", "about"
#: Beyond the last row people may fill, for the drop-down lists.
_LOCKED, _OPEN = Protection(locked=True), Protection(locked=False)
_HEAD = Font(bold=True)
_ASKED = PatternFill("solid", fgColor="FFF4D6")


def rows(round: Round, slots: Sequence[Assignment]) -> Iterator[dict[str, str]]:
    """One row a slot, as exact text; slots need ``unit`` and ``current_answer``."""
    sheet = sheet_of(round)
    for start in range(0, len(slots), BATCH):
        for card in cards(round, slots[start : start + BATCH]):
            said = sheet.filled(card["value"]) if card["value"] else {}
            yield {
                "assignment": str(card["assignment"]), "revision": str(card["revision"]), "shown": str(card["shown"]),
                "unit": card["unit"]["key"], "comment": card["comment"], "flag": "yes" if card["flag"] else "",
            } | sheet.cells(card) | said  # fmt: skip


def csv_lines(head: Sequence[Column], body: Iterable[dict[str, str]]) -> Iterator[bytes]:
    """The lines of a CSV file with a byte-order mark, by which spreadsheet programs know UTF-8; cells neutralised."""
    out = io.StringIO()
    writer = csv.writer(out)
    yield b"\xef\xbb\xbf"
    writer.writerow([c.name for c in head])
    for row in body:
        writer.writerow([neutral(row.get(c.name, "")) for c in head])
        yield _taken(out)
    yield _taken(out)


def _taken(out: io.StringIO) -> bytes:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text.encode()


def write_xlsx(
    path: Path, *, asked: Sequence[Column], head: Sequence[Column], body: Iterable[dict[str, str]], total: int,
    about: Sequence[tuple[str, str]],
) -> None:  # fmt: skip
    """A workbook with the rows, drop-down lists where values are limited, and a sheet that says what it is."""
    book = Workbook()
    page = book.create_sheet(ANSWERS, 0)
    book.remove(book.worksheets[-1])
    page.freeze_panes = "A2"
    page.protection.sheet = True
    page.protection.formatColumns = page.protection.formatRows = False
    page.protection.autoFilter = page.protection.sort = False
    open_names = {c.name for c in asked}
    for number, column in enumerate(head, start=1):
        letter = get_column_letter(number)
        page.column_dimensions[letter].width = column.width
        if column.allowed and column.name in open_names:
            page.add_data_validation(_list(column, f"{letter}2:{letter}{total + 1}"))
    page.append([_cell(page, c.name, font=_HEAD) for c in head])
    for row in body:
        page.append(
            [_cell(page, neutral(row.get(c.name, "")), open_=c.name in open_names) for c in head]
        )  # fmt: skip
    told = book.create_sheet(ABOUT)
    told.column_dimensions["A"].width, told.column_dimensions["B"].width = 20, 110
    for key, text in [*about, *((c.name, _help(c)) for c in asked)]:
        told.append([_cell(told, neutral(key), font=_HEAD), _cell(told, neutral(text))])
    book.save(path)


def _cell(page: Any, text: str, *, font: Font | None = None, open_: bool = False) -> Any:
    """A cell that is text, whatever it looks like. Control characters, which XML cannot hold, are shown as such."""
    cell = WriteOnlyCell(page, value=shown(text) or None)
    if text:
        cell.data_type = "s"
    cell.protection = _OPEN if open_ else _LOCKED
    if open_:
        cell.fill = _ASKED
    if font:
        cell.font = font
    return cell


def shown(text: str) -> str:
    """The text as a workbook can hold it."""
    return ILLEGAL_CHARACTERS_RE.sub("\ufffd", text)


def _list(column: Column, where: str) -> DataValidation:
    listed = f'"{",".join(column.allowed)}"'
    rule = DataValidation(type="list", formula1=listed, allow_blank=True, showErrorMessage=True)
    rule.error = f"One of: {', '.join(column.allowed)}"
    rule.add(where)
    return rule


def _help(column: Column) -> str:
    allowed = f"One of: {', '.join(column.allowed)}." if column.allowed else ""
    return f"{allowed} {column.note}".strip()
