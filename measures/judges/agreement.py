"""Agreement of a judge with people, beside the agreement of people with each other.

The coefficient is the one that Concord prints for the scale: Gwet's AC1 for categories, AC2 with quadratic weights for
ordered values (`measures.agreement`), of two raters at a time. *Own* is the mean over all pairs of people, *judge* the
mean over the pairs of the judge with each person, *consensus* the coefficient of the judge with the majority or with
the mean (its nearest point of the scale). Intervals leave out one source at a time (`measures.clustered`); that of the
difference uses the same sources for both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agreement.weights import weight_matrix
from ..clustered import Bounds, FloatArray, estimate
from ..means import UNBOUNDED
from .compared import Instances

Json = dict[str, Any]
Codes = npt.NDArray[np.int64]
LEAST_COMMON = 10
"""Minimum number of texts that two raters share for their coefficient."""
MOST_VALUES = 201
FEW_COMMON = f"no two raters share {LEAST_COMMON} texts"
FEW_WITH_JUDGE = f"no rater shares {LEAST_COMMON} texts with the judge"
CONTINUOUS = f"the scale has more than {MOST_VALUES} values: agreement is not computed"


def agreement_figures(texts: Instances, points: tuple[float, ...]) -> Json:
    """Return ``own``, ``judge``, ``consensus`` and ``difference`` with intervals, and ``raters`` (judge with each).

    ``points`` are the numbers of an ordered scale, empty for categories.
    """
    name = "AC2" if texts.ordered else "AC1"
    if texts.ordered and not 1 < len(points) <= MOST_VALUES:
        empty = _figure(None, None, texts, (-1.0, 1.0), CONTINUOUS)
        return {
            "coefficient": name,
            "own": empty,
            "judge": empty,
            "consensus": empty,
            "difference": empty,
            "raters": [],
        }
    q = len(points) if texts.ordered else len(texts.values)
    weights = weight_matrix("quadratic", points) if texts.ordered else np.eye(q)
    people = np.vstack([_codes(each, points) for each in texts.people]) if len(texts.names) else np.zeros((0, 0), int)
    judge = _codes(texts.judge, points)
    pairs = combinations(range(len(people)), 2)
    own = _mean(_pair(people[i], people[j], texts, weights) for i, j in pairs)
    each = [_pair(one, judge, texts, weights) for one in people]
    with_judge = _mean(each)
    consensus = _mean([_pair(_consensus(texts, people, points, q), judge, texts, weights)])
    difference = (with_judge[0] - own[0], with_judge[1] - own[1], (0.0, 0.0)) if own and with_judge else None
    return {
        "coefficient": name,
        "own": _of(own, texts, FEW_COMMON),
        "judge": _of(with_judge, texts, FEW_WITH_JUDGE),
        "consensus": _of(consensus, texts, FEW_WITH_JUDGE),
        "difference": _of(difference, texts, FEW_COMMON if with_judge else FEW_WITH_JUDGE, unbounded=True),
        "raters": [
            {"rater": rater, "value": None if found is None else found[0]}
            for rater, found in zip(texts.names, each, strict=True)
        ],
    }


#: The value, the values without each source (g,), and the bounds.
_Found = tuple[float, FloatArray, Bounds]


def _pair(first: Codes, second: Codes, texts: Instances, weights: FloatArray) -> _Found | None:
    """Return Gwet's coefficient of two raters, or None with fewer than `LEAST_COMMON` common texts."""
    both = np.flatnonzero((first >= 0) & (second >= 0))
    q = len(weights)
    if len(both) < LEAST_COMMON or q < 2:
        return None
    a, b, source = first[both], second[both], texts.source[both]
    agreed = np.bincount(source, weights=weights[a, b], minlength=texts.sources)
    n = np.bincount(source, minlength=texts.sources).astype(np.float64)
    at = np.concatenate([source * q + a, source * q + b])
    counts = np.bincount(at, minlength=texts.sources * q).reshape(texts.sources, q) / 2
    factor = float(weights.sum()) / (q * (q - 1))

    def value(agreed: FloatArray, n: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = counts / n[:, None]
            chance = factor * (shares * (1 - shares)).sum(axis=1)
            return (agreed / n - chance) / (1 - chance), chance

    whole, chance = value(agreed.sum(keepdims=True), n.sum(keepdims=True), counts.sum(axis=0, keepdims=True))
    without, _ = value(agreed.sum() - agreed, n.sum() - n, counts.sum(axis=0) - counts)
    return float(whole[0]), without, (float(-chance[0] / (1 - chance[0])), 1.0)


def _mean(found: Iterable[_Found | None]) -> _Found | None:
    known = [each for each in found if each is not None]
    if not known:
        return None
    return (
        float(np.mean([value for value, *_ in known])),
        np.mean([without for _, without, _ in known], axis=0),
        (float(np.mean([low for *_, (low, _) in known])), 1.0),
    )


def _of(found: _Found | None, texts: Instances, undefined: str, *, unbounded: bool = False) -> Json:
    if found is None:
        return _figure(None, None, texts, UNBOUNDED, undefined)
    value, without, bounds = found
    return _figure(value, without, texts, UNBOUNDED if unbounded else bounds, "")


def _figure(value: float | None, without: FloatArray | None, texts: Instances, bounds: Bounds, undefined: str) -> Json:
    figure: Json = {"value": value, "n": texts.n, "sources": texts.sources, "ci": None, "ci_reason": ""}
    if value is not None and without is not None:
        sizes = np.bincount(texts.source, minlength=texts.sources).astype(np.float64)
        found = estimate(value, without, sizes, bounds)
        figure |= {"ci": list(found.ci) if found.ci else None, "ci_reason": found.reason}
    return figure | {"undefined": undefined}


def _codes(values: FloatArray, points: tuple[float, ...]) -> Codes:
    """Return codes (n,), -1 for missing. Numbers become the nearest of ``points``, the lower of two equally near."""
    missing = np.isnan(values)
    filled = np.where(missing, 0.0, values)
    codes = np.abs(filled[:, None] - np.asarray(points)).argmin(axis=1) if points else filled.astype(np.int64)
    return np.where(missing, -1, codes).astype(np.int64)


def _consensus(texts: Instances, people: Codes, points: tuple[float, ...], q: int) -> Codes:
    """Return the mean or the majority of people, -1 without a rating or with a tie."""
    if texts.ordered:
        rated = ~np.isnan(texts.people)
        n = rated.sum(axis=0)
        mean = np.divide(np.nansum(texts.people, axis=0), n, out=np.full(texts.n, np.nan), where=n > 0)
        return _codes(mean, points)
    counts = np.stack([(people == value).sum(axis=0) for value in range(q)])
    top = counts.max(axis=0)
    return np.where((top > 0) & ((counts == top).sum(axis=0) == 1), counts.argmax(axis=0), -1).astype(np.int64)
