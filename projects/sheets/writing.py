"""Write the assignments of a round as CSV or XLSX, with instructions in a second sheet."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from .. import kinds
from ..kinds import Column, Kind, Sheet
from ..models import Assignment, Round
from ..queue.queries import cards
from ..spreadsheets.cells import neutral
from ..spreadsheets.workbook import ANSWERS


def lines(round: Round) -> list[tuple[str, str]]:
    """Return (label, text) rows for the sheet with the instructions."""
    return [
        ("round", round.name),
        ("guideline", f"version {round.guideline.number}, below; read it before you begin"),
        (
            "how",
            "Fill in the coloured cells. Leave a row empty to do it later. For a unit that cannot be answered, give a "
            "reason in 'skip'. Do not change the other columns: they identify the answer.",
        ),
        ("back", "Save as XLSX or as 'CSV UTF-8' and send it to the lead. The check names every cell with an error."),
        *((f"guideline {n}", line) for n, line in enumerate(round.guideline.text.split("\n"), start=1) if line.strip()),
    ]


#: Columns that identify the assignment and the revisions at the time of export. People must not change them.
KEYS = (Column("assignment", 11), Column("revision", 9), Column("shown", 7), Column("unit", 18))


def sheet_of(round: Round) -> Sheet:
    """Return the sheet of a round. Raise `ValueError` if its kind has none."""
    kind = kind_of(round)
    if (found := kind.sheet_of(round)) is None:
        raise ValueError(f"The task {kind.title!r} cannot be answered in a spreadsheet.")
    return found


def outs(kind: Kind) -> tuple[Column, ...]:
    """Return the columns for a skip reason, a flag and a comment."""
    return (
        Column("skip", 14, tuple(r.code for r in kind.skip_reasons), "Reason why the unit cannot be answered."),
        Column("flag", 7, ("yes",), "'yes' flags the unit for a curator."),
        Column("comment", 40),
    )


def answer_columns(round: Round) -> tuple[Column, ...]:
    """Return the columns that a person fills in."""
    return (*sheet_of(round).answer_columns, *outs(kind_of(round)))


def left_out(round: Round) -> list[str]:
    """Return columns that other rounds of the kind contain. They must be empty in this round."""
    names = {column.name for column in sheet_of(round).answer_columns}
    usual = kind_of(round).sheet
    return [column.name for column in usual.answer_columns if column.name not in names] if usual else []


def columns(round: Round) -> tuple[Column, ...]:
    """Return all columns in order."""
    return (*KEYS, *sheet_of(round).shown, *answer_columns(round))


def kind_of(round: Round) -> Kind:
    return kinds.get(round.kind)


BATCH = 200
ABOUT = "about"
#: The start of a text that programs would read as an escaped character.
_LOOKS_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_LOCKED, _OPEN = Protection(locked=True), Protection(locked=False)
_HEAD = Font(bold=True)
_ASKED = PatternFill("solid", fgColor="FFF4D6")


def rows(round: Round, assignments: Sequence[Assignment]) -> Iterator[dict[str, str]]:
    """Yield one row of exact text per assignment. Assignments need ``unit`` and ``current_answer``."""
    sheet = sheet_of(round)
    for start in range(0, len(assignments), BATCH):
        for card in cards(round, assignments[start : start + BATCH]):
            answer_cells = sheet.filled(card["value"]) if card["value"] else {}
            yield (
                {
                    "assignment": str(card["assignment"]),
                    "revision": str(card["revision"]),
                    "shown": str(card["shown"]),
                    "unit": card["unit"]["key"],
                    "comment": card["comment"],
                    "flag": "yes" if card["flag"] else "",
                }
                | sheet.cells(card)
                | answer_cells
            )


def csv_lines(head: Sequence[Column], body: Iterable[dict[str, str]]) -> Iterator[bytes]:
    """Yield the lines of a CSV file with neutralised cells.

    The byte order mark makes spreadsheet programs read the file as UTF-8.
    """
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
    path: Path,
    *,
    answer_columns: Sequence[Column],
    head: Sequence[Column],
    body: Iterable[dict[str, str]],
    total: int,
    about: Sequence[tuple[str, str]],
) -> None:
    """Write a workbook with the rows, drop-down lists for columns with fixed values, and a sheet of instructions."""
    book = Workbook()
    page = book.create_sheet(ANSWERS, 0)
    book.remove(book.worksheets[-1])
    page.freeze_panes = "A2"
    page.protection.sheet = True
    page.protection.formatColumns = page.protection.formatRows = False
    page.protection.autoFilter = page.protection.sort = False
    open_names = {c.name for c in answer_columns}
    for number, column in enumerate(head, start=1):
        letter = get_column_letter(number)
        page.column_dimensions[letter].width = column.width
        if column.allowed and column.name in open_names:
            page.add_data_validation(_list(column, f"{letter}2:{letter}{total + 1}"))
    page.append([_cell(page, c.name, font=_HEAD) for c in head])
    for row in body:
        page.append([_cell(page, neutral(row.get(c.name, "")), open_=c.name in open_names) for c in head])
    about_sheet = book.create_sheet(ABOUT)
    about_sheet.column_dimensions["A"].width, about_sheet.column_dimensions["B"].width = 20, 110
    for key, text in [*about, *((c.name, _help(c)) for c in answer_columns)]:
        about_sheet.append([_cell(about_sheet, neutral(key), font=_HEAD), _cell(about_sheet, neutral(text))])
    book.save(path)


def _cell(page: Any, text: str, *, font: Font | None = None, open_: bool = False) -> Any:
    """Return a text cell. Control characters, which XML cannot contain, are replaced by U+FFFD."""
    cell = WriteOnlyCell(page, value=_LOOKS_ESCAPED.sub("_x005F_", displayable(text)) or None)
    if text:
        cell.data_type = "s"
    cell.protection = _OPEN if open_ else _LOCKED
    if open_:
        cell.fill = _ASKED
    if font:
        cell.font = font
    return cell


def displayable(text: str) -> str:
    """Return a text with the characters that a workbook cannot contain replaced by U+FFFD."""
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
