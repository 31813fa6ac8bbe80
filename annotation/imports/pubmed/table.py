"""A table with a column of PubMed ids: PubMed's own CSV, or anybody's. Columns that are not known are left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from projects.background.progress import Progress
from projects.uploads.faults import Faults
from projects.uploads.source import Source

from ...corpus.items import PMID
from ...corpus.lengths import DOCUMENT, longer
from ..json_lines import described, no_text, shown
from ..reading import Habits
from ..tables import rows
from .record import Record, is_retracted, sections_of, year_of

#: Column -> the names that it may have, whatever their case.
_COLUMNS = {
    "pmid": ("pmid", "pubmed id", "pubmed_id"),
    "title": ("title", "article title"),
    "abstract": ("abstract",),
    "year": ("year", "publication year"),
    "types": ("publication type", "publication types", "publication_type", "publication_types"),
}
_COLUMN_OF = {name: column for column, names in _COLUMNS.items() for name in names}
_EXPECTED = "pmid and, optionally, title, abstract, year and publication types"


def records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """The rows that can be read, one at a time; the others become faults."""
    for line, cells in rows(source, faults, habits, progress, _columns, _EXPECTED):
        if found := _record(line, cells, lambda f, m, n=line: faults.add(source.name, n, f, m)):  # type: ignore[misc]
            yield found


def _columns(names: Sequence[str], fault: Callable[[str, str], None]) -> list[str] | None:
    found = [_COLUMN_OF.get(name.strip().casefold(), "") for name in names]
    sound = True
    for column in _COLUMNS:
        if found.count(column) > 1:
            fault(column, f"this column is there twice (it may be called {' or '.join(_COLUMNS[column])})")
            sound = False
    if "pmid" not in found:
        fault("pmid", f"this column is missing; expected {_EXPECTED}")
        sound = False
    return found if sound else None


def _record(line: int, cells: Mapping[str, Any], fault: Callable[[str, str], None]) -> Record | None:
    texts: dict[str, str] = {}
    for column, value in cells.items():
        if not column:
            continue
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str):
            fault(column, f"expected a string, found {described(value)}")
            return None
        if unfit := no_text(text) or longer(text, DOCUMENT):
            fault(column, unfit)
            return None
        texts[column] = text.strip()
    if not PMID.fullmatch(texts["pmid"]):
        fault("pmid", f"expected a PubMed id, found {shown(texts['pmid'])}")
        return None
    abstract = texts.get("abstract")
    types = tuple(filter(None, (name.strip() for name in texts.get("types", "").split(";"))))
    return Record(
        texts["pmid"], texts.get("title", ""), abstract, sections_of(abstract or ""), year_of(texts.get("year", "")),
        types, is_retracted(types), line=line,
    )  # fmt: skip
