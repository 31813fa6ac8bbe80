"""What was repeated, and what came out differently."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: Of more findings than these only the number is kept.
MOST = 200
#: Floats may differ so much from one machine, or one release of NumPy, to the next: relative, and near 0 absolute.
RELATIVE, ABSOLUTE = 1e-9, 1e-12


class Unusable(Exception):
    """A file is not there, or is none of this kind; the message is a sentence that begins with its name."""


@dataclass
class Findings:
    """``repeated``: how many figures of each file came out as printed; ``not_repeated``: what was not, and why."""

    repeated: Counter[str] = field(default_factory=Counter)
    not_repeated: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    #: How many differences there are beside those.
    more: int = 0

    def find(self, sentence: str) -> None:
        if len(self.different) < MOST:
            self.different.append(sentence)
        else:
            self.more += 1

    def compare(self, file: str, what: str, printed: Any, again: Any) -> None:
        """Hold plain values against one another, at every depth; each number is one figure."""
        for place, one, other in _leaves("", printed, again):
            if _same(one, other):
                self.repeated[file] += isinstance(one, int | float) and not isinstance(one, bool)
            else:
                self.find(f"{file}: {what}{place}: printed {_shown(one)}, again {_shown(other)}")

    @property
    def count(self) -> int:
        return len(self.different) + self.more


class _Nothing:
    """Where one side has no such place."""


_NOTHING = _Nothing()


def _leaves(place: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _leaves(f"{place}, {key}", one.get(key, _NOTHING), other.get(key, _NOTHING))
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            yield f"{place}, length", len(one), len(other)
        for at, (left, right) in enumerate(zip(one, other, strict=False), start=1):
            yield from _leaves(f"{place}, {_name(left) or at}", left, right)
    else:
        yield place, one, other


def _name(value: Any) -> str:
    """What a row of a list calls itself."""
    return str(value["name"]) if isinstance(value, dict) and isinstance(value.get("name"), str) else ""


def _same(one: Any, other: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    if numbers and (isinstance(one, float) or isinstance(other, float)):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(one) is type(other) and bool(one == other)


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
