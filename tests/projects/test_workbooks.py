"""Small workbooks that would grow a thousand times in memory are refused while they are small (reliability row 30)."""

import io
import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from openpyxl import Workbook
from openpyxl.xml.constants import SHEET_MAIN_NS

from api.problems import Refused
from projects.sheets.packing import refuse_unfit
from projects.sheets.reading import read

pytestmark = [pytest.mark.row(30), pytest.mark.row(54)]
#: What a process may come to, in MiB.
MOST = 300
#: What cannot be packed: beside it the archive as a whole grows by less than is suspicious.
NOISE = random.Random(1).randbytes(400_000)
READ = """
import json, re, resource, sys
import django
django.setup()
from pathlib import Path
from api.problems import Problem
from projects.sheets.reading import read
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
    """A workbook of two rows, its parts as ``change`` makes them."""
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
    """The workbook with ``more`` put before some bytes of a part."""
    return workbook(lambda name, content: content.replace(before, more + before, 1) if name == part else content)


SHEET, STRINGS, STYLES = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
#: So many tags of a few bytes: some 40 MB, packed into less than half a MB.
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
        [sys.executable, "-c", READ, *paths], env=environment, cwd=settings.ROOT, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    assert result["peak"] < MOST
    for name, said in result["said"].items():
        assert "unpacks to more than any sheet" in str(said), (name, said)


def test_a_cell_far_to_the_right_makes_no_wide_row(tmp_path: Path) -> None:
    path = tmp_path / "wide.xlsx"
    path.write_bytes(with_more(SHEET, b"</sheetData>", b'<row r="3"><c r="ZZZ3" t="n"><v>1</v></c></row>'))
    assert [row.cells["unit"] for row in read(path, "wide.xlsx", needed=["unit"])] == ["a"]


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
    with pytest.raises(Refused, match="two parts of one name"):
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
