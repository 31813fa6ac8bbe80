"""Compute Delta-EI and direction F1: whether target and output agree on the direction of effects.

Source: DeYoung et al., MS^2 (EMNLP 2021), and its ``consistency_scorer``. For each intervention-outcome pair of a
review a classifier gives the target and the output a distribution over three classes each. Delta-EI is the
Jensen-Shannon *distance* (the square root of the divergence) of the two distributions, averaged over the pairs of a
review, then over reviews; 0 is best. The paper's maximum of 0.83 is the root of ln 2 (natural logarithms). The
published programs use base 2, where the maximum is 1. Both are reported; natural = 0.8326 * base 2. These figures are
not comparable with M3's polarity, which is benefit or harm, not increase or decrease.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from measures.agreement.gold import ClassScore, class_scores

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

CLASSES = ("decreases", "no change", "increases")
"""The order of the classes in every distribution; ``MS2_CLASSES`` holds the names in MS^2's files."""
MS2_CLASSES = ("significantly decreased", "no significant difference", "significantly increased")
PRIOR = (0.134, 0.570, 0.296)
"""The constant distribution that MS^2's program uses as the baseline output."""
NATURAL_OF_BASE_2 = math.sqrt(math.log(2))
"""0.8326: the factor from a distance in base 2 to the distance in natural logarithms."""

NO_PAIRS = "no review has an intervention-outcome pair"

Distribution = Sequence[float]
Pair = tuple[Distribution, Distribution]
"""(target, output)."""
Review = TypeVar("Review", bound=Hashable)
Reviews = Mapping[Review, Sequence[Pair]]


class DirectionError(ValueError):
    """A value is not a distribution over the three classes."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and population standard deviation over reviews, as MS^2 reports them."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class ReviewDeltaEi:
    """The mean distance over the pairs of one review, in natural logarithms and in base 2."""

    review: Hashable
    n_pairs: int
    natural: float
    base_2: float


@dataclass(frozen=True, slots=True)
class DeltaEi:
    """Delta-EI over reviews.

    ``natural`` (0..0.8326) and ``base_2`` (0..1) are None exactly when ``undefined`` gives the reason. The means are
    over ``n_reviews`` reviews with ``n_pairs`` pairs. ``n_without_pairs`` reviews have no pair and are left out, as in
    MS^2.
    """

    natural: Spread | None
    base_2: Spread | None
    n_reviews: int
    n_pairs: int
    n_without_pairs: int
    reviews: tuple[ReviewDeltaEi, ...]
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class DirectionScores:
    """F1 of the likeliest class, pooled over the pairs of all reviews.

    ``table`` (3, 3): counts; rows are the target's class, columns the output's, in the order of ``CLASSES``.
    ``shares``: the same as shares of each row, None for a row without a target. ``classes``: precision, recall and F1
    of each class; ``n_gold`` counts targets, ``n_given`` outputs. ``macro_f1``: mean F1 over the ``n_classes`` classes
    that occur on either side. ``micro_f1``: the share of equal pairs. ``n_ties``: pairs in which the likeliest class
    was not unique. Macro and micro F1 are None exactly when ``undefined`` gives the reason.
    """

    classes: tuple[ClassScore, ...]
    macro_f1: float | None
    micro_f1: float | None
    n_classes: int
    n_pairs: int
    n_ties: int
    table: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float | None, ...], ...]
    undefined: str | None = None


def js_distances(p: Sequence[Distribution] | FloatArray, q: Sequence[Distribution] | FloatArray) -> FloatArray:
    """Return Jensen-Shannon distances (n,) of distributions (n, 3) in natural logarithms, in 0..0.8326.

    Divide by ``NATURAL_OF_BASE_2`` for base 2. Distributions are scaled to sum 1, as in scipy. Raise DirectionError if
    a sum differs from 1 by more than 0.01, or if a value is negative or not finite.
    """
    left, right = _checked(p), _checked(q)
    if len(left) != len(right):
        raise DirectionError(f"{len(left)} distributions cannot be paired with {len(right)}")
    middle = (left + right) / 2
    divergence = (_relative_entropy(left, middle) + _relative_entropy(right, middle)) / 2
    roots: FloatArray = np.sqrt(np.maximum(divergence, 0))
    return roots


def delta_ei(reviews: Reviews[Review]) -> DeltaEi:
    """Return Delta-EI over ``reviews``, which hold (target, output) distributions in the order of ``CLASSES``.

    MS^2's baseline is Delta-EI of ``against_prior(reviews)``. Raise DirectionError for an invalid distribution.
    """
    distances = []
    for review, pairs in reviews.items():
        if pairs:
            distance = float(js_distances([t for t, _ in pairs], [o for _, o in pairs]).mean())
            distances.append(ReviewDeltaEi(review, len(pairs), distance, distance / NATURAL_OF_BASE_2))
    left_out = len(reviews) - len(distances)
    if not distances:
        return DeltaEi(None, None, 0, 0, left_out, (), NO_PAIRS)
    natural = _spread([each.natural for each in distances])
    base_2 = _spread([each.base_2 for each in distances])
    return DeltaEi(natural, base_2, len(distances), sum(each.n_pairs for each in distances), left_out, tuple(distances))


def against_prior(reviews: Reviews[Review], prior: Distribution = PRIOR) -> dict[Review, list[Pair]]:
    """Return the baseline: the same targets with ``prior`` as the output of every pair."""
    return {review: [(target, prior) for target, _ in pairs] for review, pairs in reviews.items()}


def direction_f1(reviews: Reviews[Review]) -> DirectionScores:
    """Return F1 of the likeliest class over the pairs of all reviews.

    Ties go to the later class in ``CLASSES``, as in MS^2. Raise DirectionError for an invalid distribution.
    """
    pairs = [pair for each in reviews.values() for pair in each]
    table = np.zeros((3, 3))
    ties = 0
    if pairs:
        targets, outputs = _checked([t for t, _ in pairs]), _checked([o for _, o in pairs])
        np.add.at(table, (_likeliest(targets), _likeliest(outputs)), 1)
        ties = int(((_peaks(targets) > 1) | (_peaks(outputs) > 1)).sum())
    classes = class_scores(table, CLASSES)
    f1 = [each.f1 for each in classes if each.f1 is not None]
    n = len(pairs)
    rows = tuple(tuple(int(cell) for cell in row) for row in table)
    shares = tuple(tuple(cell / sum(row) if sum(row) else None for cell in row) for row in rows)
    if not n:
        return DirectionScores(classes, None, None, 0, 0, 0, rows, shares, NO_PAIRS)
    return DirectionScores(classes, sum(f1) / len(f1), float(np.trace(table)) / n, len(f1), n, ties, rows, shares)


def f1_of_counts(counts: Mapping[Review, Mapping[str, float | None]]) -> dict[str, Any]:
    """Return `direction_f1` as plain values, from the counts of ``target/output`` class pairs of each summary.

    ``n`` counts the summaries that have a pair.
    """
    one_hot = {name: tuple(float(name == other) for other in CLASSES) for name in CLASSES}
    found = {
        summary: [
            (one_hot[target], one_hot[output])
            for target in CLASSES
            for output in CLASSES
            for _ in range(int(of_summary.get(f"{target}/{output}") or 0))
        ]
        for summary, of_summary in counts.items()
    }
    scores = direction_f1(found)
    return {
        "macro_f1": scores.macro_f1,
        "micro_f1": scores.micro_f1,
        "undefined": scores.undefined,
        "n_pairs": scores.n_pairs,
        "n": sum(bool(pairs) for pairs in found.values()),
        "table": scores.table,
        "classes": {str(each.label): each.f1 for each in scores.classes},
    }


def _checked(distributions: Sequence[Distribution] | FloatArray) -> FloatArray:
    """Return the distributions (n, 3), each row scaled to sum 1."""
    try:
        rows = np.asarray(distributions, dtype=np.float64)
    except (TypeError, ValueError):
        raise DirectionError("a distribution is three numbers") from None
    if rows.ndim != 2 or rows.shape[1] != len(CLASSES):
        raise DirectionError(f"a distribution has {len(CLASSES)} numbers: {', '.join(CLASSES)}")
    total = rows.sum(axis=1, keepdims=True)
    if not np.isfinite(rows).all() or (rows < 0).any() or (np.abs(total - 1) > 0.01).any():
        raise DirectionError("a distribution has numbers from 0 to 1 that sum to 1")
    scaled: FloatArray = rows / total
    return scaled


def _relative_entropy(p: FloatArray, m: FloatArray) -> FloatArray:
    """Return the sums (n,) of p ln (p / m); terms with p = 0 are 0."""
    ratio = np.divide(p, m, out=np.ones_like(p), where=p > 0)
    summed: FloatArray = (p * np.log(ratio)).sum(axis=1)
    return summed


def _spread(values: Sequence[float]) -> Spread:
    return Spread(float(np.mean(values)), float(np.std(values)))


def _likeliest(rows: FloatArray) -> Any:
    return len(CLASSES) - 1 - np.argmax(rows[:, ::-1], axis=1)


def _peaks(rows: FloatArray) -> Any:
    return (rows == rows.max(axis=1, keepdims=True)).sum(axis=1)
