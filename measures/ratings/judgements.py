"""Judgements and preferences of raters, and how a criterion turns values into figures."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from measures.clustered import Bounds
from measures.means import FROM_0_TO_1, UNBOUNDED

FAULTS = ("hallucination", "non-redundancy")
"""Standard names of criteria that look for faults, for protocols that do not declare ``points``."""
DERIVED = ":"
"""Separator in the keys of derived criteria. Keys of protocols do not contain it."""
REFERENCE = "Reference"
"""Name of the reference summaries among the compared systems."""
#: The figure of a criterion: a mean of numbers, the share of good values, counts of values, or the share of "best" less
#: the share of "worst".
Kind = Literal["mean", "share", "counts", "best-worst"]
BEST, NEITHER, WORST = CHOSEN = ("best", "neither", "worst")
"""Values of the texts of a tuple, in which one is best and one is worst."""
_SCORE = {BEST: 1.0, NEITHER: 0.0, WORST: -1.0}
Choice = Literal["left", "right", "tie", "neither"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one text by one rater and criterion. A ``value`` of None means not applicable.

    ``position`` is the position of the text on its page, from 0. ``ms`` is the active time on the whole page, repeated
    in each of its judgements; 0 if not measured. ``repeat`` is 0 the first time, and 1 or more for a repeated page.
    ``item`` identifies the part of the source, or the target, if a source has several. Intervals treat the items of one
    source as correlated. A text that several systems wrote has one judgement per system, with the same ``text``.
    """

    source: Hashable
    system: str
    rater: str
    criterion: str
    value: float | str | None
    position: int = 0
    ms: int = 0
    repeat: int = 0
    item: Hashable = ""
    text: Hashable = None


@dataclass(frozen=True, slots=True)
class BestWorst:
    """The best and the worst of the ``systems`` whose texts one rater saw together, by one criterion."""

    source: Hashable
    systems: Sequence[str]
    best: str
    worst: str
    rater: str
    criterion: str
    repeat: int = 0
    item: Hashable = ""


@dataclass(frozen=True, slots=True)
class Preference:
    """The choice between two systems' texts by one rater and criterion. ``item`` identifies the part of the source."""

    source: Hashable
    left: str
    right: str
    rater: str
    criterion: str
    choice: Choice
    position: int = 0
    ms: int = 0
    repeat: int = 0
    item: Hashable = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """How the values of a criterion become figures.

    ``good`` are the values whose share is reported. For a criterion that looks for faults, these are the faults.
    ``values`` are the declared values in order, empty for a slider. ``better`` is the good direction, or "" if there is
    none. ``bounds`` limits the mean.
    """

    key: str
    kind: Kind
    good: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    better: Literal["higher", "lower", ""] = ""
    bounds: Bounds = UNBOUNDED

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Criterion:
        """Return the criterion from a protocol's content in JSON."""
        scale, better = content["scale"], content.get("better")
        kind = scale["type"]
        values = tuple(o["value"] for o in scale.get("options") or () if not o.get("off_scale"))
        direction: Literal["higher", "lower", ""] = better if better in ("higher", "lower") else ""
        if kind == "likert":
            numbers = [float(value) for value in values]
            return cls(content["key"], "mean", (), values, direction, (min(numbers), max(numbers)))
        if kind == "slider":
            return cls(content["key"], "mean", (), (), direction, (float(scale["minimum"]), float(scale["maximum"])))
        if kind == "best-worst":
            return cls(content["key"], kind, (), CHOSEN, "higher", (-1.0, 1.0))
        if kind == "spans":
            values = ("none", "marked")
        if isinstance(better, list | tuple) and better and kind in ("categorical", "spans"):
            points = content.get("points") or ("fault" if content.get("standard") in FAULTS else "good")
            if points == "fault":
                faults = tuple(value for value in values if value not in better)
                return cls(content["key"], "share", faults, values, "lower", FROM_0_TO_1)
            return cls(content["key"], "share", tuple(better), values, "higher", FROM_0_TO_1)
        return cls(content["key"], "counts", (), values)

    def number(self, value: float | str | None) -> float | None:
        """Return the number of a value: the value itself, or 1 or 0 for a share. Return None if it does not count."""
        if value is None or self.kind == "counts":
            return None
        if self.kind == "share":
            return float(value in self.good) if isinstance(value, str) else float(value)
        if self.kind == "best-worst":
            return _SCORE[str(value)]
        return float(value)

    @property
    def is_slider(self) -> bool:
        return self.kind == "mean" and not self.values
