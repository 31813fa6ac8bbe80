"""Read M3 files record by record."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from ...clusters.items import Item
from ...imports.format import Notice
from ...imports.json_lines import illegal_character, parse, path_at
from ...imports.reading import LONGEST_LINE, Habits, Line, lines
from ...imports.stream import Position, Record, Stream
from . import appendix, existing, notices, records
from .records import detect_level, parse_item

_KEY = re.compile(rb'"(?:docid|target_pmid)"\s*:\s*("(?:[^"\\]|\\.)*")')


class M3Stream(Stream):
    """The items of M3 files of one level."""

    def __init__(self, level: str) -> None:
        super().__init__(level)
        self.is_declared = bool(level)
        self.state = asdict(Habits()) | {"respelled": 0, "with_appendix_names": 0, "other_ids": 0}

    def finishes(self) -> bool:
        return self.level == "3"

    def records(self, source: Source, start: Position, faults: Faults) -> Iterator[Record]:
        habits, file_level = Habits(**{name: self.state[name] for name in asdict(Habits())}), ""
        for raw in lines(source, faults, habits, path_at, offset=start.offset, number=start.line):
            line = self.restored(raw, source.name, faults)
            value = parse(line, source.name, faults)
            self.state |= {"bom": habits.bom, "crlf": habits.crlf, "no_final_newline": habits.no_final_newline}
            if value is None:
                continue
            fault = partial(faults.add, source.name, line.number)
            if not file_level:
                file_level = detect_level(value) or ""
                self.level = self.level or file_level
                if not self.level:
                    fault("docid", "not an M3 file: expected the key docid, pico or target_pmid")
                    return
                if file_level not in ("", self.level) and not self.is_declared:
                    message = f"the file has level {file_level}, earlier files have level {self.level}"
                    fault("file", f"{message}; import each level by itself")
                    return
            is_appendix = self.level == "1" and appendix.has_appendix_names(value)
            item = appendix.parse(value, fault) if is_appendix else parse_item(value, self.level, fault)
            if is_appendix:
                self.state["with_appendix_names"] += item is not None
            elif item and not records.is_as_published(item, line.text):
                self.state["respelled"] += 1
            if item and self.level == "1" and not item.key.isdecimal():
                self.state["other_ids"] += 1
            name = "target_pmid" if is_appendix else "docid"
            key = value.get(name)
            if not isinstance(key, str) or illegal_character(key):
                key = ""
            yield Record(line.number, line.end, key, item, name)

    def restored(self, line: Line, file: str, faults: Faults) -> Line:
        """Return a line with its texts, for a format whose files lack them."""
        return line

    def rows_of(self, item: Item) -> int:
        # A unit, a target and their review; for each input itself, its study and its link; labels and cues later.
        return 4 + 3 * len(item.inputs)

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        return existing.stored_keys(project, self.level, keys)

    def differences(self, project: Project, items: Sequence[Item]) -> Iterator[tuple[str, str, object]]:
        stored = existing.stored_items(project, self.level, [item.key for item in items])
        for item in items:
            if item._replace(abstract="") != stored[item.key]:
                yield item.key, *existing.difference(item, stored[item.key])

    def create(self, imported: Import, items: Sequence[Item], first: int, rows: BulkWriter) -> None:
        existing.add_items(imported, self.level, items, first, rows)

    def finish(self, imported: Import, items: Sequence[Item], rows: BulkWriter) -> None:
        existing.add_labels(imported, items, rows)

    def next_position(self, project: Project) -> int:
        return existing.next_item_position(project, self.level)

    def notices(self, item: Item) -> Iterator[Notice]:
        return notices.item_notices(item)

    def final_notices(self, keys: Iterable[str]) -> Iterator[Notice]:
        habits = Habits(**{name: self.state[name] for name in asdict(Habits())})
        if self.state["with_appendix_names"]:
            habits.notes.append(f"{self.state['with_appendix_names']} {appendix.ASSUMED}")
        if self.state["other_ids"]:
            habits.notes.append(f"{self.state['other_ids']} documents have an id that is not a PMID.")
        if self.state["respelled"]:
            habits.notes.append(
                f"{self.state['respelled']} lines write the same content differently from the published files "
                "(escapes, spaces or key order). A release writes them as published."
            )
        yield from notices.file_notices(habits)
        if self.level != "1":
            yield from notices.gap_notices(keys)

    def new_keys(self, imported: Import) -> Iterable[str]:
        return existing.created_keys(imported, self.level)

    def count(self, items: Sequence[Item]) -> dict[str, int]:
        inputs = sum(len(item.inputs) for item in items)
        counts = {"targets": len(items), "inputs": inputs}
        if self.level == "3":
            counts |= {"clusters": len(items), "propositions": len(items) + inputs}
        return counts

    def distinct(self, items: Sequence[Item]) -> dict[str, set[str]]:
        return {
            "reviews": {item.review for item in items},
            "studies": {source.pmid for item in items for source in item.inputs},
        }

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return existing.count_distinct(imported, self.level)

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        names = ["items", "new", "unchanged", "targets", "inputs", "reviews", "studies"]
        return {name: counts.get(name, 0) for name in names + ["clusters", "propositions"] * (self.level == "3")}

    def values(self, items: Sequence[Item]) -> dict[str, dict[str, int]]:
        return notices.value_counts(items) if self.level == "3" else {}

    def sample(self, item: Item) -> dict[str, Any]:
        return records.as_published(item)

    def keys(self, source: Source) -> Iterator[str]:
        with source.path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                match = _KEY.search(line)
                while not line.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
                    line = rest
                yield _key(match[1]) if match else ""


def _key(literal: bytes) -> str:
    try:
        key = json.loads(literal)
    except ValueError:
        return ""
    return "" if illegal_character(key) else key
