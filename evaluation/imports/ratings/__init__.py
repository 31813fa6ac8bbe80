"""Ratings that were given elsewhere: a long table, MSLR's facets and pairs, SummEval's lines: told by their columns."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from annotation.imports import Format, Notice, Parsed
from annotation.imports.json_lines import parse, path_at
from annotation.imports.reading import Habits, lines
from projects.background.progress import Progress
from projects.models import Import, Project
from projects.sheets.reading import read as read_table
from projects.uploads.faults import BadFiles, Faults, Unreadable
from projects.uploads.source import Source
from sql.ready import Rows

from ...models import ProtocolVersion
from ...protocols import shipped
from ...protocols.content import load
from ...protocols.parts import Content
from . import long, mslr, scales, summeval
from .placing import Placed, place
from .said import Read
from .storing import store

#: So many ratings are stored at once: on SQLite nobody else can write then.
MOST_RATINGS = 100_000
#: What follows the rater in the name of a table that was saved from a spreadsheet.
_SHEET = re.compile(r"sheet ?\d*", re.IGNORECASE)
#: Shape -> the shipped protocol that it is by, what its values mean.
SHAPES: Mapping[str, tuple[str, scales.Meaning]] = {
    "long": ("", scales.as_it_stands), "facets": ("mslr-facets", mslr.meaning),
    "pairs": ("preference", mslr.choice), "summeval": ("", scales.as_it_stands),
}  # fmt: skip


@dataclass
class RatingsFile:
    """One file, or several that make one round: then ``whole`` is that of the first, which has all."""

    source: Source
    shape: str
    read: Read
    level: str = ""
    content: Content | None = None
    placed: Placed | None = None
    whole: "RatingsFile | None" = None
    imported: Import | None = None
    odd: list[Notice] = field(default_factory=list)

    def choose(self, others: Iterable[Content] = ()) -> None:
        """Find the protocol, and hold the values against it."""
        key, meaning = SHAPES[self.shape]
        if key:
            self.content = shipped.get(key).content
        else:
            found = scales.known(self.read, others, meaning)
            self.content = found or scales.made(self.read, PurePath(self.source.name).stem)
        scales.check(self.read, self.content, meaning)

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Find its items among the project's: units by key, systems by name, texts as they were written."""
        if self.whole:
            return
        self.read.faults = faults
        if not SHAPES[self.shape][0]:
            kept = ProtocolVersion.objects.filter(protocol__project=project, protocol__kind="rate").order_by("-pk")
            self.choose(load(content) for content in kept.values_list("content", flat=True))
        self.placed = place(project, self.read, self.content or shipped.get("guideline").content)
        self.odd = self.placed.odd

    def counts(self) -> dict[str, int]:
        said = [] if self.whole else self.read.said
        return {
            "items": len(said), "new": len(said), "unchanged": 0, "ratings": len(said),
            "raters": len({one.rater for one in said}), "texts": len({(one.page, one.systems) for one in said}),
        }  # fmt: skip

    def summary(self) -> dict[str, dict[str, int]]:
        if self.whole or self.content is None:
            return {}
        meaning = SHAPES[self.shape][1]
        of = {criterion.key: criterion for criterion in self.content.criteria}
        counts: dict[str, Counter[str]] = {key: Counter() for key in of}
        for one in self.read.said:
            value = scales.value_of(self.read, of[one.criterion], one.value, meaning)
            if value is not None and of[one.criterion].scale.type != "text":
                counts[one.criterion][value] += 1
        return {key: dict(sorted(found.items())) for key, found in counts.items() if found}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        if not self.whole:
            yield from self.read.odd
            yield from self.odd

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [
            {"unit": one.page.unit, "system": " | ".join(one.systems or one.page.sides or ()), "rater": one.rater,
             "criterion": one.criterion, "value": one.value}
            for one in self.read.said[:size]
        ]  # fmt: skip

    def lay_out(self, imported: Import, rows: Rows, progress: Progress) -> None:
        """Compared once more: a project that was only just made had no units before."""
        self.imported = imported
        faults = Faults()
        self.compare(imported.project, faults, progress)
        if faults:
            raise BadFiles(faults)

    def confirm(self) -> None:
        """All is written here, by the verbs that rounds and answers come by otherwise."""
        if not self.whole and self.imported and self.placed and self.content:
            store(self.imported, self.read, self.content, self.placed, SHAPES[self.shape][1])


class Ratings(Format):
    key = "ratings"
    title = "Ratings given elsewhere (a long table, MSLR's annotations or pairs, SummEval's lines)"
    maps = True
    joins = True

    def __init__(self, mapping: Mapping[str, str] | None = None) -> None:
        self.mapping = mapping or {}

    def mapped(self, mapping: Mapping[str, str]) -> Format:
        return Ratings(mapping)

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        read = Read(source.name, faults, self.mapping)
        before = faults.total
        shape = "long"
        try:
            shape = _take(source, read, progress)
        except Unreadable as unreadable:
            unreadable.add_to(faults)
        if not read.said and faults.total == before:
            read.fault(1, "file", "the file has no rating")
        found = RatingsFile(source, shape, read)
        if faults.total == before:
            found.choose()
        return found

    def together(self, files: Sequence[Parsed]) -> None:
        """Files of one shape, each of a rater, are one round: else nobody's answers could be compared."""
        of_shape: dict[str, RatingsFile] = {}
        for file in files:
            if not isinstance(file, RatingsFile):
                continue
            if (first := of_shape.setdefault(file.shape, file)) is not file:
                _join(first, file)
                if not SHAPES[file.shape][0]:
                    first.choose()
            elif len(of_shape) > 1:
                file.read.notice("another round", "Its columns are others: it becomes a round of its own.", 1)


def _join(first: RatingsFile, other: RatingsFile) -> None:
    for key, (text, line) in other.read.texts.items():
        before, at = first.read.texts.setdefault(key, (text, line))
        if before != text:
            other.read.fault(line, "text", f"another text than in {first.source.name}, line {at}")
    for page, target in other.read.against.items():
        first.read.against.setdefault(page, target)
    first.read.said += other.read.said
    first.read.odd += other.read.odd
    other.whole = first


def _take(source: Source, read: Read, progress: Progress) -> str:
    """Read the rows by the shape that their columns show."""
    with source.path.open("rb") as file:
        is_json = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    if is_json:
        there = lines(source, read.faults, Habits(), path_at, progress)
        found = ((line.number, value) for line in there if (value := parse(line, source.name, read.faults)))
        summeval.take(_bounded(found, read), read)
        return "summeval"
    rows = _rows(source, read, progress)
    first = next(rows, None)
    if first is None:
        return "long"
    names, every = set(first[1]), _bounded(_again(first, rows), read)
    rater = _rater(source.name)
    if mslr.is_facets(names):
        mslr.take_facets(every, read, rater)
        return "facets"
    if mslr.is_pairs(names):
        mslr.take_pairs(every, read, rater)
        return "pairs"
    if not long.is_long(names):
        known = "; or ".join((", ".join(long.COLUMNS), "MSLR's of annotations or of pairs"))
        had = ", ".join(sorted(names))[:200]
        raise Unreadable(source.name, 1, "header", f"expected the columns {known}; found {had}")
    long.take(every, read, rater)
    return "long"


def _rows(source: Source, read: Read, progress: Progress) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, row in enumerate(read_table(source.path, source.name, needed=())):
        progress(number, None, "reading")
        for name in sorted(row.formulas):
            read.fault(row.number, name, "holds a formula; expected a value")
        if not row.formulas:
            yield row.number, {name: row.cells.get(name, "") for name in row.letters}


def _again(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _bounded(rows: Iterator[tuple[int, Any]], read: Read) -> Iterator[tuple[int, Any]]:
    for line, row in rows:
        if len(read.said) > MOST_RATINGS:
            raise Unreadable(read.file, line, "file", f"a file holds {MOST_RATINGS:,} ratings at most")
        yield line, row


def _rater(name: str) -> str:
    """Who rated, by the name of a file that does not say: what stands behind the last dash."""
    parts = [part.strip() for part in PurePath(name).stem.split(" - ")]
    while len(parts) > 1 and _SHEET.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1][:100]
