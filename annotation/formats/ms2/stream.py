"""Read files of MS^2 record by record: one review per line, or one indented object."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source, is_json_object
from sql.bulk import BulkWriter

from ...imports.format import Notice
from ...imports.json_lines import parse, path_at
from ...imports.passes import Index
from ...imports.reading import Habits, Line, lines, whole
from ...imports.stream import Position, Record, Stream
from ...models import Role
from . import published, rows
from .items import Item, key_of
from .records import parse_review

#: Maximum length of a review in bytes. A review of 401 studies and 40 pairs takes 10 MB.
LONGEST = 32 * 2**20
SPELLING = "file"
COUNTS = (
    "items", "new", "unchanged", "reviews", "studies", "included studies", "general references",
    "references without abstract", "targets", "sentences", "spans", "pairs", "effects",
)  # fmt: skip


class MS2Stream(Stream):
    """The reviews of files of MS^2."""

    def __init__(self, level: str) -> None:
        super().__init__(level)
        self.state = asdict(Habits()) | {"indented": 0}

    def records(self, source: Source, start: Position, faults: Faults) -> Iterator[Record]:
        for line in self._lines(source, start, faults):
            value = parse(line, source.name, faults)
            if value is None:
                continue
            item = parse_review(value, line.text, partial(faults.add, source.name, line.number))
            yield Record(line.number, line.end, key_of(value), item, "pmid")

    def _lines(self, source: Source, start: Position, faults: Faults) -> Iterator[Line]:
        with source.path.open("rb") as file:
            is_indented = is_json_object(file.read(4096))
            if is_indented:
                if not start.offset and (line := whole(source, faults, LONGEST)):
                    self.state["indented"] += 1
                    yield line
                return
        habits = Habits(**{name: self.state[name] for name in asdict(Habits())})
        for line in lines(source, faults, habits, path_at, offset=start.offset, number=start.line, longest=LONGEST):
            self.state |= asdict(habits)
            yield line

    def rows_of(self, item: Item) -> int:
        # Two units, a review, its target and readings; for a study itself, its link, input and readings.
        return 8 + len(item.pairs) + 5 * len(item.references) + item.n_effects

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        return rows.stored_keys(project, keys)

    def differences(self, project: Project, items: Sequence[Item]) -> Iterator[tuple[str, str, object]]:
        stored = published.as_imported(project, [item.key for item in items])
        for item in items:
            if item.key not in stored:
                yield item.key, "pmid", "a review of another source"
            elif found := published.first_difference(item.value, stored[item.key]):
                yield item.key, *found

    def conflicts(
        self, project: Project | None, items: Sequence[Item], known: Index | None
    ) -> Iterator[tuple[str, str, str]]:
        return rows.conflicts(project, items, known)

    def create(self, imported: Import, items: Sequence[Item], first: int, rows_: BulkWriter) -> None:
        rows.Creation(imported, rows_).create(items, first)

    def next_position(self, project: Project) -> int:
        return rows.next_target_position(project)

    def notices(self, item: Item) -> Iterator[Notice]:
        return iter(item.notices)

    def final_notices(self, keys: Iterable[str]) -> Iterator[Notice]:
        habits = Habits(**{name: self.state[name] for name in asdict(Habits())})
        for sentence in habits.sentences():
            yield Notice(SPELLING, sentence)
        if self.state["indented"]:
            yield Notice(SPELLING, "The file is one indented object. A release writes one line per review.")

    def new_keys(self, imported: Import) -> Iterable[str]:
        return rows.created_keys(imported)

    def count(self, items: Sequence[Item]) -> dict[str, int]:
        roles = [reference.role for item in items for reference in item.references]
        return {
            "reviews": len(items),
            "included studies": roles.count(Role.INCLUDED),
            "general references": roles.count(Role.GENERAL),
            "references without abstract": sum(not r.text for item in items for r in item.references),
            "targets": sum(bool(item.target) for item in items),
            "sentences": sum(len(item.sentences) for item in items),
            "spans": sum(item.spans for item in items),
            "pairs": sum(len(item.pairs) for item in items),
            "effects": sum(item.n_effects for item in items),
        }

    def distinct(self, items: Sequence[Item]) -> dict[str, set[str]]:
        return {"studies": {reference.pmid for item in items for reference in item.references}}

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return {"studies": rows.count_studies(imported)}

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        return {name: counts.get(name, 0) for name in COUNTS}

    def values(self, items: Sequence[Item]) -> dict[str, dict[str, int]]:
        classes: dict[str, int] = {}
        for item in items:
            for sentence in item.sentences:
                classes[sentence.label] = classes.get(sentence.label, 0) + 1
        return {"class": classes}

    def sample(self, item: Item) -> dict[str, Any]:
        return dict(item.value)

    def keys(self, source: Source) -> Iterator[str]:
        for line in self._lines(source, Position(), Faults()):
            yield key_of(parse(line, source.name, Faults()) or {})
