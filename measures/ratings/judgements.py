"""What raters said, row by row, and what a criterion makes of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from measures.means import FROM_0_TO_1, UNBOUNDED, Bounds

DERIVED = ":"
"""What the key of a criterion has that nobody was asked, because it is derived; keys of protocols have none."""
REFERENCE = "Reference"
"""What the reference summaries are called where they take part beside systems."""
#: What is printed of a criterion: a mean of numbers, the share of good values, or how often each value was said.
Kind = Literal["mean", "share", "counts"]
Choice = Literal["left", "right", "tie", "neither"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What ``rater`` said of the text of ``system`` for ``source`` by ``criterion``; ``value`` None: not applicable.

    ``place``: of the text on its page, from 0. ``ms``: active time on the whole page, the same in all that was said on
    it; 0 where it was not measured. ``repeat``: 0 the first time, 1 and more where the same page was given again.
    ``item``: what of the source the text is of, or was held against, where a source has several: intervals take the
    items of one source for alike.
    A text that several systems wrote has a row for each.
    """

    source: Hashable
    system: str
    rater: str
    criterion: str
    value: float | str | None
    place: int = 0
    ms: int = 0
    repeat: int = 0
    item: Hashable = ""


@dataclass(frozen=True, slots=True)
class Preference:
    """Which of two systems' texts for a source a rater chose by ``criterion``; ``item``: which of the source's."""

    source: Hashable
    left: str
    right: str
    rater: str
    criterion: str
    choice: Choice
    place: int = 0
    ms: int = 0
    repeat: int = 0
    item: Hashable = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """How values of a criterion become figures.

    ``good``: of a share, the values whose share it is. ``values``: the declared ones in their order, none of a slider.
    ``better``: which direction is; "" where there is none. ``bounds``: what its mean cannot leave.
    """

    key: str
    kind: Kind
    good: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    better: Literal["higher", "lower", ""] = ""
    bounds: Bounds = UNBOUNDED

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Criterion:
        """A criterion as a protocol's content has it."""
        scale, better = content["scale"], content.get("better")
        kind = scale["type"]
        values = tuple(option["value"] for option in scale.get("options") or ())
        direction: Literal["higher", "lower", ""] = better if better in ("higher", "lower") else ""
        if kind == "likert":
            numbers = [float(value) for value in values]
            return cls(content["key"], "mean", (), values, direction, (min(numbers), max(numbers)))
        if kind == "slider":
            return cls(content["key"], "mean", (), (), direction, (float(scale["minimum"]), float(scale["maximum"])))
        if kind == "spans":
            values = ("none", "marked")
        if isinstance(better, list | tuple) and better and kind in ("categorical", "spans"):
            return cls(content["key"], "share", tuple(better), values, "higher", FROM_0_TO_1)
        return cls(content["key"], "counts", (), values)

    def number(self, value: float | str | None) -> float | None:
        """What counts of a value: itself, or 1 where it is good and else 0; None where nothing does."""
        if value is None or self.kind == "counts":
            return None
        if self.kind == "share":
            return float(value in self.good) if isinstance(value, str) else float(value)
        return float(value)
