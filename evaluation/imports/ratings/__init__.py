"""Import external ratings: a long table, MSLR's facets and pairs, or SummEval's lines.

The columns of a file determine its shape.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePath
from typing import Any

from annotation.imports import Format, Notice, Parsed
from annotation.imports.json_lines import parse, path_at
from annotation.imports.reading import Habits, lines
from api.problems import Refused
from evaluation.imports.ratings.matching import Matches, match_file
from evaluation.imports.ratings.rows import Part, RatingFile, RatingRow
from generation.imported_runs.actions import PreparedRun
from projects.agreement.queries import report
from projects.jobs.batches import Progress
from projects.management.commands.agreement import kappas
from projects.models import Import, Project
from projects.spreadsheets.reading import Row
from projects.spreadsheets.reading import read as read_table
from projects.uploads.faults import BadFiles, Faults, Unreadable
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from ...models import ProtocolVersion
from ...protocols import shipped
from ...protocols.content import load
from ...protocols.parts import MOST_CRITERIA, Content
from ...results import tidy
from . import long, mslr, scales, summeval
from .scales import CHOSEN, ProtocolChoice
from .storing import PreparedRound, prepare, prepare_outputs

#: Limit on ratings in a file: SQLite blocks other writers while they are stored.
MOST_RATINGS = 100_000
#: The command prints pairwise kappas only for rounds with at most this many raters.
MOST_PRINTED = 10
#: Sheet name that follows the rater in the file name of an exported spreadsheet.
_SHEET = re.compile(r"sheet ?\d*", re.IGNORECASE)
#: Shape -> key of the shipped protocol that it follows, and the function that interprets its values.
SHAPES: Mapping[str, tuple[str, scales.Meaning]] = {
    "long": ("", scales.as_it_stands),
    "facets": ("mslr-facets", mslr.meaning),
    "pairs": ("preference", mslr.choice),
    "summeval": ("", scales.as_it_stands),
}


@dataclass
class RatingsFile:
    """A file of ratings.

    Several files can make one round. ``whole`` of the other files is then the first file, which holds all ratings.
    """

    source: Source
    shape: str
    read: RatingFile
    level: str = ""
    asked: dict[Part, ProtocolChoice] = field(default_factory=dict)
    placed: Matches | None = None
    whole: "RatingsFile | None" = None
    #: The ratings of this file alone, if it was joined with others.
    own: list[RatingRow] | None = None
    imported: Import | None = None
    outputs: list[PreparedRun] = field(default_factory=list)
    prepared: list[PreparedRound] = field(default_factory=list)
    odd: list[Notice] = field(default_factory=list)

    def choose(self, others: Iterable[Content] = ()) -> None:
        """Choose the protocol of each part, and check the values against it."""
        key, meaning = SHAPES[self.shape]
        title, others = PurePath(self.source.name).stem, list(others)
        self.read.odd = [notice for notice in self.read.odd if notice.kind not in CHOSEN]
        for part in self.read.parts:
            if self._has_too_many_criteria(part):
                continue
            if key:
                asked = scales.ask_shipped(self.read, part, shipped.get(key).content, meaning)
            else:
                asked = scales.ask(self.read, part, others, meaning, title)
            self.asked[part] = asked
            scales.check(self.read, part, asked)

    def _has_too_many_criteria(self, part: Part) -> bool:
        first: dict[str, int] = {}
        for one in self.read.said:
            if one.part == part:
                first.setdefault(one.criterion, one.line)
        beyond = list(first.values())[MOST_CRITERIA:]
        if beyond:
            self.read.fault(beyond[0], "criterion", f"{len(first):,} criteria; a round has at most {MOST_CRITERIA}")
        return bool(beyond)

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Match units by key, systems by name, and texts against the summaries of the project."""
        if self.whole:
            return
        self.read.faults = faults
        if not SHAPES[self.shape][0]:
            kept = ProtocolVersion.objects.filter(protocol__project=project, protocol__kind="rate").order_by("-pk")
            self.choose(load(content) for content in kept.values_list("content", flat=True))
        contents = [asked.content for asked in self.asked.values()] or [shipped.get("guideline").content]
        self.placed = match_file(project, self.read, contents)
        self.odd = self.placed.odd

    def counts(self) -> dict[str, int]:
        """Counts of the ratings in this file, also if several files make one round."""
        return _counts(self.read.said if self.own is None else self.own)

    def summary(self) -> dict[str, dict[str, int]]:
        if self.whole:
            return {}
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for one in self.read.said:
            asked = self.asked.get(one.part)
            value = asked.values.get((one.criterion, one.value)) if asked else None
            if asked and value is not None and asked.of[one.criterion].scale.type != "text":
                criterion = asked.of[one.criterion]
                counts[criterion.name or criterion.key][value] += 1
        return {key: dict(sorted(found.items())) for key, found in counts.items() if found}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        if not self.whole:
            yield from self.read.odd
            yield from self.odd

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [
            {
                "unit": one.page.unit,
                "system": " | ".join(one.systems or one.page.sides or ()),
                "rater": one.rater,
                "criterion": one.criterion,
                "value": one.value,
            }
            for one in self.read.said[:size]
        ]

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        """Prepare all rows. Compares again, because a project that the import has just created had no units before."""
        self.imported = imported
        faults = Faults()
        self.compare(imported.project, faults, progress)
        if faults:
            raise BadFiles(faults)
        if not self.whole and self.placed:
            self.outputs = prepare_outputs(imported, self.placed)
            self.prepared = prepare(imported, self.read, self.asked, self.placed)

    def confirm(self) -> None:
        """Write all prepared runs and rounds."""
        for run in self.outputs:
            run.write()
        for prepared in self.prepared:
            prepared.write()


class Ratings(Format):
    key = "ratings"
    title = "External ratings (long table, MSLR annotations or pairs, SummEval JSON lines)"
    maps = True
    joins = True

    def __init__(self, mapping: Mapping[str, str] | None = None) -> None:
        self.mapping = mapping or {}

    def mapped(self, mapping: Mapping[str, str]) -> Format:
        for declared, scale in mapping.items():
            if declared.rpartition(":")[2] == scales.SCALE and scale.casefold() != scales.NOMINAL:
                raise Refused.field("map", f"Unknown scale {scale!r}: only nominal can be declared.")
        return Ratings(mapping)

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        read = RatingFile(source.name, faults, self.mapping)
        before = faults.total
        shape = "long"
        try:
            shape = _take(source, read, progress)
        except Unreadable as unreadable:
            unreadable.add_to(faults)
        if not read.said and faults.total == before:
            read.fault(1, "file", "the file contains no ratings")
        found = RatingsFile(source, shape, read)
        if faults.total == before:
            found.choose()
        return found

    def results(self, files: Sequence[Parsed]) -> Iterator[str]:
        """Yield Cohen's kappa of each pair of raters, by round and criterion."""
        for file in files:
            for prepared in file.prepared if isinstance(file, RatingsFile) else ():
                if 2 <= prepared.raters <= MOST_PRINTED:
                    for measure in report(prepared.round)["measures"]:
                        yield from (f"{prepared.round.name}, {measure['name']}: {line}" for line in kappas(measure))
                else:
                    yield f"{prepared.round.name}: {prepared.raters} raters; for kappas run manage.py agreement."

    def counted(self, files: Sequence[Parsed]) -> dict[str, int]:
        """Count raters and texts once per round, even if several of its files contain them."""
        rounds = [file.read.said for file in files if isinstance(file, RatingsFile) and not file.whole]
        return _counts([one for said in rounds for one in said])

    def together(self, files: Sequence[Parsed]) -> None:
        """Join the files of one shape to one round. Agreement can only be computed within a round."""
        of_shape: dict[str, RatingsFile] = {}
        for file in files:
            if not isinstance(file, RatingsFile):
                continue
            if (first := of_shape.setdefault(file.shape, file)) is not file:
                _join(first, file)
            elif len(of_shape) > 1:
                file.read.notice(
                    "another round", "The columns differ from the other files: imported as a separate round.", 1
                )
        for file in of_shape.values():
            scales.check_declared(file.read)
        for file in of_shape.values() if len(files) > len(of_shape) else ():
            file.choose()


def _counts(said: Sequence[RatingRow]) -> dict[str, int]:
    return {
        "items": len(said),
        "new": len(said),
        "unchanged": 0,
        "ratings": len(said),
        "raters": len({one.rater for one in said}),
        "texts": len({(one.page, one.systems) for one in said}),
    }


def _join(first: RatingsFile, other: RatingsFile) -> None:
    first.own, other.own = list(first.read.said) if first.own is None else first.own, list(other.read.said)
    first.read.join(other.read)
    other.whole = first


def _take(source: Source, read: RatingFile, progress: Progress) -> str:
    """Read the rows, and return the shape that their columns show."""
    with source.path.open("rb") as file:
        is_json = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    if is_json:
        numbered_lines = lines(source, read.faults, Habits(), path_at, progress)
        found = ((line.number, value) for line in numbered_lines if (value := parse(line, source.name, read.faults)))
        summeval.take(_bounded(found, read), read)
        return "summeval"
    rows = read_table(
        source.path,
        source.name,
        own_columns=(*tidy.RATED, *tidy.BESIDE),
        warn=lambda sentence: read.odd.append(Notice("how the file was read", sentence)),
        may_be_empty=False,
    )
    first = next(rows)
    names, rater = set(first.letters), _rater(source.name)
    is_used = long.is_used if not (mslr.is_facets(names) or mslr.is_pairs(names)) else mslr.is_used
    every = _bounded(_usable(chain([first], rows), {name for name in names if is_used(name)}, read, progress), read)
    if mslr.is_facets(names):
        mslr.take_facets(every, read, rater)
        return "facets"
    if mslr.is_pairs(names):
        mslr.take_pairs(every, read, rater)
        return "pairs"
    if not long.is_long(names):
        known = "; or ".join((", ".join(long.COLUMNS), "those of MSLR annotations or pairs"))
        had = ", ".join(sorted(names))[:200]
        raise Unreadable(first.file, first.number - 1, "header", f"expected the columns {known}; found {had}")
    long.take(every, read, rater)
    return "long"


def _usable(
    rows: Iterable[Row], used: set[str], read: RatingFile, progress: Progress
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows whose used cells are all valid text. Add a fault for each other row."""
    for number, row in enumerate(rows):
        progress(number, None, "reading")
        problems = row.problems(used)
        for column, message in problems:
            read.faults.add(row.file, row.number, column, message)
        if not problems:
            yield row.number, row.cells
        elif read.faults.are_too_many:
            return


def _bounded(rows: Iterator[tuple[int, Any]], read: RatingFile) -> Iterator[tuple[int, Any]]:
    for line, row in rows:
        if len(read.said) > MOST_RATINGS:
            raise Unreadable(read.file, line, "file", f"the file has more than {MOST_RATINGS:,} ratings; split it")
        yield line, row


def _rater(name: str) -> str:
    """Return the rater from the file name: the part after the last dash."""
    parts = [part.strip() for part in PurePath(name).stem.split(" - ")]
    while len(parts) > 1 and _SHEET.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1]
