"""One pass over a set of files: read records, find repeated keys, and compare with the project, batch by batch."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from projects.jobs.batches import Progress
from projects.models import Import, ImportState, Project
from projects.uploads.faults import LISTED, Faults
from projects.uploads.files import Source
from sql.temporary import DistinctValues, temporary_database

from .format import Notice
from .json_lines import quoted
from .stream import START, Position, Record, Stream

#: Maximum number of rows and bytes of a batch, except for a single larger record.
MOST_ROWS, MOST_BYTES = 8_000, 8 * 2**20
#: Number of notices that a preview lists. All are counted.
LISTED_NOTICES = 20_000
SAMPLED = 10
CHANGED = "the file was changed while it was read; import it again when it is complete"


class Place(NamedTuple):
    """A record: the number of its file, and the record."""

    file: int
    record: Record


class Index:
    """Keys and values of records, in a temporary file on disk."""

    def __init__(self) -> None:
        self._rows = temporary_database(
            "CREATE TABLE keys (key TEXT PRIMARY KEY, file INTEGER, line INTEGER, is_new INTEGER) WITHOUT ROWID;"
            "CREATE TABLE first_values (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
        )
        #: Values of which the distinct ones are counted.
        self.distinct = DistinctValues()

    def find(self, key: str) -> tuple[int, int] | None:
        """Return the file and line where a key occurs first."""
        found: tuple[int, int] | None = self._rows.execute(
            "SELECT file, line FROM keys WHERE key = ?", (key,)
        ).fetchone()
        return found

    def add(self, places: Iterable[Place], new: Iterable[str] = ()) -> None:
        is_new = set(new)
        rows = ((p.record.key, p.file, p.record.line, p.record.key in is_new) for p in places if p.record.key)
        self._rows.executemany("INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)", rows)

    def add_lines(self, file: int, keys: Iterable[str]) -> None:
        """Add the keys of the first lines of a file. "" stands for a line without a key."""
        rows = ((key, file, line) for line, key in enumerate(keys, start=1) if key)
        self._rows.executemany("INSERT OR IGNORE INTO keys VALUES (?, ?, ?, 0)", rows)

    def first_value(self, name: str, value: str) -> str:
        """Return the first value that was given with a name, which may be this one."""
        self._rows.execute("INSERT OR IGNORE INTO first_values VALUES (?, ?)", (name, value))
        found: str = self._rows.execute("SELECT value FROM first_values WHERE name = ?", (name,)).fetchone()[0]
        return found

    def are_new(self, names: Iterable[str], value: str) -> bool:
        """Give names a value, as `first_value` does, and return whether none of them had one."""
        before, rows = self._rows.total_changes, [(name, value) for name in names]
        self._rows.executemany("INSERT OR IGNORE INTO first_values VALUES (?, ?)", rows)
        return self._rows.total_changes - before == len(rows)

    def new_keys(self) -> Iterable[str]:
        return (key for (key,) in self._rows.execute("SELECT key FROM keys WHERE is_new ORDER BY key"))


class Pass(ABC):
    """Read a set of files. Subclasses handle the new items of each batch.

    After the first fault no batch is handled. The rest of the files is read only for more faults.
    """

    #: Whether nothing is written.
    previews = False

    def __init__(
        self, project: Project | None, stream: Stream, sources: Sequence[Source], faults: Faults, progress: Progress
    ) -> None:
        self.project, self.stream, self.sources = project, stream, sources
        self.faults, self.progress = faults, progress
        stream.progress = progress
        #: Number of listed faults of other sets of files.
        self._before = len(faults.listed)
        #: The import whose rows are being written.
        self.imported: Import | None = None
        self.tally: Counter[str] = Counter()
        self.values: dict[str, Counter[str]] = {}
        self.totals: Counter[str] = Counter()
        self.total_bytes = sum(source.size for source in sources)
        #: Imports whose rows do not count as stored.
        self.invisible: set[int] = set()
        self.index: Index | None = None
        #: Repeated keys whose first line is not known: (number in the list of faults, file, key).
        self._to_locate: list[tuple[int, int, str]] = []

    def read(self, start: Position = START) -> None:
        """Read the files from a position."""
        self.stream.begin(self.sources, self.faults)
        if self.tally["unchanged"]:
            # A later line may repeat one of these keys, whose rows do not name this import.
            self._index_before(start)
        batch: list[Place] = []
        rows = size = 0
        for number in range(start.file, len(self.sources)):
            begin = start if number == start.file else Position(number)
            earlier, before = sum(source.size for source in self.sources[:number]), begin.offset
            for record in self.stream.records(self.sources[number], begin, self.faults):
                batch.append(Place(number, record))
                rows += self.stream.rows_of(record.item) if record.item is not None else 1
                size, before = size + record.end - before, record.end
                self.progress(earlier + record.end, self.total_bytes, "reading")
                if rows >= MOST_ROWS or size >= MOST_BYTES:
                    self._handle(batch, Position(number, record.end, record.line))
                    batch, rows, size = [], 0, 0
            self._refuse_changed(number)
        self._handle(batch, Position(len(self.sources)))
        if self.faults:
            self._locate_repeated()
            order = {source.name: number for number, source in enumerate(self.sources)}
            listed = self.faults.listed[self._before :]
            self.faults.listed[self._before :] = sorted(listed, key=lambda f: (order.get(f.file, 0), f.line))

    def _index_before(self, position: Position) -> None:
        self.index = self.index or Index()
        for number, source in enumerate(self.sources[: position.file + 1]):
            most = position.line if number == position.file else None
            self.index.add_lines(number, islice(self.stream.keys(source), most))

    def _refuse_changed(self, number: int) -> None:
        """Add a fault if somebody changed a file that was read: its content is not that of its stored digest."""
        if (source := self.sources[number]).has_changed():
            self.faults.add(source.name, 0, "file", CHANGED)

    def done_bytes(self, position: Position) -> int:
        return sum(source.size for source in self.sources[: position.file]) + position.offset

    def _handle(self, batch: list[Place], end: Position) -> None:
        new = self.compare(batch)
        if self.faults:
            # No rows are written any more that would contain these keys.
            self.index = self.index or Index()
            self.index.add(batch)
        else:
            self.handle(batch, new, end)

    @abstractmethod
    def handle(self, batch: Sequence[Place], new: Sequence[Any], end: Position) -> None:
        """Handle a batch without faults and its new items. ``end``: the position after it."""

    def add_up(self, batch: Sequence[Place], new: Sequence[Any]) -> None:
        """Add a batch to the counts."""
        self.tally.update({"items": len(batch), "new": len(new), "unchanged": len(batch) - len(new)})
        self.tally.update(self.stream.count(new))
        for name, counts in self.stream.values(new).items():
            self.values.setdefault(name, Counter()).update(counts)

    def compare(self, batch: Sequence[Place]) -> list[Any]:
        """Return the new items of a batch. Repeated keys, and items that differ from the project, are faults."""
        found: dict[str, Place] = {}
        for place in batch:
            key = place.record.key
            if key in found:
                first: tuple[int, int] | None = (found[key].file, found[key].record.line)
            else:
                first = self.index.find(key) if self.index and key else None
            if first and first != (place.file, place.record.line):
                self._add_repeated(place, first)
            elif key:
                found[key] = place
        items = {key: place.record.item for key, place in found.items() if place.record.item is not None}
        stored = self.stream.stored(self.project, list(items)) if self.project and items else {}
        existing = []
        for key, imported in stored.items():
            if imported in self.invisible:
                continue
            item = items.pop(key)
            if self.imported and imported == self.imported.pk:
                self._add_repeated(found[key], None)
            else:
                existing.append(item)
        if existing and self.project:
            for key, path, value in self.stream.differences(self.project, existing):
                message = f"the project has {key} with different content: {quoted(value)}"
                self.faults.add(self.sources[found[key].file].name, found[key].record.line, path, message)
            self.index = self.index or Index()
            self.index.add(found[key] for key in stored if key not in items)
        new = list(items.values())
        for key, path, message in self.stream.conflicts(self.project, new, self.index if self.previews else None):
            self.faults.add(self.sources[found[key].file].name, found[key].record.line, path, message)
        return new

    def _add_repeated(self, place: Place, first: tuple[int, int] | None) -> None:
        if not first and self.faults.total < LISTED:
            self._to_locate.append((len(self.faults.listed), place.file, place.record.key))
        message = self._repeated(place.file, place.record.key, first)
        self.faults.add(self.sources[place.file].name, place.record.line, place.record.field, message)

    def _repeated(self, file: int, key: str, first: tuple[int, int] | None) -> str:
        if not first:
            return f"an earlier line already has {quoted(key)}"
        of_file = "" if first[0] == file else f" of {self.sources[first[0]].name}"
        return f"line {first[1]}{of_file} already has {quoted(key)}"

    def _locate_repeated(self) -> None:
        """Read the files again for the first lines of repeated keys, because they are not kept in memory."""
        missing, first = {key for *_, key in self._to_locate}, dict[str, tuple[int, int]]()
        for number, source in enumerate(self.sources if missing else ()):
            for line, key in enumerate(self.stream.keys(source), start=1):
                if key in missing:
                    missing.remove(key)
                    first[key] = number, line
        for listed, file, key in self._to_locate:
            message = self._repeated(file, key, first.get(key))
            self.faults.listed[listed] = replace(self.faults.listed[listed], message=message)


class Preview(Pass):
    """Read files completely without writing. It describes the import like a file that was read at once (`Parsed`)."""

    previews = True

    def __init__(
        self, project: Project | None, stream: Stream, sources: Sequence[Source], faults: Faults, progress: Progress
    ) -> None:
        super().__init__(project, stream, sources, faults, progress)
        self._notices: list[Notice] = []
        self._sample: list[dict[str, Any]] = []
        arriving = Import.objects.filter(project=project, state=ImportState.ARRIVING) if project else ()
        self.invisible = {imported.pk for imported in arriving}
        self.index = Index()

    @property
    def level(self) -> str:
        return self.stream.level

    def read(self, start: Position = START) -> None:
        super().read(start)
        assert self.index
        if not self.faults:
            self._note(self.stream.final_notices(self.index.new_keys()))

    def handle(self, batch: Sequence[Place], new: Sequence[Any], end: Position) -> None:
        assert self.index
        self.add_up(batch, new)
        keys = {id(place.record.item): place.record.key for place in batch}
        self.index.add(batch, [keys[id(item)] for item in new])
        for name, values in self.stream.distinct(new).items():
            self.index.distinct.add(name, values)
        for place in batch[: SAMPLED - len(self._sample)]:
            self._sample.append(self.stream.sample(place.record.item))
        for item in new:
            self._note(self.stream.notices(item))

    def _note(self, notices: Iterator[Notice]) -> None:
        for notice in notices:
            self.totals[notice.kind] += 1
            if len(self._notices) < LISTED_NOTICES:
                self._notices.append(notice)

    def counts(self) -> dict[str, int]:
        assert self.index
        return self.stream.ordered(dict(self.tally) | self.index.distinct.count())

    def summary(self) -> dict[str, dict[str, int]]:
        return {name: dict(counter.most_common()) for name, counter in self.values.items()}

    def report(self) -> dict[str, Any]:
        notices = [notice.as_json() for notice in self._notices]
        return {"totals": dict(self.totals), "notices": notices, "values": self.summary()}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        return iter(self._notices)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return self._sample[:size]
