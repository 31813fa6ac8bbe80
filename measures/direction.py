"""Delta-EI and direction F1: do target and output say the same about what rises and falls?

Source: DeYoung et al., MS^2 (EMNLP 2021), and its ``consistency_scorer``. For each intervention-outcome pair of a
review a classifier gives the target and the output each a distribution over three classes. Delta-EI is the
Jensen-Shannon *distance* (the root of the divergence) of the two, averaged over the pairs of a review, then over
reviews; 0 is best. The paper's 0.83 for no agreement at all is the root of ln 2, of natural logarithms; the published
programs take base 2, in which that is 1. Both are given; natural = 0.8326 * base 2. Never to be compared with M3's
polarity, which is benefit or harm, not rise or fall.
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
"""The order of every distribution here; MS^2's files call them as ``MS2_CLASSES`` says."""
MS2_CLASSES = ("significantly decreased", "no significant difference", "significantly increased")
PRIOR = (0.134, 0.570, 0.296)
"""What MS^2's program compares targets with as the baseline: always the same distribution."""
NATURAL_OF_BASE_2 = math.sqrt(math.log(2))
"""0.8326: a distance in base 2 times this is the distance by natural logarithms."""

NO_PAIRS = "no review has an intervention-outcome pair"

Distribution = Sequence[float]
Pair = tuple[Distribution, Distribution]
"""(target, output)."""
Review = TypeVar("Review", bound=Hashable)
Reviews = Mapping[Review, Sequence[Pair]]


class DirectionError(ValueError):
    """What was given is no distribution over the three classes."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean over reviews and population standard deviation, as MS^2 prints them."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class ReviewDeltaEi:
    """One review: the mean distance over its pairs, by both logarithms."""

    review: Hashable
    n_pairs: int
    natural: float
    base_2: float


@dataclass(frozen=True, slots=True)
class DeltaEi:
    """``natural`` in 0..0.8326 and ``base_2`` in 0..1 are None exactly when ``undefined`` says why.

    ``n_reviews`` with ``n_pairs`` in all were averaged; ``n_without_pairs`` had no pair and were left out, as in MS^2.
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
    """The likeliest classes of all pairs of all reviews, pooled: the output's against the target's.

    ``table`` (3, 3): rows the target's class, columns the output's, both in the order of ``CLASSES``; ``shares`` the
    same by row, None in a row without a target. ``classes``: precision, recall and F1 of each (``n_gold`` counts
    targets, ``n_given`` outputs). ``macro_f1``: mean F1 over the classes that occur on either side (``n_classes``);
    ``micro_f1``: the share of equal pairs. ``n_ties``: pairs in which a likeliest class was not the only one. Macro and
    micro are None exactly when ``undefined`` says why.
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
    """Jensen-Shannon distances by natural logarithms: (n, 3) and (n, 3) to (n,), in 0..0.8326.

    Divide by ``NATURAL_OF_BASE_2`` for base 2. Distributions are scaled to sum 1, as scipy does; DirectionError for one
    that is off by more than 0.01, negative or not finite.
    """
    left, right = _checked(p), _checked(q)
    if len(left) != len(right):
        raise DirectionError(f"{len(left)} distributions cannot be paired with {len(right)}")
    middle = (left + right) / 2
    divergence = (_relative_entropy(left, middle) + _relative_entropy(right, middle)) / 2
    roots: FloatArray = np.sqrt(np.maximum(divergence, 0))
    return roots


def delta_ei(reviews: Reviews[Review]) -> DeltaEi:
    """Delta-EI over ``reviews``: for each its pairs of (target, output) distributions in the order of ``CLASSES``.

    With ``against_prior(reviews)`` it is MS^2's baseline. DirectionError for what is no distribution.
    """
    found = []
    for review, pairs in reviews.items():
        if pairs:
            distance = float(js_distances([t for t, _ in pairs], [o for _, o in pairs]).mean())
            found.append(ReviewDeltaEi(review, len(pairs), distance, distance / NATURAL_OF_BASE_2))
    left_out = len(reviews) - len(found)
    if not found:
        return DeltaEi(None, None, 0, 0, left_out, (), NO_PAIRS)
    natural = _spread([each.natural for each in found])
    base_2 = _spread([each.base_2 for each in found])
    return DeltaEi(natural, base_2, len(found), sum(each.n_pairs for each in found), left_out, tuple(found))


def against_prior(reviews: Reviews[Review], prior: Distribution = PRIOR) -> dict[Review, list[Pair]]:
    """The same targets, with ``prior`` in place of every output: the baseline to read the figures beside."""
    return {review: [(target, prior) for target, _ in pairs] for review, pairs in reviews.items()}


def direction_f1(reviews: Reviews[Review]) -> DirectionScores:
    """F1 of the likeliest class over the pairs of all reviews. Of equals the later in ``CLASSES`` counts, as in MS^2.

    DirectionError for what is no distribution.
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
    return DirectionScores(
        classes, sum(f1) / len(f1), float(np.trace(table)) / n, len(f1), n, ties, rows, shares
    )  # fmt: skip


def f1_of_counts(counts: Mapping[Review, Mapping[str, float | None]]) -> dict[str, Any]:
    """`direction_f1` from how often each summary has each pair of classes, ``target/output`` -> count; plain values.

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
        "macro_f1": scores.macro_f1, "micro_f1": scores.micro_f1, "undefined": scores.undefined,
        "n_pairs": scores.n_pairs, "n": sum(bool(pairs) for pairs in found.values()), "table": scores.table,
        "classes": {str(each.label): each.f1 for each in scores.classes},
    }  # fmt: skip


def _checked(given: Sequence[Distribution] | FloatArray) -> FloatArray:
    """(n, 3), each row scaled to sum 1."""
    try:
        rows = np.asarray(given, dtype=np.float64)
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
    """(n,): sum of p ln (p / m), where p is 0 nothing."""
    ratio = np.divide(p, m, out=np.ones_like(p), where=p > 0)
    summed: FloatArray = (p * np.log(ratio)).sum(axis=1)
    return summed


def _spread(values: Sequence[float]) -> Spread:
    return Spread(float(np.mean(values)), float(np.std(values)))


def _likeliest(rows: FloatArray) -> Any:
    return len(CLASSES) - 1 - np.argmax(rows[:, ::-1], axis=1)


def _peaks(rows: FloatArray) -> Any:
    return (rows == rows.max(axis=1, keepdims=True)).sum(axis=1)
