"""CSV, TSV and XLSX files of common programs are read cell by cell, or refused with the line."""

import csv
import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from projects.spreadsheets.cells import neutral, number
from projects.spreadsheets.reading import Row, read
from projects.uploads.faults import Unreadable

HEADER = "unit\tsystem\trater\tvalue\tcomment"
#: As spreadsheets export without quoting: quotation marks are text.
UNQUOTED = [
    'u1\tA\tr1\t2\t"Drug A" lowered pain, says the text',
    "u2\tA\tr1\t1\tplain comment",
    'u3\tA\tr1\t0\t"not enough evidence"',
    "u1\tA\tr2\t2\t",
    'u2\tA\tr2\t2\tends with a "quote"',
    'u3\tA\tr2\t0\t"opens and never closes',
]


def rows(folder: Path, content: str | bytes, name: str = "a.csv", **asked: Any) -> list[Row]:
    path = folder / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read(path, name, **asked))


def cells(folder: Path, content: str | bytes, **asked: Any) -> list[list[str]]:
    return [list(row.cells.values()) for row in rows(folder, content, **asked)]


def fault(folder: Path, content: str | bytes, name: str = "a.csv") -> str:
    with pytest.raises(Unreadable) as raised:
        rows(folder, content, name)
    return str(raised.value)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_tab_separated_file_without_quoting_keeps_every_quotation_mark(tmp_path: Path, end: str) -> None:
    said: list[str] = []
    found = cells(tmp_path, end.join([HEADER, *UNQUOTED, ""]), warn=said.append)
    assert found == [line.split("\t") for line in UNQUOTED]
    assert said == ["The file is tab-separated without quoting: quotation marks are text."]


@pytest.mark.parametrize("line", UNQUOTED[2:3] + UNQUOTED[5:])
def test_one_mark_that_rfc_4180_does_not_allow_shows_that_a_file_is_unquoted(tmp_path: Path, line: str) -> None:
    lines = [UNQUOTED[1], line]
    assert cells(tmp_path, "\n".join([HEADER, *lines])) == [line.split("\t") for line in lines]


def test_two_open_marks_in_last_columns_do_not_swallow_the_rows_between_them(tmp_path: Path) -> None:
    lines = ['u1\tA\tr1\t1\t"opens', "u2\tA\tr1\t1\tx", 'u3\tA\tr1\t1\tcloses"']
    assert cells(tmp_path, "\n".join([HEADER, *lines])) == [line.split("\t") for line in lines]


def test_a_quoted_tab_separated_file_is_read_by_rfc_4180(tmp_path: Path) -> None:
    lines = ['u1\tA\tr1\t2\t"He said ""no"", twice"', 'u2\tA\tr1\t2\t"two\nlines"', 'u3\tA\tr1\t2\t"a\ttab"']
    found = cells(tmp_path, "\n".join([HEADER, *lines]))
    assert [row[-1] for row in found] == ['He said "no", twice', "two\nlines", "a\ttab"]
    everything = 'unit\tvalue\n"u1"\t"1"\n'
    assert cells(tmp_path, everything.replace("unit\tvalue", '"unit"\t"value"')) == [["u1", "1"]]


def test_a_comma_separated_file_is_never_taken_for_unquoted(tmp_path: Path) -> None:
    said = fault(tmp_path, 'unit,comment\nu1,x\nu2,"Drug A" helps\n')
    assert (
        said == "a.csv:3: comment: a quotation mark opens this cell, and text follows the closing one: "
        "double the marks in a text"
    )


def test_an_unclosed_quotation_mark_is_named_by_the_line_on_which_it_opens(tmp_path: Path) -> None:
    assert "a.csv:3: comment: the quotation mark that opens this cell is not closed" in fault(
        tmp_path, 'unit,comment\nu1,x\nu2,"never\nclosed\n'
    )
    assert "a.csv:3: comment: a quotation mark opens this cell, and text follows the closing one on line 5" in fault(
        tmp_path, 'unit,comment\n"u\n1","opens\nu2,y\nu3,"z"\n'
    )
    later = fault(tmp_path, f"{HEADER}\n{UNQUOTED[0]}\nu9\tone cell too few\n", "a.tsv")
    assert "a.tsv:2: comment: " in later
    assert "read without quoting, line 3 has 2 cells instead of 5" in later


def test_messages_print_a_tab_as_an_escape(tmp_path: Path) -> None:
    assert fault(tmp_path, 'unit,"val\tue"\nu,"x" y\n').startswith("a.csv:2: val\\tue: a quotation mark opens this")


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("sep=;\nunit;value\nu1;3,5\n", ["The first line names the separator: ';'."]),
        ("\n,,\nunit,value\nu1,3.5\n", ["Blank lines above the header are ignored."]),
        ("\ufeffunit;value\r\nu1;3.5\r\n;\r\n", []),
        ("\u00a0Unit ,value,,\nu1,3.5,,\nu2,,,\n,,,\n", []),
        ("unit,value\ru1,3.5\r", []),
        ("unit,value,x\nu1,3.5\nu2\n", ["Line 2 has fewer cells than the header: the missing ones are read as blank."]),
    ],
)
def test_habits_of_spreadsheet_programs_are_read_and_assumptions_stated(
    tmp_path: Path, content: str, sentences: list[str]
) -> None:
    said: list[str] = []
    found = rows(tmp_path, content, needed=["unit", "value"], warn=said.append)
    assert found[0].cells["unit"] == "u1"
    assert number(found[0].cells["value"]) == 3.5
    assert said == sentences


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("unit,value\nu1,1\n".encode("utf-16"), "expected CSV in UTF-8, found UTF-16 text (little-endian"),
        (b"\xd0\xcf\x11\xe0", "found an old Excel workbook, or one with a password; save it as 'CSV UTF-8'"),
        (b"unit,value\nu1,caf\xe9\n", 'read as Latin-1 it would be "u1,café'),
        (b"unit,value\nu1,caf\xc3", "a.csv:2: line: the file ends inside a character"),
        (b"\n\n", "a.csv:1: file: the file is empty"),
    ],
)
def test_files_in_another_encoding_are_refused_by_line(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in fault(tmp_path, content)


def test_a_row_with_a_wrong_number_of_cells_is_a_fault_and_others_are_read(tmp_path: Path) -> None:
    found = rows(tmp_path, "unit,value\nu1,a, b\nu2,1\nu3\0,1\nu")
    assert [row.problems({"unit"}) for row in found] == [
        [("line", "expected 2 cells, found 3; a text with commas needs quotes")],
        [],
        [("unit", "holds a NUL character")],
        [("line", "expected 2 cells, found 1")],
    ]


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
TABLES = st.lists(st.tuples(st.just("u"), TEXT, TEXT), min_size=1, max_size=6)


def written(table: Sequence[Sequence[str]], **how: Any) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, **how).writerows([("unit", "value", "comment"), *table])
    return out.getvalue()


@given(TABLES, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_every_quoted_table_is_read_back_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, ...]], separator: str, end: str, bom: str
) -> None:
    content = written(table, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    assert cells(tmp_path_factory.getbasetemp(), bom + content) == [list(row) for row in table]


@given(TABLES)
def test_every_table_exported_as_excel_writes_text_is_read_back_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, ...]]
) -> None:
    table = [tuple(cell.replace("\r", "") for cell in row) for row in table]
    content = written(table, delimiter="\t", lineterminator="\r\n")
    assert cells(tmp_path_factory.getbasetemp(), content) == [list(row) for row in table]


PLAIN = st.text(st.characters(exclude_characters="\0\t\r\n", exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.tuples(st.just("u"), PLAIN, PLAIN), max_size=5), st.sampled_from(['"a" b', '"', '"""', '"x']))
def test_every_unquoted_table_with_a_broken_mark_is_read_back_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, ...]], broken: str
) -> None:
    lines = [("u", broken, "x"), *table]
    content = "\n".join("\t".join(line) for line in [("unit", "value", "comment"), *lines])
    assert cells(tmp_path_factory.getbasetemp(), content + "\n") == [list(line) for line in lines]


@given(st.one_of(st.binary(max_size=60), st.binary(max_size=60).map(lambda rest: b"unit\tvalue\n" + rest)))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    with suppress(Unreadable):
        rows(tmp_path_factory.getbasetemp(), content)


def test_only_files_of_concords_own_lose_the_apostrophe_that_concord_added(tmp_path: Path) -> None:
    texts = ["=1+1", "'quoted'", "''x", "-5 %", "plain", "'-- unclear"]
    content = written([("u", neutral(text), "") for text in texts])
    own = {"unit", "value", "comment"}
    assert [row[1] for row in cells(tmp_path, content, own_columns=own)] == texts
    for other in ({"own_columns": own | {"assignment"}}, {}):
        assert [row[1] for row in cells(tmp_path, content, **other)] == [neutral(text) for text in texts]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("3.5", 3.5),
        ("3,5", 3.5),
        (" -4 ", -4),
        ("\u22124", -4),
        ("1e3", 1000),
        (".5", 0.5),
        ("1_0", None),
        ("\u0663", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("3 5", None),
        ("1,2,3", None),
        ("0x1F", None),
    ],
)
def test_a_number_is_written_in_ascii_digits(cell: str, value: float | None) -> None:
    assert number(cell) == value


# Workbooks


def book(folder: Path, build: Callable[[Workbook], None]) -> Path:
    made = Workbook()
    build(made)
    made.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def appended(*lines: list[Any]) -> Callable[[Workbook], None]:
    def build(made: Workbook) -> None:
        for line in lines:
            made.worksheets[0].append(line)

    return build


def test_values_of_a_workbook_are_read_as_they_are_shown(tmp_path: Path) -> None:
    values = [False, True, 0, 3.0, 3.5, 0.1 + 0.2, 26258610, "'=x", "First_x000D_\nsecond", "_x005F_x000D_", "A\u00a0"]
    path = book(tmp_path, appended(["unit", "value"], *[["u", value] for value in values]))
    assert [row.cells["value"] for row in read(path, "a.xlsx")] == [
        "FALSE",
        "TRUE",
        "0",
        "3",
        "3.5",
        "0.3",
        "26258610",
        "'=x",
        "First\r\nsecond",
        "_x000D_",
        "A\u00a0",
    ]


def test_cells_that_hold_no_text_are_named_and_matter_only_if_they_are_used(tmp_path: Path) -> None:
    path = book(tmp_path, appended(["unit", "value", "when"], [datetime(2026, 3, 4), "=A1", datetime(2026, 1, 2, 3)]))
    [row] = read(path, "a.xlsx")
    assert row.problems({"unit", "value"}) == [
        (
            "unit",
            "cell A2 holds the date 2026-03-04, which may have been a text: format the cell as text, and retype it",
        ),
        ("value", "cell B2 holds a formula; expected a value"),
    ]


def test_the_first_visible_sheet_with_a_row_is_read_from_its_header_on(tmp_path: Path) -> None:
    def build(made: Workbook) -> None:
        made.worksheets[0].title = "lists"
        made.worksheets[0].sheet_state = "hidden"
        made.worksheets[0].append(["allowed"])
        made.create_chartsheet("Chart")
        made.create_sheet("Empty")
        page = made.create_sheet("Ratings")
        page["C3"], page["D3"], page["C4"], page["D4"] = "unit", "value", "u1", 2
        made.create_sheet("Notes").append(["Thanks!"])

    said: list[str] = []
    [row] = read(book(tmp_path, build), "a.xlsx", warn=said.append)
    assert (row.file, row.number, row.cells) == ("a.xlsx[Ratings]", 4, {"unit": "u1", "value": "2"})
    assert said == [
        "Hidden sheets are not read: 'lists'.",
        "Only the sheet 'Ratings' is read, not 'Empty', 'Notes'.",
        "Blank rows above the header are ignored.",
    ]


def test_blank_rows_without_end_keep_nobody_waiting(tmp_path: Path) -> None:
    def build(made: Workbook) -> None:
        for _ in range(20):
            made.create_sheet()["A1048576"] = "far below"

    began = perf_counter()
    with pytest.raises(Unreadable, match="no row names the columns"):
        list(read(book(tmp_path, build), "a.xlsx"))
    assert perf_counter() - began < 5


def test_a_workbook_without_a_header_or_a_row_names_its_sheets_and_rows(tmp_path: Path) -> None:
    empty = book(tmp_path, appended())
    with pytest.raises(Unreadable, match=r"a.xlsx:1: file: no row names the columns; empty sheets: 'Sheet'"):
        list(read(empty, "a.xlsx"))
    header = book(tmp_path, appended([], [], ["unit"]))
    with pytest.raises(Unreadable, match=r"a.xlsx\[Sheet\]:3: file: no row below the names of the columns: unit"):
        list(read(header, "a.xlsx", may_be_empty=False))
