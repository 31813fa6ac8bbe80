"""The methods text as sections of plain paragraphs, and the forms of numbers, dates and lists in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from projects.reports.writing import number

from ..citation.facts import NOT_PROVIDED

#: Pages on which a lead can fill in what is missing.
CITATION, SETTINGS = "settings?tab=citation", "settings"
#: Names of these pages.
PAGES = {CITATION: "Settings, Citation", SETTINGS: "Settings", "import": "Import", "rounds": "Rounds"}
#: Most names of a list; the others are counted.
NAMED = 10


@dataclass(frozen=True)
class Gap:
    """Information that neither rows nor settings have. ``page``: where to enter it, relative to the project."""

    section: str
    what: str
    page: str

    @property
    def sentence(self) -> str:
        """What is missing, and where to enter it."""
        return (
            f"{self.section}, {self.what[:1].lower()}{self.what[1:]}: {NOT_PROVIDED} (enter it on {PAGES[self.page]})."
        )


@dataclass
class Section:
    """A section with its paragraphs, and what they lack."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def say(self, *sentences: str | Iterable[str]) -> None:
        """Add a paragraph of sentences; empty ones are left out."""
        every = [one for each in sentences for one in ([each] if isinstance(each, str) else each)]
        if text := " ".join(filter(None, every)):
            self.paragraphs.append(text)

    def gap(self, what: str, page: str = CITATION) -> str:
        """Record that something is missing, and return what the text prints instead."""
        self.gaps.append(Gap(self.title, what, page))
        return NOT_PROVIDED

    def stated(self, what: str, answer: str, page: str = CITATION) -> str:
        """Return a sentence with what a lead stated, or with a gap."""
        return f"{what}: {one_line(answer).rstrip('.') if answer.strip() else self.gap(what, page)}."


@dataclass(frozen=True)
class Document:
    """The methods text of a project."""

    title: str
    #: What the text describes, such as the version of a release.
    note: str
    sections: tuple[Section, ...]

    @property
    def gaps(self) -> list[Gap]:
        return [gap for section in self.sections for gap in section.gaps]


def one_line(text: str) -> str:
    return " ".join(text.split())


def count(n: int, one: str, more: str = "") -> str:
    """Return a number with its noun: "1 review", "1,204 reviews"."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def are(n: int) -> str:
    return "was" if n == 1 else "were"


def listed(items: Iterable[str], last: str = "and") -> str:
    """Return "a, b and c"."""
    names = list(items)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def named(items: Sequence[str], most: int = NAMED) -> str:
    """Return the first names of a list, and the number of the others."""
    names = [one_line(item) for item in items[:most]]
    return listed([*names, f"{len(items) - most:,} more"] if len(items) > most else names)


def quoted(name: str) -> str:
    return f"“{one_line(name)}”"


def day(value: date) -> str:
    return f"{value:%-d %b %Y}"


def share(value: float) -> str:
    """Return a fraction as a percentage without needless zeros."""
    return f"{100 * value:.4g}%"


def of_total(n: int, total: int, one: str = "", more: str = "") -> str:
    """Return "3 of 12 units (25.0%)"; without a percentage if there is no total."""
    of = count(total, one, more) if one else f"{total:,}"
    return f"{n:,} of {of}" + (f" ({100 * n / total:.1f}%)" if total else "")


def range_of(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def figure(value: float) -> str:
    return number(value, 2)


def interval(ci: tuple[float, float], level: float) -> str:
    return f"{level:.0%} CI [{figure(ci[0])}, {figure(ci[1])}]"


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
