"""The stream of mapped tables of any shape: open the files, check the mapping, and yield the items."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from projects.models import Import
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from ...imports.format import Notice
from ...imports.stream import START, FollowUp, Position, Record, Stream
from ...models import ImportedMapping
from .gaps import gap_notices
from .guesses import guess_mapping
from .items import OUTPUTS, Items, TableItem
from .mapping import DELIMITERS, ENCODINGS, NAMES, ColumnMapping
from .outputs import keep_outputs
from .tables import Table

_DELIMITER_NAMES = dict(zip(DELIMITERS, ("comma", "semicolon", "tab", "bar"), strict=True))


def open_table(source: Source, mapping: ColumnMapping | None, faults: Faults) -> tuple[Table, ColumnMapping] | None:
    """Open a file, and return it with the mapping fitted to its columns, or None after adding faults."""
    try:
        mapping = mapping or guess_mapping(source)
        table = Table(source, mapping.settings).open()
    except Unreadable as unreadable:
        unreadable.add_to(faults)
        return None
    before = faults.total
    for column in mapping.gone(table.names):
        message = f"the mapping gives this column the role {NAMES[column.role]}, but the file does not have it"
        faults.add(source.name, table.header_line, column.name, message)
    if faults.total == before:
        for name, message in mapping.problems():
            faults.add(source.name, table.header_line, name or "file", message)
    return (table, mapping.fitted(table.names)) if faults.total == before else None


class TableStream(Stream):
    """Files with the same columns. ``mapping`` is None if all of it is to be guessed."""

    def __init__(self, level: str, mapping: ColumnMapping | None) -> None:
        super().__init__(level)
        self.mapping = mapping
        #: Read no more rows of a file than these, to try a mapping.
        self.most_rows: int | None = None
        self.state = {"notes": []}
        self._tables: dict[str, tuple[Table, ColumnMapping]] = {}
        self._has_mapping_row = False

    def begin(self, sources: Sequence[Source], faults: Faults) -> None:
        for source in sources:
            opened = open_table(source, self.mapping, faults)
            if opened is None:
                continue
            table, mapping = opened
            self.mapping = self.mapping or mapping
            self._tables[source.name] = opened
            self._refuse_unconfirmed(source, table, mapping, faults)
            if not self.state["notes"]:
                self.state["notes"] = [notice.as_json() for notice in assumptions(table, mapping)]
        if faults:
            self._tables.clear()

    def _refuse_unconfirmed(self, source: Source, table: Table, mapping: ColumnMapping, faults: Faults) -> None:
        for column in mapping.unconfirmed():
            message = f"the role {NAMES[column.role]} is a guess; confirm it"
            faults.add(source.name, table.header_line, column.name, message)

    def records(self, source: Source, start: Position, faults: Faults) -> Iterator[Record]:
        if opened := self._tables.get(source.name):
            table, mapping = opened
            yield from Items(mapping, table, source, faults, self.most_rows).records(start)

    def keys(self, source: Source) -> Iterator[str]:
        if opened := self._tables.get(source.name):
            table, mapping = opened
            line = 0
            for record in Items(mapping, table, source, Faults()).records(START):
                yield from ("" for _ in range(line + 1, record.line))
                line = record.line
                yield record.key

    def notices(self, item: TableItem) -> Iterator[Notice]:
        return iter(item.notices)

    def final_notices(self, keys: Iterable[str]) -> Iterator[Notice]:
        yield from (Notice(**note) for note in self.state["notes"])
        for table, _ in self._tables.values():
            yield from (Notice("file", sentence) for sentence in table.habits.sentences())
        yield from gap_notices(iter(keys))

    def add_mapping(self, imported: Import, rows: BulkWriter) -> None:
        """Add the mapping of an import, with its first batch."""
        if self._has_mapping_row:
            return
        self._has_mapping_row = True
        if self.mapping and not ImportedMapping.objects.filter(imported=imported).exists():
            rows.add([ImportedMapping(imported=imported, content=dumped(self.mapping))])

    def follow_ups(self, sources: Sequence[Source]) -> Iterator[FollowUp]:
        if self.mapping and self.mapping.of_role("output"):
            opened = [(source, *self._tables[source.name]) for source in sources]
            tables = [(source, table) for source, table, _ in opened]
            yield from keep_outputs(tables, opened[0][2], self.progress)

    def finished_counts(self, names: Sequence[str], counts: Mapping[str, int]) -> dict[str, int]:
        named = {name: counts.get(name, 0) for name in ("items", "new", "unchanged", *names)}
        return named | {name: counts[name] for name in (OUTPUTS,) if counts.get(name)}


def dumped(mapping: ColumnMapping) -> str:
    return json.dumps(mapping.as_json(), ensure_ascii=False, indent=1)


def assumptions(table: Table, mapping: ColumnMapping) -> Iterator[Notice]:
    """Yield what was guessed of a file, and not confirmed by anybody."""
    settings = mapping.settings
    said = {
        "encoding": f"The file was read as {ENCODINGS[settings.encoding]}.",
        "delimiter": f"The delimiter is a {_DELIMITER_NAMES[settings.delimiter]}.",
        "quote": f"Cells are enclosed in {settings.quote}." if settings.quote else "Quotation marks are text.",
        "header": "The first row names the columns." if settings.header else "The first row is data.",
    }
    if settings.format == "csv":
        yield from (
            Notice("guessed setting", text, field=name) for name, text in said.items() if name in settings.guessed
        )
    elif "encoding" in settings.guessed:
        yield Notice("guessed setting", said["encoding"], field="encoding")
    if "rows" in mapping.guessed:
        yield Notice(
            "guessed setting", f"One row is {'an item' if mapping.rows == 'item' else 'an input'}.", field="rows"
        )
    for column in mapping.columns:
        if column.untag:
            yield Notice("tags removed", "<pop>, <int> and <out> are removed from the texts.", field=column.name)
    for column in mapping.guesses():
        yield Notice("guessed role", f"The column was taken as: {NAMES[column.role]}.", field=column.name)


def value_rows(units: Sequence[tuple[int, int, dict[str, str], dict[str, str]]]) -> dict[str, list[Any]]:
    """Return columns of `ColumnValues` for (unit, position, details, kept), without those that are empty."""
    stated = [(unit, position, details, kept) for unit, position, details, kept in units if details or kept]
    names = ("unit_id", "position", "details", "kept")
    return dict(zip(names, map(list, zip(*stated, strict=True)), strict=True)) if stated else {}
