"""Parse a table with a column of PMIDs, for example PubMed's CSV, or a plain list of PMIDs.

Unknown columns are ignored.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from projects.jobs.batches import Progress
from projects.uploads.faults import Faults
from projects.uploads.files import Source

from ...clusters.items import PMID
from ...clusters.strata import DOCUMENT, length_error
from ...imports.columns import rows
from ...imports.json_lines import describe, illegal_character, quoted
from ...imports.reading import Habits, lines
from .record import Record, is_retracted, sections_of, unread_year, year_of

#: Column -> accepted names, case-insensitive.
_COLUMNS = {
    "pmid": ("pmid", "pubmed id", "pubmed_id"),
    "title": ("title", "article title"),
    "abstract": ("abstract",),
    "year": ("year", "publication year"),
    "review": ("review", "review pmid", "review_pmid", "included in"),
    "types": ("publication type", "publication types", "publication_type", "publication_types"),
}
#: Maximum length of a review id, which need not be a PMID.
_LONGEST_REVIEW = 40
_COLUMN_OF = {name: column for column, names in _COLUMNS.items() for name in names}
_EXPECTED = "pmid and, optionally, title, abstract, year, publication types and, of studies, review"


def records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """Yield the readable rows and report the others as errors."""
    for line, cells in rows(source, faults, habits, progress, _columns, _EXPECTED):
        if record := _record(line, cells, lambda f, m, n=line: faults.add(source.name, n, f, m)):  # type: ignore[misc]
            yield record


def is_id_list(head: str) -> bool:
    """Return whether a file that starts with ``head`` is a plain list of PMIDs."""
    first = head.lstrip("\ufeff").strip().partition("\n")[0]
    return bool(ids := _ids(first)) and all(map(PMID.fullmatch, ids))


def _ids(line: str) -> list[str]:
    return re.sub(r"\bpmid:", " ", line, flags=re.IGNORECASE).replace(",", " ").replace(";", " ").split()


def id_records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """Yield a record without content for each PMID."""
    for line in lines(source, faults, habits, lambda text, at: "line", progress):
        for id in _ids(line.text):
            if PMID.fullmatch(id):
                yield Record(id, "", None, line=line.number)
            else:
                faults.add(source.name, line.number, "pmid", f"expected a PMID, found {quoted(id)}")


def _columns(names: Sequence[str], fault: Callable[[str, str], None]) -> list[str] | None:
    mapped = [_COLUMN_OF.get(name.strip().casefold(), "") for name in names]
    is_valid = True
    for column in _COLUMNS:
        if mapped.count(column) > 1:
            fault(column, f"this column occurs twice (its names: {' or '.join(_COLUMNS[column])})")
            is_valid = False
    if "pmid" not in mapped:
        fault("pmid", f"this column is missing; expected {_EXPECTED}")
        is_valid = False
    return mapped if is_valid else None


def _record(line: int, cells: Mapping[str, Any], fault: Callable[[str, str], None]) -> Record | None:
    texts: dict[str, str] = {}
    for column, value in cells.items():
        if not column:
            continue
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str):
            fault(column, f"expected a string, found {describe(value)}")
            return None
        if problem := illegal_character(text) or length_error(text, DOCUMENT):
            fault(column, problem)
            return None
        texts[column] = text.strip()
    if not PMID.fullmatch(texts["pmid"]):
        fault("pmid", f"expected a PMID, found {quoted(texts['pmid'])}")
        return None
    reviews = tuple(_ids(texts.get("review", "")))
    if too_long := next((review for review in reviews if len(review) > _LONGEST_REVIEW), None):
        fault("review", f"expected the PMID of a review, found {quoted(too_long)}")
        return None
    abstract = texts.get("abstract")
    types = tuple(filter(None, (name.strip() for name in texts.get("types", "").split(";"))))
    return Record(
        texts["pmid"],
        texts.get("title", ""),
        abstract,
        sections_of(abstract or ""),
        year_of(texts.get("year", "")),
        types,
        is_retracted(types),
        line=line,
        reviews=reviews,
        unread_year=unread_year(texts.get("year", "")),
    )
