"""Items of a mapped table: the rows of each item are checked and joined."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, NamedTuple

from measures.pio import untag
from projects.uploads.faults import Faults
from projects.uploads.files import Source

from ...clusters.strata import DOCUMENT
from ...imports.format import Notice
from ...imports.json_lines import illegal_character, quoted
from ...imports.stream import Position, Record
from ...models import PassageRating
from .labels import OF_ITEMS
from .mapping import INPUT, ITEM, KEPT, LEFT_OUT, PAGES, QUESTIONS, SENTENCES, Column, ColumnMapping
from .tables import Row, Table

#: Maximum length of a key, and of a page of a passage.
LONGEST_KEY, LONGEST_ID, LONGEST_PAGE = 60, 40, 1_000_000
MOST_INPUTS = 1_000
#: Fields of an item that no table has a column for.
DETAILS = ("title", "background", "topic", "split")
OUTPUTS = "summaries of systems"
_RATING = re.compile(r"\s*(-?\d{1,6})\s*(?:-\s*(\w+)\s*)?")
_LABELS = {rating.label.casefold(): rating.value for rating in PassageRating}
EMPTY_SUMMARY, EMPTY_INPUT, REPEATED_INPUT = "empty summary", "empty input", "input repeated within the item"

#: (form, writer) of a written summary.
By = tuple[str, str]


@dataclass(slots=True)
class Entry:
    """An input of an item. ``text`` is None if the table has none, as for the pages of known passages."""

    key: str
    line: int
    text: str | None = None
    page: str | None = None
    url: str | None = None
    title: str = ""
    rating: int | None = None
    summaries: dict[By, str] = field(default_factory=dict)
    #: Summaries of systems by column.
    outputs: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class TableItem:
    """One item. ``details``: its title, background, topic and split, if given."""

    key: str
    line: int
    #: Text of the question. Of a page: the key of its question.
    question: str = ""
    details: dict[str, str] = field(default_factory=dict)
    targets: dict[By, str] = field(default_factory=dict)
    #: Summaries of systems by column, and labels by kind.
    outputs: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    #: Whether the item is a sentence of a review.
    is_sentence: bool = False

    @property
    def target(self) -> str:
        return next(iter(self.targets.values()), "")


class Cell(NamedTuple):
    number: int
    column: Column


class Items:
    """Read the items of a table. Errors are added to ``faults`` with line and column."""

    def __init__(
        self, mapping: ColumnMapping, table: Table, source: Source, faults: Faults, most_rows: int | None = None
    ) -> None:
        self.most_rows = most_rows
        self.mapping, self.table, self.source, self.faults = mapping, table, source, faults
        known = {column.name: column for column in mapping.columns}
        cells = [Cell(n, known[name]) for n, name in enumerate(table.names) if name in known]
        self.cells = [cell for cell in cells if cell.column.role != LEFT_OUT]
        self.numbers = [cell.number for cell in self.cells]
        self.key = next(cell for cell in cells if cell.column.role == "key")
        by_input = mapping.rows == INPUT
        self.of_item = [cell for cell in self.cells if self._is_of_item(cell.column)]
        self.texts = [cell for cell in self.cells if cell.column.role in ("input", "passage")]
        self.aligned = [
            cell for cell in self.cells if cell.column.is_of_inputs and cell.column.role not in ("input", "passage")
        ]
        self.titles = [cell for cell in self.cells if cell.column.role == "title" and cell.column.of == INPUT]
        self.summaries = [
            cell for cell in self.cells if cell.column.role in ("target", "output") and cell.column.of == INPUT
        ]
        self.kept = [cell for cell in self.cells if cell.column.role == KEPT]
        self.is_kept_of_input = by_input
        #: Ratings by their text.
        self._ratings: dict[str, int] = {}
        self.shape = mapping.shape
        is_short = self.shape != QUESTIONS and self.shape not in (SENTENCES, PAGES)
        self.longest_key = LONGEST_ID if is_short else LONGEST_KEY
        self.longest_id = LONGEST_KEY if self.shape in (QUESTIONS, PAGES) else LONGEST_ID

    def _is_of_item(self, column: Column) -> bool:
        of_documents = self.mapping.shape != QUESTIONS
        if column.role in ("target", "output"):
            return column.of == ITEM or of_documents
        if column.role == "title":
            return column.of == ITEM
        return column.role in ("question", "background", "topic", "split") or column.labels_item

    def fault(self, line: int, column: str, message: str) -> None:
        self.faults.add(self.source.name, line, column, message)

    def records(self, start: Position) -> Iterator[Record]:
        """Yield a record per item. Rows with a fault have no item."""
        key, rows = self.key.number, self._rows(start)
        field_name = self.key.column.name
        if self.mapping.rows == ITEM or self.shape == PAGES:
            for row in rows:
                row_key = self._key_of(row)
                yield Record(row.line, row.end, row_key, self._item(row_key, [row]), field_name)
            return
        # The rows of an item follow each other. A key that comes back later is a repeated key.
        for _, group in groupby(rows, lambda row: str(row.cells[key] or "").strip() or object()):
            listed = list(group)
            item_key = self._key_of(listed[0])
            yield Record(listed[0].line, listed[-1].end, item_key, self._item(item_key, listed), field_name)

    def _rows(self, start: Position) -> Iterator[Row]:
        for row in islice(self.table.rows(start, self.faults), self.most_rows):
            yield row if self._is_valid(row) else row._replace(fault=row.fault or "invalid")

    def _key_of(self, row: Row) -> str:
        if self.shape == PAGES:
            number = next(cell.number for cell in self.aligned if cell.column.role == "input_id")
        else:
            number = self.key.number
        value = row.cells[number] if number < len(row.cells) else None
        key = value.strip() if isinstance(value, str) else ""
        return "" if row.fault and illegal_character(key) else key[: LONGEST_KEY + 1]

    def _is_valid(self, row: Row) -> bool:
        """Check what concerns all columns alike. The common case must be fast."""
        before, cells = self.faults.total, row.cells
        if row.fault:
            self.fault(row.line, "line", row.fault)
            if len(cells) < len(self.table.names):
                cells.extend([None] * (len(self.table.names) - len(cells)))
        try:
            # One check for the whole row.
            joined = "".join([cells[n] for n in self.numbers])
            is_plain = "\0" not in joined and len(joined) <= DOCUMENT
            if is_plain and not joined.isascii():
                joined.encode()
        except (TypeError, UnicodeEncodeError):
            is_plain = False
        if not is_plain:
            self._check_cells(row)
        key = cells[self.key.number]
        if not isinstance(key, str) or not (key := key.strip()):
            if not isinstance(key, list):
                self.fault(row.line, self.key.column.name, "the key is missing")
        elif len(key) > self.longest_key or not key.isprintable():
            message = f"expected a key of at most {self.longest_key} printable characters, found {quoted(key)}"
            self.fault(row.line, self.key.column.name, message)
        return self.faults.total == before and not row.fault

    def _check_cells(self, row: Row) -> None:
        for number, column in self.cells:
            value = row.cells[number]
            takes_lists = column.is_of_inputs and self.mapping.rows == ITEM
            if isinstance(value, list) and not (takes_lists and all(isinstance(v, (str, type(None))) for v in value)):
                self.fault(row.line, column.name, f"a list of {len(value)} where a text is expected")
                continue
            most = LONGEST_PAGE if column.role == "page" else DOCUMENT
            for text in value if isinstance(value, list) else [value]:
                problem = illegal_character(text) if text else None
                if text and not problem and len(text) > most:
                    problem = f"{len(text):,} characters; expected at most {most:,}"
                if problem:
                    self.fault(row.line, column.name, problem)

    def _item(self, key: str, rows: Sequence[Row]) -> TableItem | None:
        if any(row.fault for row in rows):
            return None
        before, first = self.faults.total, rows[0]
        item = TableItem(key, first.line, is_sentence=self.shape == SENTENCES)
        if self.shape == PAGES:
            item.question = str(first.cells[self.key.number]).strip()
        for row in rows:
            self._add_shared(item, row)
            self._add_entries(item, row)
        if not self.is_kept_of_input:
            item.kept = self._kept(first)
        self._check(item)
        return item if self.faults.total == before else None

    def _kept(self, row: Row) -> dict[str, str]:
        return {column.name: _kept(row.cells[number]) for number, column in self.kept}

    def _add_shared(self, item: TableItem, row: Row) -> None:
        """Add the values that all rows of an item have in common. An empty cell repeats the first value."""
        for number, column in self.of_item:
            text = row.cells[number] or ""
            if column.role == "target":
                by = (column.form, column.writer) if self.shape == QUESTIONS else ("", "")
                first = item.targets.setdefault(by, text)
                message = f"a second {column.form} summary by one writer; line {item.line} has the first"
            elif column.role == "question":
                first, message = item.question, ""
                item.question = item.question or text
            else:
                (values, name), message = self._values_of(item, column), ""
                if column.labels_item and text:
                    text = self._label(column, text, row)
                first = values.get(name, "")
                if text and not first:
                    values[name] = text
            if first and text and text != first:
                if column.role == "target" and self.shape != QUESTIONS:
                    message = ""
                same = f"differs from line {item.line}, which has the same key {quoted(item.key)}"
                self.fault(row.line, column.name, message or same)
            elif column.role == "target" and text and not first:
                item.targets[by] = text

    def _values_of(self, item: TableItem, column: Column) -> tuple[dict[str, str], str]:
        """Return the values of an item that a column belongs to, and its name among them."""
        if column.role == "output":
            return item.outputs, column.name
        if column.labels_item:
            return item.labels, column.kind
        return item.details, column.role

    def _label(self, column: Column, text: str, row: Row) -> str:
        kind = OF_ITEMS[column.kind]
        value = kind.value_of(text)
        if value is None:
            self.fault(row.line, column.name, f"expected one of {kind.expected}; found {quoted(text)}")
        return value or ""

    def _add_entries(self, item: TableItem, row: Row) -> None:
        texts: list[str | None] = []
        for number, column in self.texts:
            values = _values(row.cells[number], column.split)
            texts += [untag(text)[0] for text in values] if column.untag else values
        if not self.texts:
            texts = [None]
        columns: dict[str, list[str]] = {}
        for number, column in self.aligned:
            values = _values(row.cells[number], column.split)
            if len(values) == 1 and len(texts) > 1 and not values[0]:
                values = [""] * len(texts)
            if len(values) != len(texts):
                inputs = "1 input" if len(texts) == 1 else f"{len(texts)} inputs"
                self.fault(row.line, column.name, f"{len(values)} values, but {inputs}")
                return
            columns["rating" if column.role == "label" else column.role] = values
        titles = [_values(row.cells[number], "") for number, _ in self.titles]
        for n, text in enumerate(texts):
            if self.texts and not (text and text.strip()) and not any(columns.get("page", [])[n : n + 1]):
                message = "An input without a text is left out."
                item.notices.append(Notice(EMPTY_INPUT, message, item.key, "", self.texts[0].column.name))
                continue
            number = len(item.entries) + 1
            key = columns["input_id"][n].strip() if "input_id" in columns else ""
            entry = Entry(key or f"{item.key}.{number}", row.line, text)
            entry.page = columns["page"][n] if "page" in columns else None
            entry.url = columns["url"][n].strip() if "url" in columns else None
            entry.title = titles[0][n] if titles and n < len(titles[0]) else ""
            if rating := (columns["rating"][n].strip() if "rating" in columns else ""):
                entry.rating = self._ratings.get(rating) or self._rating(rating, row)
            if self.summaries and self.shape == QUESTIONS:
                self._add_summaries(entry, row)
            if self.is_kept_of_input:
                entry.kept = self._kept(row)
            if len(entry.key) > self.longest_id:
                message = f"expected an id of at most {self.longest_id} characters, found {quoted(entry.key)}"
                self.fault(row.line, self._id_column(), message)
            item.entries.append(entry)

    def _id_column(self) -> str:
        return next((c.column.name for c in self.aligned if c.column.role == "input_id"), self.key.column.name)

    def _add_summaries(self, entry: Entry, row: Row) -> None:
        for number, column in self.summaries:
            if column.role == "output":
                entry.outputs[column.name] = row.cells[number] or ""
            else:
                entry.summaries[column.form, column.writer] = row.cells[number] or ""

    def _rating(self, text: str, row: Row) -> int | None:
        column = next(cell.column for cell in self.aligned if cell.column.role in ("rating", "label"))
        match = _RATING.fullmatch(text)
        number = int(match[1]) if match else _LABELS.get(text.strip().casefold())
        if number is None:
            self.fault(row.line, column.name, f"expected a number from {column.low} to {column.high}: {quoted(text)}")
        elif not column.low <= number <= column.high:
            self.fault(row.line, column.name, f"{number} is outside {column.low} to {column.high}")
        elif match and match[2] and match[2].casefold() != PassageRating(number).label.casefold():
            message = f"{quoted(text)}: rating {number} is {PassageRating(number).label}"
            self.fault(row.line, column.name, message)
        else:
            self._ratings[text] = number
            return number
        return None

    def _check(self, item: TableItem) -> None:
        """Check an item as a whole, and add its notices."""
        if self.shape == PAGES:
            return
        if self.shape == QUESTIONS:
            if not item.question.strip():
                name = next(cell.column.name for cell in self.of_item if cell.column.role == "question")
                self.fault(item.line, name, "the question is empty")
        elif not item.entries:
            self.fault(item.line, self.texts[0].column.name, "the item has no input")
        if len(item.entries) > MOST_INPUTS:
            message = f"{len(item.entries):,} inputs; expected at most {MOST_INPUTS:,}"
            self.fault(item.line, self.texts[0].column.name, message)
        first: dict[str, Entry] = {}
        for entry in item.entries:
            earlier = first.setdefault(entry.key, entry)
            if earlier is entry:
                continue
            if self.shape == QUESTIONS:
                self.fault(entry.line, self._id_column(), f"line {earlier.line} already has {quoted(entry.key)}")
            else:
                message = "The item has this input more than once. Both are kept."
                item.notices.append(Notice(REPEATED_INPUT, message, item.key, "", self._id_column(), entry.key))
        self._notice_empty(item)

    def _notice_empty(self, item: TableItem) -> None:
        of_item = [cell.column for cell in self.of_item if cell.column.role == "target"]
        message = (
            "Stored as: nothing relevant."
            if self.shape == QUESTIONS
            else "The item has no target. Its inputs are stored as abstracts of studies."
        )
        for column in of_item:
            by = (column.form, column.writer) if self.shape == QUESTIONS else ("", "")
            if not item.targets.get(by, "").strip():
                item.notices.append(Notice(EMPTY_SUMMARY, message, item.key, "target", column.name))
        for entry in item.entries:
            for (form, writer), text in entry.summaries.items():
                if not text.strip():
                    name = next(
                        c.column.name
                        for c in self.summaries
                        if c.column.role == "target" and (c.column.form, c.column.writer) == (form, writer)
                    )
                    item.notices.append(Notice(EMPTY_SUMMARY, message, entry.key, "", name))


def outputs_of(items: Sequence[TableItem]) -> dict[str, int]:
    """Return the number of summaries of systems, if there are any."""
    outputs = (outputs for item in items for outputs in (item.outputs, *(entry.outputs for entry in item.entries)))
    total = sum(bool(text) for texts in outputs for text in texts.values())
    return {OUTPUTS: total} if total else {}


def shown_of(item: TableItem) -> dict[str, dict[str, str]]:
    """Return what a preview shows of an item, or else of its first input: kept columns, texts of systems, labels."""
    first = item.entries[0] if item.entries else Entry("", 0)
    return {"kept": item.kept or first.kept, "outputs": item.outputs or first.outputs, "labels": item.labels}


def _values(value: Any, split: str) -> list[str]:
    """Return the values of a cell. One blank on each side of a separator belongs to it."""
    if isinstance(value, list):
        return [one or "" for one in value]
    text = value or ""
    if not split:
        return [text]
    if split in text:
        return re.split(rf" ?{re.escape(split)} ?", text)
    return [text]


def _kept(value: Any) -> str:
    return " | ".join(one or "" for one in value) if isinstance(value, list) else value or ""
