"""Agreement of raters with gold (accuracy, confusion, precision, recall), and sample-size planning."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from .. import former
from ..clustered import METHOD, Interval, t_quantile
from ..means import FORMER_SHARE_METHOD, clustered_share
from .basis import NOT_ENOUGH_RATINGS, Coefficient
from .clusters import Clusters
from .pairs import cohen_kappa
from .ratings import FloatArray, Label, Ratings, RatingsError


@lru_cache(maxsize=64)
def z_quantile(level: float) -> float:
    """Return the two-sided normal quantile: 1.95996 for level 0.95."""
    if not 0 < level < 1:
        raise ValueError("the confidence level must lie between 0 and 1")
    return float(special.ndtri(0.5 + level / 2))


def items_needed(se: float, n: int, half_width: float, level: float = 0.95, clusters: int | None = None) -> int:
    """Return the smallest number of items with an interval of at most value -+ ``half_width``.

    The pilot has ``n`` items and the standard error ``se``. The half width for n' items is t SE_1 / sqrt(n'), where
    SE_1 = se sqrt(n) is the standard error of one item. The result is at least 2. If ``se`` is over ``clusters`` of the
    pilot, the plan assumes the pilot's number of items per cluster.
    """
    if not half_width > 0:
        raise ValueError("planning needs a half width above 0")
    upper = 2
    while _half_width(se, n, upper, level, clusters) > half_width + 1e-9:
        upper *= 2
    low, high = max(upper // 2, 1), upper  # bounds of the bisection: too few items (or 1), and enough items
    while high - low > 1:
        middle = (low + high) // 2
        enough = _half_width(se, n, middle, level, clusters) <= half_width + 1e-9
        low, high = (low, middle) if enough else (middle, high)
    return high


def half_width_curve(
    se: float, n: int, sizes: Iterable[int], level: float = 0.95, clusters: int | None = None
) -> tuple[tuple[int, float], ...]:
    """Return (items, half width of the interval) for each of ``sizes`` that is at least 2, as in `items_needed`."""
    return tuple((size, _half_width(se, n, size, level, clusters)) for size in sizes if size > 1)


def _half_width(se: float, n: int, size: int, level: float, clusters: int | None) -> float:
    if n < 2 or not se >= 0:
        raise ValueError("planning needs a pilot of two items or more and a standard error")
    df = max(size * (clusters or n) / n - 1, 1.0)
    return t_quantile(level, df) * se * math.sqrt(n / size)


Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one value against gold. None if the denominator is 0."""

    label: Label
    n_gold: int
    n_given: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class AgainstGold:
    """One rater against gold. ``table`` (q, q) has gold in rows and the rater in columns.

    ``accuracy`` is None if ``undefined`` gives the reason.
    """

    rater: Hashable
    n: int
    correct: int
    accuracy: float | None
    ci: Interval | None
    method: str
    undefined: str | None
    kappa: Coefficient
    classes: tuple[ClassScore, ...]
    table: FloatArray
    ci_reason: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "rater": self.rater,
            "n": self.n,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "ci": list(self.ci) if self.ci else None,
            "ci_reason": self.ci_reason or None,
            "method": self.method,
            "undefined": self.undefined,
            "kappa": self.kappa.value,
            "confusion": [[int(v) for v in row] for row in self.table],
            "classes": [
                {
                    "label": c.label,
                    "n_gold": c.n_gold,
                    "n_given": c.n_given,
                    "precision": c.precision,
                    "recall": c.recall,
                    "f1": c.f1,
                }
                for c in self.classes
            ],
        }


def against_gold(
    ratings: Ratings, gold: Mapping[Item, Label], level: float = 0.95, clusters: Clusters | None = None
) -> tuple[AgainstGold, ...]:
    """Compare each rater with gold, over the items with a gold value.

    The interval of the accuracy is over ``clusters``, or over items if clusters are unknown. Raise `RatingsError` if a
    gold value is outside the scale.
    """
    index = {label: code for code, label in enumerate(ratings.scale)}
    unknown = sorted({repr(v) for v in gold.values() if v not in index})
    if unknown:
        raise RatingsError(f"gold labels outside the scale: {', '.join(unknown)}")
    true_code: dict[Hashable, int] = {item: index[value] for item, value in gold.items()}
    truth = np.array([true_code.get(item, -1) for item in ratings.items], dtype=np.int64)
    q = ratings.q
    results = []
    if clusters is None and not former.is_on():
        clusters = Clusters.of_items(ratings)
    for g, rater in enumerate(ratings.raters):
        codes = ratings.codes[g].astype(np.int64)
        both = (codes >= 0) & (truth >= 0)
        table = np.bincount(truth[both] * q + codes[both], minlength=q * q).reshape(q, q).astype(np.float64)
        n, correct = int(table.sum()), int(np.trace(table))
        reason = ""
        if clusters:
            share = clustered_share((codes == truth)[both].tolist(), clusters.of_item[both].tolist(), level=level)
            ci, reason = share.ci, share.ci_reason
            method = (reason or FORMER_SHARE_METHOD) if former.is_on() else METHOD
        else:
            ci, method = (wilson_interval(correct, n, level) if n else None), "Wilson interval"
        results.append(
            AgainstGold(
                rater,
                n,
                correct,
                correct / n if n else None,
                ci,
                f"share of items equal to gold; {method}",
                None if n else NOT_ENOUGH_RATINGS,
                cohen_kappa(table, level=level),
                class_scores(table, ratings.scale),
                table,
                reason,
            )
        )
    return tuple(results)


def class_scores(table: FloatArray, scale: tuple[Label, ...]) -> tuple[ClassScore, ...]:
    """Return precision, recall and F1 of each value of a table with gold in rows."""
    return tuple(
        class_score(label, float(table[k, k]), float(table[k].sum()), float(table[:, k].sum()))
        for k, label in enumerate(scale)
    )


def class_score(label: Label, hits: float, n_gold: float, n_given: float) -> ClassScore:
    """Return precision, recall and F1 of a value from its counts: ``hits`` are in gold and given by the rater."""
    precision = hits / n_given if n_given else None
    recall = hits / n_gold if n_gold else None
    f1 = 2 * hits / (n_gold + n_given) if n_gold + n_given else None
    return ClassScore(label, int(n_gold), int(n_given), precision, recall, f1)


def wilson_interval(hits: float, n: float, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of a share (JASA 22, 1927). It is within 0..1, also for 0 or n hits."""
    if n < 1 or not 0 <= hits <= n:
        raise ValueError("a share needs 0 <= hits <= n and n >= 1")
    z = z_quantile(level)
    p = hits / n
    centre = p + z * z / (2 * n)
    half = z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    low, high = (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
    return max(0.0, low), min(1.0, high)
