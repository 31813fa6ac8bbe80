"""Read the tables of one split of MSLR2022: the studies of each review, its target, and its background.

The rows of a review are together in the table of inputs. Its target and background are looked up in a temporary file,
because their tables may have another order.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

from measures.pio import Tag, count_spans, untag
from projects.models import Import, Project
from projects.spreadsheets.delimited import Delimited
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import Source
from sql.bulk import BulkWriter
from sql.temporary import temporary_database

from ...clusters.strata import DOCUMENT, length_error
from ...imports.format import Notice
from ...imports.json_lines import illegal_character
from ...imports.passes import Index
from ...imports.reading import Habits
from ...imports.stream import Position, Record, Stream
from ..columns.tables import lines_before
from ..ms2 import rows as shared
from ..ms2.items import LONGEST_ID, Reference
from . import published, rows

#: Columns of the tables. The first column, which has no name, numbers the rows.
COLUMNS = {
    ("", "ReviewID", "PMID", "Title", "Abstract"): "inputs",
    ("", "ReviewID", "Target"): "targets",
    ("", "ReviewID", "Target", "Background"): "targets",
    ("", "ReviewID", "Background"): "reviews-info",
}
PARTS = ("reviews-info", "targets", "inputs")
SPLITS = ("train", "dev", "test")
#: The split whose targets are secret.
WITHHELD = "test"
#: Maximum number of rows of a review. The longest published review has 401.
MOST_STUDIES = 1_000
CUT = "the last line has no line ending, so the file may be truncated; if it is complete, add one"


class Row(NamedTuple):
    """A row of a table: its line, the offset after it, and its cells by column."""

    line: int
    end: int
    cells: dict[str, str]

    @property
    def review(self) -> str:
        return self.cells["ReviewID"]


class Item(NamedTuple):
    """A review of a split. ``value`` has its rows by table, ``studies`` the first row of each study by PMID."""

    key: str
    split: str
    value: dict[str, Any]
    studies: dict[str, dict[str, str]]
    target: str
    references: list[Reference]
    notices: list[Notice]
    spans: int
    # Like a review of MS^2 without an abstract.
    text: str = ""
    tags: Sequence[Tag] = ()
    sentences: Sequence[Any] = ()
    pairs: Sequence[Any] = ()
    effects: None = None


class MSLRStream(Stream):
    """The reviews of one split."""

    def __init__(self, level: str) -> None:
        super().__init__(level)
        self.state = asdict(Habits())
        self._parts: dict[str, str] = {}
        #: Whether the tables of targets and backgrounds were read without faults.
        self._has_all_texts = True
        self._texts = temporary_database(
            "CREATE TABLE rows (review TEXT, part TEXT, number INTEGER, line INTEGER, cells TEXT, is_read INTEGER,"
            " PRIMARY KEY (review, part)) WITHOUT ROWID"
        )

    def begin(self, sources: Sequence[Source], faults: Faults) -> None:
        self._texts.execute("DELETE FROM rows")
        self._parts = {}
        before = faults.total
        for source in sources:
            if not (part := self._part_of(source, faults)):
                continue
            if part in self._parts.values():
                faults.add(source.name, 1, "file", f"a second table of {part}; import each split by itself")
            self._parts[source.name] = part
            if part != "inputs":
                self._keep_texts(source, part, faults)
        if self._parts and "inputs" not in self._parts.values() and not faults:
            faults.add(sources[0].name, 1, "file", "the table of inputs is missing: ReviewID, PMID, Title, Abstract")
        self._has_all_texts = faults.total == before

    def _part_of(self, source: Source, faults: Faults) -> str:
        """Return the table that a file has. Its name states the split, unless it is declared."""
        split = next((name for name in SPLITS if source.name.rpartition("/")[2].startswith(name)), "")
        self.level = self.level or split
        if not self.level:
            faults.add(source.name, 0, "file", "the name does not begin with train, dev or test; select the split")
            return ""
        if split and split != self.level:
            faults.add(source.name, 0, "file", f"the file is of the split {split}, not {self.level}")
            return ""
        try:
            with source.path.open("rb") as file:
                header = tuple(Delimited(file, source.name).header)
        except Unreadable as unreadable:
            unreadable.add_to(faults)
            return ""
        if header not in COLUMNS:
            expected = "; ".join(",".join(columns) for columns in COLUMNS)
            faults.add(source.name, 1, "file", f"unknown columns {','.join(header)}; expected one of: {expected}")
        return COLUMNS.get(header, "")

    def _keep_texts(self, source: Source, part: str, faults: Faults) -> None:
        """Store the rows of a table of targets or backgrounds by review."""
        name = "target" if part == "targets" else "background"
        for number, row in enumerate(self._rows(source, Position(), faults)):
            found = self._texts.execute(
                "SELECT line FROM rows WHERE review = ? AND part = ?", (row.review, part)
            ).fetchone()
            if found:
                message = f"a second {name} of the review {row.review}; line {found[0]} has the first"
                faults.add(source.name, row.line, "ReviewID", message)
                continue
            values = (row.review, part, number, row.line, json.dumps(list(row.cells.values())))
            self._texts.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, 0)", values)

    def _rows(self, source: Source, start: Position, faults: Faults) -> Iterator[Row]:
        """Yield the valid rows of a table."""
        try:
            with source.path.open("rb") as file:
                table = Delimited(file, source.name)
                self.state["bom"] |= table.has_bom
                if start.offset:
                    table.continue_from(start.offset, lines_before(source.path, start.offset))
                line = table.header_line
                for record in table:
                    line = record.line
                    cells = dict(zip(table.header, record.cells, strict=False))
                    found = [("line", record.fault)] if record.fault else list(_faults_of(cells))
                    for field, message in found:
                        faults.add(source.name, record.line, field, message)
                    if not found:
                        yield Row(record.line, record.end, cells)
                if table.is_cut:
                    # A text that stops early cannot be told from a shorter one.
                    faults.add(source.name, line, "line", CUT)
        except Unreadable as unreadable:
            unreadable.add_to(faults)

    def records(self, source: Source, start: Position, faults: Faults) -> Iterator[Record]:
        if self._parts.get(source.name) != "inputs":
            return
        for row in self._rows(source, Position(), Faults()) if start.offset else ():
            if row.end > start.offset:
                break
            self._texts.execute("UPDATE rows SET is_read = 1 WHERE review = ?", (row.review,))
        for review, group in groupby(self._rows(source, start, faults), attrgetter("review")):
            listed = list(islice(group, MOST_STUDIES + 1))
            if len(listed) > MOST_STUDIES:
                message = f"the review has more than {MOST_STUDIES:,} rows"
                faults.add(source.name, listed[-1].line, "ReviewID", message)
            item = self._item(review, listed, source, faults)
            yield Record(listed[0].line, listed[-1].end, review, item, "ReviewID")
        # Reviews without studies. Their positions are behind the end of the file.
        left = self._texts.execute("SELECT review FROM rows WHERE NOT is_read GROUP BY review ORDER BY min(number)")
        for n, (review,) in enumerate(left.fetchall(), start=source.size + 1):
            if n > start.offset:
                yield Record(0, n, review, self._item(review, [], source, faults), "ReviewID")

    def _item(self, review: str, listed: Sequence[Row], source: Source, faults: Faults) -> Item | None:
        found = self._texts.execute("SELECT part, number, cells FROM rows WHERE review = ?", (review,)).fetchall()
        self._texts.execute("UPDATE rows SET is_read = 1 WHERE review = ?", (review,))
        if not found and len(self._parts) > 1:
            if self._has_all_texts:
                message = f"no other table has the review {review}"
                faults.add(source.name, listed[0].line, "ReviewID", message)
            return None
        value: dict[str, Any] = {part: [number, *json.loads(cells)] for part, number, cells in found}
        notices: list[Notice] = []
        references: dict[str, Reference] = {}
        studies = {row.cells["PMID"]: row.cells for row in reversed(listed)}
        spans = 0
        for n, row in enumerate(listed, start=1):
            text, tags = untag(row.cells["Abstract"])
            counted, strays = count_spans(text, tags)
            spans += counted
            if strays:
                message = f"{strays} {'tag has' if strays == 1 else 'tags have'} no partner, and mark nothing."
                notices.append(Notice("unpaired tag", message, review, f"input {n}", "Abstract"))
            reference = Reference(("Abstract", row.line), row.cells["PMID"], text or None, tags, None)
            first = references.setdefault(reference.pmid, reference)
            if first is not reference:
                if first.text != reference.text:
                    message = f"the study {reference.pmid} has another abstract in line {first.place[1]}"
                    faults.add(source.name, row.line, "Abstract", message)
                message = f"The review lists {reference.pmid} more than once. Only the first one is a study."
                notices.append(Notice("repeated study", message, review, f"input {n}", "PMID", reference.pmid))
        value["inputs"] = [row.cells for row in listed]
        target = value["targets"][3] if "targets" in value else ""
        if self.level == WITHHELD:
            value.pop("targets", None)
            if target:
                notices.append(
                    Notice(
                        "withheld target",
                        "The targets of the test set are secret. This one was left out and is not stored.",
                        review,
                        "target",
                    )
                )
            target = ""
        elif not target.strip():
            notices.append(Notice("no target", "The review has no target.", review, "target"))
        return Item(review, self.level, value, studies, target, list(references.values()), notices, spans)

    def rows_of(self, item: Item) -> int:
        return 5 + 5 * len(item.references)

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        return shared.stored_keys(project, keys)

    def differences(self, project: Project, items: Sequence[Item]) -> Iterator[tuple[str, str, object]]:
        stored = published.stored_reviews(project, [item.key for item in items])
        for item in items:
            if item.key not in stored:
                yield item.key, "ReviewID", "a review of another source"
                continue
            for part, value in published.rows_of_value(item.value).items():
                if value != stored[item.key].get(part):
                    yield item.key, part, stored[item.key].get(part)
                    break

    def conflicts(
        self, project: Project | None, items: Sequence[Item], known: Index | None
    ) -> Iterator[tuple[str, str, str]]:
        return shared.conflicts(project, items, known)

    def create(self, imported: Import, items: Sequence[Item], first: int, rows_: BulkWriter) -> None:
        rows.MSLRCreation(imported, rows_, self.level == WITHHELD).create(items, first)

    def next_position(self, project: Project) -> int:
        return shared.next_target_position(project)

    def notices(self, item: Item) -> Iterator[Notice]:
        return iter(item.notices)

    def final_notices(self, keys: Iterable[str]) -> Iterator[Notice]:
        habits = Habits(**{name: self.state[name] for name in asdict(Habits())})
        return (Notice("file", sentence) for sentence in habits.sentences())

    def new_keys(self, imported: Import) -> Iterable[str]:
        return shared.created_keys(imported)

    def count(self, items: Sequence[Item]) -> dict[str, int]:
        return {
            "reviews": len(items),
            "inputs": sum(len(item.references) for item in items),
            "references without abstract": sum(not r.text for item in items for r in item.references),
            "targets": sum(bool(item.target.strip()) for item in items),
            "backgrounds": sum("reviews-info" in item.value for item in items),
            "spans": sum(item.spans for item in items),
        }

    def distinct(self, items: Sequence[Item]) -> dict[str, set[str]]:
        return {"studies": {reference.pmid for item in items for reference in item.references}}

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return {"studies": shared.count_studies(imported)}

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        names = ("items", "new", "unchanged", "reviews", "studies", "inputs", "references without abstract")
        return {name: counts.get(name, 0) for name in (*names, "targets", "backgrounds", "spans")}

    def sample(self, item: Item) -> dict[str, Any]:
        return {"ReviewID": item.key, "Target": item.target, "inputs": item.value["inputs"]}

    def keys(self, source: Source) -> Iterator[str]:
        if self._parts.get(source.name) == "inputs":
            line = 0
            for row in self._rows(source, Position(), Faults()):
                # A row may have several lines.
                yield from ("" for _ in range(line + 1, row.line))
                line = row.line
                yield row.review


def _faults_of(cells: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the errors of a row as (column, message)."""
    for column in ("ReviewID", "PMID"):
        if column in cells and not 0 < len(cells[column].strip()) <= LONGEST_ID:
            yield column, f"expected 1 to {LONGEST_ID} characters, found {len(cells[column])}"
    for column, text in cells.items():
        if problem := illegal_character(text) or length_error(text, DOCUMENT):
            yield column or "1", problem
    if not cells[""].isdecimal():
        yield "1", "the first column, which has no name, numbers the rows"
