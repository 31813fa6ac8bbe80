"""What the fields of a protocol take: each reads a value of JSON, and says at its path what was expected instead."""

import math
import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

_KEY = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Numbers of a slider are no larger.
LARGEST = 1_000_000
SHOWN = 60


@dataclass(frozen=True)
class Fault:
    """Something wrong with a protocol. ``path``: where, with dots (``criteria.0.scale.type``); empty for all of it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Misread(Exception):
    """What was expected in place of the value that was given."""


class Takes:
    """One sort of value. `read` raises `Misread`; what has parts of its own adds faults at their paths instead."""

    def read(self, given: Any, path: str, faults: list[Fault]) -> Any:
        raise NotImplementedError

    def plain(self, value: Any) -> Any:
        """The value in JSON."""
        return value


NEEDED = object()


def takes(what: Takes, default: Any = NEEDED, *, name: str = "", later: bool = False) -> Any:
    """A field of a part. Without a default it must be given; ``name``: in JSON, where Python keeps the word. ``later``:
    versions were stored before there was this field; it is written out only where it says something, so that they are
    the same versions, with the same digest, as before."""
    metadata = {"takes": what, "name": name, "later": later}
    return field(metadata=metadata) if default is NEEDED else field(default=default, metadata=metadata)


def declared(part: type) -> Iterator[tuple[str, Takes, Field[Any]]]:
    """(name in JSON, what it takes, field) of a part, in the order in which they are written."""
    for one in fields(part):
        yield one.metadata["name"] or one.name, one.metadata["takes"], one


def below(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


@dataclass(frozen=True)
class Text(Takes):
    most: int
    #: Whether it may have several lines.
    lines: bool = False

    def read(self, given: Any, path: str, faults: list[Fault]) -> str:
        if not isinstance(given, str) or len(given) > self.most:
            raise Misread(f"Expected text of at most {self.most:,} characters.")
        if not _is_unicode(given) or "\0" in given:
            raise Misread("Expected text without NUL and half characters.")
        if not self.lines and _CONTROL.search(given):
            raise Misread("Expected one line, without line breaks and tabs.")
        return given


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Key(Takes):
    """A name that other parts refer to."""

    most = 40

    def read(self, given: Any, path: str, faults: list[Fault]) -> str:
        if not isinstance(given, str) or len(given) > self.most or not _KEY.fullmatch(given):
            raise Misread(
                f"Expected a key: lower-case letters and digits, parts joined by - or _, at most {self.most}."
            )  # fmt: skip
        return given


class KeyOrEmpty(Key):
    def read(self, given: Any, path: str, faults: list[Fault]) -> str:
        return "" if given == "" else super().read(given, path, faults)


class Code(Takes):
    """The value of an option, as answers and tables have it."""

    most = 60

    def read(self, given: Any, path: str, faults: list[Fault]) -> str:
        fits = isinstance(given, str) and 0 < len(given) <= self.most and given == given.strip()
        if not fits or ";" in given or _CONTROL.search(given) or not _is_unicode(given):
            raise Misread(f"Expected 1 to {self.most} characters on one line, without ; and spaces around.")
        return str(given)


class Answer(Code):
    """The value of an option, or empty: not applicable; in an example: none yet."""

    def read(self, given: Any, path: str, faults: list[Fault]) -> str:
        return "" if given == "" else super().read(given, path, faults)


class Flag(Takes):
    def read(self, given: Any, path: str, faults: list[Fault]) -> bool:
        if not isinstance(given, bool):
            raise Misread("Expected true or false.")
        return given


@dataclass(frozen=True)
class OneOf(Takes):
    values: tuple[str, ...]

    def read(self, given: Any, path: str, faults: list[Fault]) -> str:
        if not isinstance(given, str) or given not in self.values:
            raise Misread(f"Expected one of: {', '.join(value or '(empty)' for value in self.values)}.")
        return given


@dataclass(frozen=True)
class Version(Takes):
    """The one schema that is known."""

    number: int

    def read(self, given: Any, path: str, faults: list[Fault]) -> int:
        if given is True or given != self.number or not isinstance(given, int):
            raise Misread(f"Expected {self.number}: a later schema needs a later Concord.")
        return given


class Place(Takes):
    """A place in a text: code points from its beginning."""

    def read(self, given: Any, path: str, faults: list[Fault]) -> int:
        if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= LARGEST:
            raise Misread("Expected a whole number from 0.")
        return given


class Number(Takes):
    """A number of a slider, or null. Whole ones are kept as such, so that 1 and 1.0 are one protocol."""

    def read(self, given: Any, path: str, faults: list[Fault]) -> int | float | None:
        if given is None:
            return None
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not math.isfinite(given) or abs(given) > LARGEST:
            raise Misread(f"Expected a number from -{LARGEST:,} to {LARGEST:,}, or null.")
        return int(given) if given == int(given) else float(given)


@dataclass(frozen=True)
class Several(Takes):
    """A list of values of one sort."""

    each: Takes
    most: int

    def read(self, given: Any, path: str, faults: list[Fault]) -> tuple[Any, ...]:
        if not isinstance(given, list) or len(given) > self.most:
            raise Misread(f"Expected a list of at most {self.most}.")
        return tuple(_read(self.each, one, below(path, i), faults) for i, one in enumerate(given))

    def plain(self, value: Any) -> list[Any]:
        return [self.each.plain(one) for one in value]


@dataclass(frozen=True)
class Part(Takes):
    """An object with declared fields; ``or_null``: it may be left out."""

    of: type
    or_null: bool = False

    def read(self, given: Any, path: str, faults: list[Fault]) -> Any:
        if given is None and self.or_null:
            return None
        if not isinstance(given, dict):
            raise Misread("Expected an object, or null." if self.or_null else "Expected an object.")
        known = {name: (what, one) for name, what, one in declared(self.of)}
        for name in given:
            if name not in known:
                faults.append(Fault(below(path, str(name)[:SHOWN]), "There is no such field."))
        values: dict[str, Any] = {}
        for name, (what, one) in known.items():
            if name in given:
                values[one.name] = _read(what, given[name], below(path, name), faults)
            elif one.default is MISSING:
                faults.append(Fault(below(path, name), "This is needed."))
                values[one.name] = None
        return self.of(**values)

    def plain(self, value: Any) -> Any:
        if value is None:
            return None
        return {
            name: what.plain(getattr(value, one.name))
            for name, what, one in declared(self.of)
            if not (one.metadata["later"] and getattr(value, one.name) == one.default)
        }


class Better(Takes):
    """Which end of a scale is good: a direction, the good values, or null where neither is."""

    directions = ("higher", "lower")
    values = Several(Code(), 100)

    def read(self, given: Any, path: str, faults: list[Fault]) -> str | tuple[str, ...] | None:
        if isinstance(given, list):
            return self.values.read(given, path, faults)
        if given is not None and given not in self.directions:
            raise Misread("Expected higher, lower, a list of the good values, or null.")
        return given if given is None else str(given)

    def plain(self, value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value


class OrNull(Takes):
    """A value, or null."""

    def __init__(self, what: Takes) -> None:
        self.what = what

    def read(self, given: Any, path: str, faults: list[Fault]) -> Any:
        return None if given is None else self.what.read(given, path, faults)


def _read(what: Takes, given: Any, path: str, faults: list[Fault]) -> Any:
    try:
        return what.read(given, path, faults)
    except Misread as expected:
        faults.append(Fault(path, str(expected)))
        return None


def read(part: type, given: Any) -> tuple[Any, list[Fault]]:
    """The part that was given, and what is wrong with it: it is of use where nothing is."""
    faults: list[Fault] = []
    return _read(Part(part), given, "", faults), faults
