"""What a file of ratings says, row by row, whatever its shape."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.imports import Notice
from projects.uploads.faults import Faults

Pairs = tuple[str, str]
#: As tables print what does not apply.
NOT_APPLICABLE = "n/a"
_NOT = ("n/a", "na", "not applicable")


class Page(NamedTuple):
    """What was judged: the summaries of a unit, or two of them; ``target``: the key of what they were held against."""

    unit: str
    target: str = ""
    sides: Pairs | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One rating, or one choice between two (``system`` is empty then, and ``value`` is left, right, tie or neither of
    ``page.sides`` as the rater saw them: ``swapped`` where the right one stood left)."""

    line: int
    page: Page
    rater: str
    criterion: str
    value: str
    comment: str = ""
    systems: tuple[str, ...] = ()
    swapped: bool = False


@dataclass
class Read:
    """A file that was gone through. ``texts``: by page and systems, with the line that said it first; ``against``: the
    target's text of a page. ``odd``: what is kept as it is, or says nothing."""

    file: str
    faults: Faults
    mapping: Mapping[str, str]
    said: list[Said] = field(default_factory=list)
    texts: dict[tuple[Page, tuple[str, ...]], tuple[str, int]] = field(default_factory=dict)
    against: dict[Page, str] = field(default_factory=dict)
    odd: list[Notice] = field(default_factory=list)

    def fault(self, line: int, column: str, message: str) -> None:
        self.faults.add(self.file, line, column, message)

    def notice(self, kind: str, message: str, line: int, field: str = "", text: str = "") -> None:
        self.odd.append(Notice(kind, message, f"line {line}", "", field, text))

    def mapped(self, criterion: str, value: str) -> str:
        """What a value is said to mean: by its criterion, then of all."""
        for name in (f"{criterion}:{value}", value):
            if name in self.mapping:
                return self.mapping[name].strip()
        return value

    def text(self, page: Page, systems: tuple[str, ...], text: str, line: int, column: str) -> bool:
        """Take a summary; False, and a fault, where another line has another one of the same systems."""
        if not text.strip():
            return True
        before, first = self.texts.setdefault((page, systems), (text, line))
        if before != text:
            self.fault(line, column, f"another text of {' and '.join(systems)} for {page.unit} than on line {first}")
        return before == text


def not_applicable(value: str) -> bool:
    return value.strip().casefold() in _NOT


#: Reads the rows of a shape into `Read`. ``default``: the rater of a file that names none.
Take = Callable[[Iterator[tuple[int, Mapping[str, str]]], Read, str], None]
