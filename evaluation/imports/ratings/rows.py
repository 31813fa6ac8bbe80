"""The ratings of a file, row by row, independent of its shape."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.imports import Notice
from generation.backends.imported.reading import MAX_TEXT_CHARACTERS
from projects.external_ratings.raters import MAX_RATERS, TOO_MANY
from projects.models.project import LONGEST_RATER
from projects.spreadsheets.cells import is_missing, number
from projects.uploads.faults import Faults, Unreadable

Pairs = tuple[str, str]
#: Value of a criterion that does not apply, as in tables.
NOT_APPLICABLE = "n/a"
_NOT = ("n/a", "na", "not applicable")
#: Longest names by what they name. The limits are those of the database columns.
LONGEST = {"unit": 200, "system": 120, "rater": LONGEST_RATER, "criterion": 200, "rater group": 60, "round": 80}


class Page(NamedTuple):
    """The rated item: the summaries of a unit, or two of them. ``target`` is the key of their target."""

    unit: str
    target: str = ""
    sides: Pairs | None = None


class Part(NamedTuple):
    """Ratings that become one round: those of a release's round, or of a rater group."""

    round: str = ""
    group: str = ""


#: Limit on rounds per file. SQLite blocks other writers while each is opened, closed and unblinded.
MOST_ROUNDS = 100
#: Accepted values of a boolean column.
_YES, _NO = ("true", "yes", "1"), ("", "false", "no", "0")
#: Optional columns of any shape.
GROUP = ("rater_group", "group")
ABOUT = (*GROUP, "round", "repeat")
#: The part of a file that names neither rounds nor groups.
WHOLE = Part()


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One rating, or one choice between two texts.

    A choice has empty ``systems`` and the value left, right, tie or neither, relative to the sides that the rater saw.
    ``swapped`` is true if the rater saw the second of ``page.sides`` on the left. ``criterion`` is the case-folded
    name. ``repeat`` is 0, or the number of the repetition.
    """

    line: int
    page: Page
    rater: str
    criterion: str
    value: str
    comment: str = ""
    systems: tuple[str, ...] = ()
    swapped: bool = False
    repeat: int = 0
    part: Part = WHOLE


@dataclass
class RatingFile:
    """The content of a file.

    ``texts`` maps page and systems to a text and the first line with it. ``against`` maps a page to its target text.
    ``titles`` maps a folded criterion name to its first spelling. ``odd`` holds notices about unusual or ignored
    values.
    """

    file: str
    faults: Faults
    mapping: Mapping[str, str]
    said: list[RatingRow] = field(default_factory=list)
    texts: dict[tuple[Page, tuple[str, ...]], tuple[str, int]] = field(default_factory=dict)
    against: dict[Page, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    odd: list[Notice] = field(default_factory=list)
    #: (kind, normal form) of a name -> its first spelling and line.
    spellings: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    #: (kind, case-folded form without invisible characters) of a name -> its first spelling and line.
    _alike: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    _noticed: set[tuple[str, str]] = field(default_factory=set)
    _raters: set[str] = field(default_factory=set)
    _parts: set[Part] = field(default_factory=set)
    _first: dict[tuple[object, ...], tuple[RatingRow, str]] = field(default_factory=dict)

    def fault(self, line: int, column: str, message: str) -> None:
        self.faults.add(self.file, line, column, message)

    def notice(self, kind: str, message: str, line: int, field: str = "", text: str = "") -> None:
        self.odd.append(Notice(kind, message, f"line {line}", "", field, text))

    def name(self, kind: str, spelling: str, line: int, column: str = "") -> str:
        """Return a name in Unicode NFC.

        Names that differ only in their Unicode form are the same name, which a notice states. Add a fault for a name
        that is too long.
        """
        name = unicodedata.normalize("NFC", spelling.strip())
        if len(name) > LONGEST[kind]:
            self.fault(line, column or kind, f"expected a name of at most {LONGEST[kind]} characters")
        self._spelled(kind, name, spelling.strip(), line)
        return name

    def _spelled(self, kind: str, name: str, written: str, line: int) -> None:
        self._say_similar(kind, name, line, self)
        first, at = self.spellings.setdefault((kind, name), (written, line))
        if first != written and (kind, written) not in self._noticed:
            self._noticed.add((kind, written))
            message = f"Same {kind} as on line {at}: the names differ only in Unicode normalisation."
            self.notice("same name", message, line, kind, name)

    def _say_similar(self, kind: str, name: str, line: int, source: "RatingFile") -> None:
        """Add a notice for a name that may be another spelling of a known one.

        ``source`` is the file that contains it.
        """
        if (kind, name) in self.spellings or kind == "criterion":
            return
        first, at = self._alike.setdefault((kind, _folded(name)), (name, line))
        if first != name:
            where = f"line {at}" if source is self else self.file
            message = (
                f"Differs from the {kind} of {where} only in case or invisible characters; imported as "
                "two different names."
            )
            source.notice("similar name", message, line, kind, name)

    def criterion(self, written: str, line: int) -> str:
        """Return the folded name of a criterion. Case and the width of blanks are not significant."""
        name = " ".join(self.name("criterion", written, line).split())
        folded = name.casefold()
        self.titles.setdefault(folded, name)
        return folded

    def add(self, one: RatingRow, column: str, source: "RatingFile | None" = None) -> None:
        """Add a rating that ``source`` read.

        A duplicate is left out with a notice if its value is the same. Otherwise it is a fault.
        """
        source = source or self
        key = (one.part, one.page, one.rater, one.systems, one.criterion, one.repeat)
        first, file = self._first.setdefault(key, (one, source.file))
        if first is not one:
            where = f"line {first.line}" + (f" of {file}" if file != source.file else "")
            if _is_same_value(first.value, one.value) and first.swapped == one.swapped:
                source.notice("given twice", f"Duplicate of {where}; imported once.", one.line, column)
            else:
                what = " and ".join(one.systems or one.page.sides or ())
                sides = " with the sides swapped" if first.swapped != one.swapped else ""
                source.fault(
                    one.line,
                    column,
                    (
                        f"conflicts with {where}: {one.rater} rated {what} for {one.page.unit} {first.value!r} "
                        f"there and {one.value!r} here{sides}. If the rating was repeated, number the repetitions "
                        "in a column repeat (0, 1, ...)"
                    ),
                )
            return
        self._parts.add(one.part)
        if len(self._parts) > MOST_ROUNDS:
            message = f"the columns for round and group give more than {MOST_ROUNDS} rounds; split the file"
            raise Unreadable(source.file, one.line, "round", message)
        self._raters.add(one.rater)
        if len(self._raters) > MAX_RATERS:
            raise Unreadable(source.file, one.line, "rater", TOO_MANY)
        self.said.append(one)

    def join(self, other: "RatingFile") -> None:
        """Add the ratings of another file of the same shape."""
        for (kind, name), (written, line) in other.spellings.items():
            self._say_similar(kind, name, line, other)
            first, _ = self.spellings.setdefault((kind, name), (written, line))
            if first != written:
                message = f"Same {kind} as in {self.file}: the names differ only in Unicode normalisation."
                other.notice("same name", message, line, kind, name)
        for key, (text, line) in other.texts.items():
            before, at = self.texts.setdefault(key, (text, line))
            if before != text:
                other.fault(line, "text", f"differs from the text in {self.file}, line {at}")
        for page, target in other.against.items():
            self.against.setdefault(page, target)
        for folded, title in other.titles.items():
            self.titles.setdefault(folded, title)
        for one in other.said:
            self.add(one, "value", other)
        self.odd += other.odd

    @property
    def parts(self) -> list[Part]:
        return sorted({one.part for one in self.said})

    def mapped(self, names: Iterable[str], value: str) -> str:
        """Return the mapped value: first by ``name:value``, then by the value alone, else the value itself."""
        for name in (*(f"{each}:{value}" for each in names), value):
            if name in self.mapping:
                return self.mapping[name].strip()
        return value

    def text(self, page: Page, systems: tuple[str, ...], text: str, line: int, column: str) -> bool:
        """Add a summary. Return False and add a fault if another line has a different text of the same systems."""
        if not text.strip():
            return True
        if len(text) > MAX_TEXT_CHARACTERS:
            self.fault(
                line, column, f"the text has {len(text):,} characters; at most {MAX_TEXT_CHARACTERS:,} are allowed"
            )
            return False
        before, first = self.texts.setdefault((page, systems), (text, line))
        if before != text:
            self.fault(
                line, column, f"differs from the text of {' and '.join(systems)} for {page.unit} on line {first}"
            )
        return before == text


def _folded(name: str) -> str:
    """Return a name in lower case, with plain blanks and without characters that have no width."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return " ".join("".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Cc")).split())


def _is_same_value(first: str, second: str) -> bool:
    """Whether two values are written the same way, or are the same number (3 and 3.0)."""
    point = number(first)
    return first == second or (point is not None and point == number(second))


def not_applicable(value: str) -> bool:
    return value.strip().casefold() in _NOT


def part_of(cells: Mapping[str, str], read: RatingFile, line: int) -> Part:
    """Return the round and the rater group of a row."""
    group = next((cells[name] for name in GROUP if name in cells), "")
    return Part(read.name("round", cells.get("round", ""), line), read.name("rater group", group, line))


def flag_of(cells: Mapping[str, str], column: str, read: RatingFile, line: int) -> bool | None:
    """Return the value of a boolean column; None after adding a fault."""
    written = cells.get(column, "").strip().casefold()
    if written in _YES or written in _NO or is_missing(written):
        return written in _YES
    read.fault(line, column, f"expected true or false, found {cells[column]!r}")
    return None


def repeat_of(cells: Mapping[str, str], read: RatingFile, line: int) -> int | None:
    """Return the number of the repetition from the column ``repeat``; None after adding a fault."""
    written = cells.get("repeat", "").strip() or "0"
    if written.isascii() and written.isdigit() and int(written) < 100:
        return int(written)
    read.fault(line, "repeat", f"expected a whole number from 0 to 99, found {written!r}")
    return None


#: Reads the rows of a shape into `RatingFile`. The last argument is the rater of a file that names none.
Take = Callable[[Iterator[tuple[int, Mapping[str, str]]], RatingFile, str], None]
