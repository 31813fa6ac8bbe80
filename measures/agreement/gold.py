"""Each rater against gold: accuracy with its interval, the confusion table, precision and recall a value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from measures.agreement.clusters import Clusters
from measures.agreement.errors import RatingsError
from measures.agreement.pairs import cohen_kappa
from measures.agreement.patterns import FloatArray
from measures.agreement.ratings import Label, Ratings
from measures.agreement.results import NOT_ENOUGH_RATINGS, Coefficient
from measures.agreement.sample_size import z_quantile
from measures.clustered import Interval
from measures.means import SHARE_METHOD, clustered_share

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision, recall and F1 of one value against gold; None where nothing was predicted, or is gold."""

    label: Label
    n_gold: int
    n_given: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class AgainstGold:
    """One rater: ``table`` (q, q) rows gold, columns the rater; accuracy is None when ``undefined`` says why."""

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

    def as_json(self) -> dict[str, object]:
        return {
            "rater": self.rater,
            "n": self.n,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "ci": list(self.ci) if self.ci else None,
            "method": self.method,
            "undefined": self.undefined,
            "kappa": self.kappa.value,
            "confusion": [[int(v) for v in row] for row in self.table],
            "classes": [
                {"label": c.label, "n_gold": c.n_gold, "n_given": c.n_given, "precision": c.precision,
                 "recall": c.recall, "f1": c.f1}
                for c in self.classes
            ],
        }  # fmt: skip


def against_gold(
    ratings: Ratings, gold: Mapping[Item, Label], level: float = 0.95, clusters: Clusters | None = None
) -> tuple[AgainstGold, ...]:
    """Every rater, over the items that have a gold value. RatingsError when a gold value is outside the scale.

    With ``clusters`` the interval of the accuracy knows that items of one are alike.
    """
    index = {label: code for code, label in enumerate(ratings.scale)}
    strange = sorted({repr(v) for v in gold.values() if v not in index})
    if strange:
        raise RatingsError(f"gold labels outside the scale: {', '.join(strange)}")
    true_code: dict[Hashable, int] = {item: index[value] for item, value in gold.items()}
    truth = np.array([true_code.get(item, -1) for item in ratings.items], dtype=np.int64)
    q = ratings.q
    results = []
    for g, rater in enumerate(ratings.raters):
        given = ratings.codes[g].astype(np.int64)
        both = (given >= 0) & (truth >= 0)
        table = np.bincount(truth[both] * q + given[both], minlength=q * q).reshape(q, q).astype(np.float64)
        n, correct = int(table.sum()), int(np.trace(table))
        if clusters:
            share = clustered_share((given == truth)[both].tolist(), clusters.of_item[both].tolist(), level=level)
            ci, how = share.ci, share.no_interval or SHARE_METHOD
        else:
            ci, how = (wilson_interval(correct, n, level) if n else None), "Wilson interval"
        results.append(
            AgainstGold(
                rater, n, correct, correct / n if n else None, ci, f"share of items equal to gold; {how}",
                None if n else NOT_ENOUGH_RATINGS, cohen_kappa(table, level=level),
                class_scores(table, ratings.scale), table,
            )
        )  # fmt: skip
    return tuple(results)


def class_scores(table: FloatArray, scale: tuple[Label, ...]) -> tuple[ClassScore, ...]:
    """Precision, recall, F1 of every value of a table with gold in rows."""
    scores = []
    for k, label in enumerate(scale):
        hit, is_gold, given = float(table[k, k]), float(table[k].sum()), float(table[:, k].sum())
        precision = hit / given if given else None
        recall = hit / is_gold if is_gold else None
        f1 = 2 * hit / (is_gold + given) if is_gold + given else None
        scores.append(ClassScore(label, int(is_gold), int(given), precision, recall, f1))
    return tuple(scores)


def wilson_interval(hits: float, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share (JASA 22, 1927): inside 0..1, also for 0 and n hits."""
    if n < 1 or not 0 <= hits <= n:
        raise ValueError("a share needs 0 <= hits <= n and n >= 1")
    z = z_quantile(level)
    p = hits / n
    centre = p + z * z / (2 * n)
    half = z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    low, high = (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
    return max(0.0, low), min(1.0, high)
