"""Small workbooks that would expand enormously are refused early (reliability row 30)."""

import io
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest
from django.conf import settings
from openpyxl import Workbook
from openpyxl.xml.constants import SHEET_MAIN_NS

from api.problems import Refused
from projects.spreadsheets.reading import read, refuse_unfit
from projects.spreadsheets.workbook import STRICT
from projects.uploads.faults import Unreadable

pytestmark = [pytest.mark.row(30), pytest.mark.row(54)]
#: Allowed memory of a process in MiB.
MOST = 300
#: Incompressible filler, so that the archive as a whole does not look suspicious.
NOISE = random.Random(1).randbytes(400_000)
READ = """
import json, re, resource, sys
import django
django.setup()
from pathlib import Path
from api.problems import Problem
from projects.spreadsheets.reading import read
said = {}
for name in sys.argv[1:]:
    try:
        said[Path(name).stem] = len(list(read(Path(name), name, needed=["unit"])))
    except Problem as problem:
        said[Path(name).stem] = str(problem)
status = Path("/proc/self/status")
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]) / 1024 if status.exists() else 0
print(json.dumps({"said": said, "peak": peak}))
"""


def workbook(change: Callable[[str, bytes], bytes], also: dict[str, bytes] | None = None) -> bytes:
    """A workbook of two rows with its parts changed by ``change``."""
    book, plain, changed = Workbook(), io.BytesIO(), io.BytesIO()
    book.worksheets[0].append(["unit", "rater"])
    book.worksheets[0].append(["a", "b"])
    book.save(plain)
    with zipfile.ZipFile(plain) as before, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as after:
        for part in before.namelist():
            after.writestr(part, change(part, before.read(part)))
        for name, content in ({"xl/media/noise.bin": NOISE} | (also or {})).items():
            after.writestr(name, content)
    return changed.getvalue()


def with_more(part: str, before: bytes, more: bytes) -> bytes:
    """The workbook with ``more`` inserted before some bytes of a part."""
    return workbook(lambda name, content: content.replace(before, more + before, 1) if name == part else content)


SHEET, STRINGS, STYLES = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
#: Many short tags: some 40 MB in less than half a MB.
MANY = 4_000_000
TYPE = b"application/vnd.openxmlformats-officedocument.spreadsheetml.%s+xml"
STRINGS_ARE = b'<Override PartName="/%s" ContentType="%s"/>' % (STRINGS.encode(), TYPE % b"sharedStrings")


def bombs() -> dict[str, bytes]:
    filler = b"".join(b"<si><t>%d</t></si>" % (n % 7) for n in range(MANY // 2))
    lying = workbook(
        lambda name, content: (
            content.replace(TYPE % b"styles", TYPE % b"worksheet")
            if name.startswith("[")
            else content.replace(b"<cellXfs", b"<x/>" * MANY + b"<cellXfs", 1)
            if name == STYLES
            else content
        )
    )
    return {
        "texts": workbook(
            lambda name, content: (
                content.replace(b"</Types>", STRINGS_ARE + b"</Types>") if name.startswith("[") else content
            ),
            {STRINGS: b'<sst xmlns="%s">' % SHEET_MAIN_NS.encode() + filler + b"</sst>"},
        ),
        "styles": with_more(STYLES, b"</cellXfs>", b"<xf/>" * MANY),
        "styles called a sheet": lying,
        "one row": with_more(SHEET, b"</row>", b"<c><v>1</v></c>" * (MANY // 4)),
        "tags beside rows": with_more(SHEET, b"</sheetData>", b"<x/>" * MANY),
        "names": with_more("xl/workbook.xml", b"</workbook>", b"<definedName/>" * (MANY // 4)),
        "the list of parts": with_more("[Content_Types].xml", b"</Types>", b"<Default/>" * (MANY // 4)),
    }


def test_no_small_workbook_takes_much_memory(tmp_path: Path) -> None:
    paths = []
    for name, body in bombs().items():
        assert len(body) < 2**20
        (tmp_path / f"{name}.xlsx").write_bytes(body)
        paths.append(str(tmp_path / f"{name}.xlsx"))
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(settings.ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", READ, *paths],
        env=environment,
        cwd=settings.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    assert result["peak"] < MOST
    for name, said in result["said"].items():
        assert "too large when unpacked" in str(said), (name, said)


def test_a_cell_in_a_distant_column_makes_no_wide_row(tmp_path: Path) -> None:
    path = tmp_path / "wide.xlsx"
    path.write_bytes(with_more(SHEET, b"</sheetData>", b'<row r="3"><c r="ZZZ3" t="n"><v>1</v></c></row>'))
    assert [row.cells["unit"] for row in read(path, "wide.xlsx", needed=["unit"])] == ["a"]


@pytest.mark.parametrize("length", [32_767, 32_768])
def test_a_cell_longer_than_spreadsheet_programs_allow_is_a_fault_and_is_not_cut(tmp_path: Path, length: int) -> None:
    path = tmp_path / "long.xlsx"
    path.write_bytes(workbook(lambda name, part: part.replace(b"<t>b</t>", b"<t>%s</t>" % (b"b" * length))))
    [row] = read(path, path.name)
    assert len(row.cells["rater"]) == length
    assert ("holds 32,768 characters" in row.unusable.get("rater", "")) == (length > 32_767)


@pytest.mark.row(29)
def test_entities_are_found_behind_any_beginning(tmp_path: Path) -> None:
    declared = b"<!--" + b"x" * 10_000 + b'--><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'
    path = tmp_path / "entity.xlsx"
    path.write_bytes(workbook(lambda _, content: content, {"xl/late.xml": declared}))
    with pytest.raises(Refused, match="XML entities"):
        refuse_unfit(path)


def test_a_part_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.xlsx"
    with pytest.warns(UserWarning, match="Duplicate name"):
        path.write_bytes(workbook(lambda _, content: content, {SHEET: b"<x/>"}))
    with pytest.raises(Refused, match="two parts with the same name"):
        refuse_unfit(path)


def test_a_large_honest_workbook_is_read(tmp_path: Path) -> None:
    book = Workbook(write_only=True)
    page = book.create_sheet()
    page.append(["unit", "rater", "comment"])
    for n in range(3_000):
        page.append([f"u{n}", "anna", f"The text of row {n}."])
    book.save(tmp_path / "large.xlsx")
    rows = list(read(tmp_path / "large.xlsx", "large.xlsx", needed=["unit"]))
    assert (len(rows), rows[-1].number, rows[-1].cells["comment"]) == (3_000, 3_001, "The text of row 2999.")


def edited(tmp_path: Path, before: bytes, after: bytes) -> Path:
    """A workbook of two rows with ``before`` replaced by ``after`` in the sheet."""
    path = tmp_path / "edited.xlsx"
    path.write_bytes(workbook(lambda name, content: content.replace(before, after) if name == SHEET else content))
    return path


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b'<row r="2"', b'<row r="1"', "edited.xlsx[Sheet]:2: line: damaged: a row numbered 1 follows row 1"),
        (b'<row r="2"', b'<row r="-2"', "edited.xlsx[Sheet]:2: line: damaged: a row numbered -2 follows row 1"),
        (
            b'<row r="2"',
            b'<row r="1048577"',
            "edited.xlsx[Sheet]:2: line: damaged: a row numbered 1048577 follows row 1",
        ),
        (b'<c r="B2"', b'<c r="A2"', "edited.xlsx[Sheet]:2: line: damaged: the cell A2 is out of its place in row 2"),
        (b'<c r="B2"', b'<c r="B7"', "edited.xlsx[Sheet]:2: line: damaged: the cell B7 is out of its place in row 2"),
    ],
)
def test_rows_and_cells_out_of_order_are_a_fault_and_not_lost(
    tmp_path: Path, before: bytes, after: bytes, message: str
) -> None:
    with pytest.raises(Unreadable) as raised:
        list(read(edited(tmp_path, before, after), "edited.xlsx"))
    assert str(raised.value) == message


def test_rows_and_cells_without_numbers_follow_one_another(tmp_path: Path) -> None:
    path = tmp_path / "plain.xlsx"
    path.write_bytes(
        workbook(lambda name, content: re.sub(rb'<(row|c) r="\w+"', rb"<\1", content) if name == SHEET else content)
    )
    assert [row.cells for row in read(path, "plain.xlsx")] == [{"unit": "a", "rater": "b"}]


def test_merged_cells_are_named_where_a_value_is_hidden(tmp_path: Path) -> None:
    path = edited(tmp_path, b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="A2:B3"/></mergeCells>')
    [row] = read(path, "edited.xlsx")
    assert row.problems({"unit", "rater"}) == [
        ("rater", "cell B2 is one of the merged cells A2:B3: split them, and write the value into each")
    ]


def test_many_merged_ranges_cost_no_time(tmp_path: Path) -> None:
    ranges = b"".join(b'<mergeCell ref="B%d:B%d"/>' % (n, n + 1) for n in range(10, 15_010, 2))
    path = edited(tmp_path, b"</sheetData>", b"</sheetData><mergeCells>" + ranges + b"</mergeCells>")
    assert len(list(read(path, "edited.xlsx"))) == 1
    path = edited(
        tmp_path, b"</sheetData>", b"</sheetData><mergeCells>" + b'<mergeCell ref="A1:B9"/>' * 90 + b"</mergeCells>"
    )
    with pytest.raises(Unreadable, match="merged ranges overlap"):
        list(read(path, "edited.xlsx"))


def test_hidden_rows_are_read_and_named(tmp_path: Path) -> None:
    said: list[str] = []
    path = edited(tmp_path, b'<row r="2"', b'<row hidden="1" r="2"')
    assert len(list(read(path, "edited.xlsx", warn=said.append))) == 1
    assert said == ["Hidden rows are read like others: 2."]


def test_a_workbook_with_a_broken_byte_is_damaged_and_no_crash(tmp_path: Path) -> None:
    body = workbook(lambda name, content: content)
    path = tmp_path / "broken.xlsx"
    for at in range(60, 460, 7):
        path.write_bytes(body[:at] + bytes([body[at] ^ 255]) + body[at + 1 :])
        with suppress(Unreadable):
            list(read(path, "broken.xlsx"))


@pytest.mark.parametrize(("state", "units"), [("hidden", ["shown"]), ("visible", ["answer"])])
def test_a_hidden_sheet_of_answers_is_not_read(
    tmp_path: Path, state: Literal["hidden", "visible"], units: list[str]
) -> None:
    said: list[str] = []
    book, path = Workbook(), tmp_path / "two.xlsx"
    for name, unit in ((book.worksheets[0].title, "shown"), ("answers", "answer")):
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        sheet.append(["unit"])
        sheet.append([unit])
    book["answers"].sheet_state = state
    book.save(path)
    assert [row.cells["unit"] for row in read(path, "two.xlsx", warn=said.append)] == units
    assert len(said) == 1


def test_a_strict_workbook_is_named(tmp_path: Path) -> None:
    path = tmp_path / "strict.xlsx"
    path.write_bytes(workbook(lambda name, content: content.replace(SHEET_MAIN_NS.encode(), STRICT)))
    with pytest.raises(Unreadable, match="a Strict Open XML workbook"):
        list(read(path, "strict.xlsx"))


@pytest.mark.parametrize("columns", [200, 201])
def test_columns_beyond_the_last_that_is_read_are_a_fault(tmp_path: Path, columns: int) -> None:
    book, path = Workbook(), tmp_path / "wide.xlsx"
    book.worksheets[0].append([f"column {n}" for n in range(columns)])
    book.worksheets[0].append(["x"] * columns)
    book.save(path)
    if columns == 200:
        assert len(next(iter(read(path, "wide.xlsx"))).cells) == 200
        return
    with pytest.raises(Unreadable, match="more than 200 columns"):
        list(read(path, "wide.xlsx"))
