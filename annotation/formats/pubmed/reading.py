"""Read PubMed records from a file in any of their formats, which is detected from the start of the file."""

import re
from collections.abc import Iterator

from projects.jobs.batches import Progress
from projects.uploads.faults import Faults
from projects.uploads.files import Source, other_file

from ...imports.reading import Habits
from ...imports.sax import XmlError, is_xml, pieces
from . import medline, table, xml
from .record import Record

#: File formats of reference managers, by the pattern at the start of the file.
_OTHER_FORMATS = {"RIS": r"TY {2}- ", "EndNote": r"%0 ", "BibTeX": r"@[A-Za-z]+\s*\{"}


def records(source: Source, faults: Faults, habits: Habits, deleted: list[str], progress: Progress) -> Iterator[Record]:
    """Yield the records of a file. The PMIDs that PubMed deleted are added to ``deleted``."""
    with source.path.open("rb") as opened:
        head = opened.read(4096)
    start = head.decode("utf-8", errors="replace")
    if is_xml(head):
        yield from _xml_records(source, faults, deleted, progress)
    elif kind := other_file(head):
        faults.add(source.name, 1, "file", f"expected XML, nbib, CSV or a list of PMIDs, found {kind}")
    elif name := _other_format(start):
        message = f"expected XML, nbib, CSV or a list of PMIDs, found {name}; save it as 'PubMed' (nbib) or CSV"
        faults.add(source.name, 1, "file", message)
    elif medline.is_medline(start) and "\r" in start and "\n" not in start:
        faults.add(source.name, 1, "file", "the lines end in CR only; save the file with Unix or Windows line endings")
    elif medline.is_medline(start):
        yield from medline.records(source, faults, habits, progress)
    elif table.is_id_list(start):
        yield from table.id_records(source, faults, habits, progress)
    else:
        yield from table.records(source, faults, habits, progress)


def _other_format(head: str) -> str:
    """Return the name of the reference manager format that the file starts like, or ""."""
    start = head.lstrip("\ufeff \t\r\n")
    return next((name for name, begin in _OTHER_FORMATS.items() if re.match(begin, start)), "")


def _xml_records(source: Source, faults: Faults, deleted: list[str], progress: Progress) -> Iterator[Record]:
    try:
        yield from xml.articles(
            pieces(source, progress),
            lambda line, _, where, said: faults.add(source.name, line, where, said),
            deleted.append,
        )
    except XmlError as error:
        faults.add(source.name, error.line, "file", error.message)
