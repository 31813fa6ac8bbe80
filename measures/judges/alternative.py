"""The alternative annotator test: may a judge replace one of the annotators?

Source: Calderon, Reichart and Dror 2025, *The alternative annotator test for LLM-as-a-judge*, ACL, and the authors'
code (github.com/nitaytech/AltTest). Each annotator j is left out in turn. On every instance that j and at
least one other annotator rated, the judge and j are scored by how well they match the remaining annotators: accuracy
for categories, negative root mean squared error for numbers. The judge wins if its score is not lower, and so does j.
With d = (j wins) - (judge wins), the null hypothesis mean(d) >= epsilon is tested one-sided: by the t test from 30
instances on, by Wilcoxon's signed ranks below. Benjamini and Yekutieli's procedure (2001) limits the share of false
rejections over annotators to .05. The *winning rate* is the share of annotators with a rejection. The judge passes
from .5 on. The *advantage probability* is the share of instances that the judge wins, averaged over annotators.

The t test assumes independent instances, but texts of one source are alike. The clustered variant has the jackknife
standard error over sources and Satterthwaite's degrees of freedom (`measures.clustered`). The lower winning rate of the
two is the one to cite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special, stats  # type: ignore[import-untyped]

from ..clustered import FloatArray, degrees_of_freedom, jackknife_se

Json = dict[str, Any]
Group = Literal["experts", "skilled", "crowd"]
EPSILON: dict[str, float] = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""The benefit of a judge over people, by the group of the annotators, as the authors recommend."""
RATE, PASSES = 0.05, 0.5
LEAST_ANNOTATORS, ENOUGH_INSTANCES, LEAST_INSTANCES = 3, 30, 5
ENOUGH_SOURCES = 10
"""Minimum number of sources of an annotator for the clustered test (benchmarks/judges.py)."""
FEW_ANNOTATORS = f"fewer than {LEAST_ANNOTATORS} raters share texts with the judge"
_CLOSE = 1e-9


@dataclass(frozen=True)
class AnnotatorTest:
    """The test of one annotator. ``p_clustered`` is None with fewer sources than `ENOUGH_SOURCES`."""

    annotator: str
    n: int
    sources: int
    judge_wins: float
    annotator_wins: float
    method: str
    p: float
    p_clustered: float | None
    rejected: bool = False
    rejected_clustered: bool = False


@dataclass(frozen=True)
class AlternativeTest:
    """The test of all annotators. ``undefined`` gives the reason if there is no winning rate."""

    epsilon: float
    annotators: tuple[AnnotatorTest, ...] = ()
    winning_rate: float | None = None
    winning_rate_clustered: float | None = None
    advantage: float | None = None
    undefined: str = ""
    undefined_clustered: str = ""

    @property
    def cited(self) -> float | None:
        """The lower of the two winning rates, or None without a clustered one."""
        if self.winning_rate is None or self.winning_rate_clustered is None:
            return None
        return min(self.winning_rate, self.winning_rate_clustered)

    @property
    def enough(self) -> bool:
        """Whether every annotator has as many instances as the t test needs."""
        return bool(self.annotators) and min(each.n for each in self.annotators) >= ENOUGH_INSTANCES

    @property
    def passes(self) -> bool:
        return self.enough and self.cited is not None and self.cited >= PASSES

    def as_json(self) -> Json:
        return {
            "epsilon": self.epsilon,
            "winning_rate": self.winning_rate,
            "winning_rate_clustered": self.winning_rate_clustered,
            "cited": self.cited,
            "advantage": self.advantage,
            "passes": self.passes,
            "undefined": self.undefined,
            "undefined_clustered": self.undefined_clustered,
            "annotators": [
                {
                    "annotator": each.annotator,
                    "n": each.n,
                    "sources": each.sources,
                    "judge_wins": each.judge_wins,
                    "annotator_wins": each.annotator_wins,
                    "method": each.method,
                    "p": each.p,
                    "p_clustered": each.p_clustered,
                    "rejected": each.rejected,
                    "rejected_clustered": each.rejected_clustered,
                }
                for each in self.annotators
            ],
        }


def alternative_test(
    people: FloatArray,
    judge: FloatArray,
    sources: npt.NDArray[np.intp],
    names: tuple[str, ...],
    *,
    ordered: bool,
    epsilon: float,
) -> AlternativeTest:
    """Return the test of ``judge`` (n,) against ``people`` (r, n); NaN for missing values.

    Values are numbers if ``ordered``, else codes of categories. ``sources`` (n,) are the clusters.
    """
    rated = ~np.isnan(people) & ~np.isnan(judge)
    tests = []
    for j, name in enumerate(names):
        others = rated.copy()
        others[j] = False
        use = np.flatnonzero(rated[j] & others.any(axis=0))
        if len(use) < LEAST_INSTANCES:
            continue
        scores = [_score(each[use], people[:, use], others[:, use], ordered) for each in (judge, people[j])]
        judge_wins = scores[0] >= scores[1] - _CLOSE
        own_wins = scores[1] >= scores[0] - _CLOSE
        difference = own_wins.astype(np.float64) - judge_wins
        method, p = _p(difference, epsilon)
        place = np.unique(sources[use], return_inverse=True)[1]
        count = int(place.max()) + 1
        tests.append(
            AnnotatorTest(
                name,
                len(use),
                count,
                float(judge_wins.mean()),
                float(own_wins.mean()),
                method,
                p,
                clustered_p(difference, place, epsilon) if count >= ENOUGH_SOURCES else None,
            )
        )
    if len(tests) < LEAST_ANNOTATORS:
        return AlternativeTest(epsilon, undefined=FEW_ANNOTATORS, undefined_clustered=FEW_ANNOTATORS)
    plain = rejections([each.p for each in tests])
    clustered = [each.p_clustered for each in tests if each.p_clustered is not None]
    whole = len(clustered) == len(tests)
    by_source = rejections(clustered) if whole else [False] * len(tests)
    return AlternativeTest(
        epsilon,
        tuple(
            AnnotatorTest(
                each.annotator,
                each.n,
                each.sources,
                each.judge_wins,
                each.annotator_wins,
                each.method,
                each.p,
                each.p_clustered,
                first,
                second,
            )
            for each, first, second in zip(tests, plain, by_source, strict=True)
        ),
        sum(plain) / len(tests),
        sum(by_source) / len(tests) if whole else None,
        math.fsum(each.judge_wins for each in tests) / len(tests),
        "",
        "" if whole else f"a rater has texts of fewer than {ENOUGH_SOURCES} sources",
    )


def _score(own: FloatArray, people: FloatArray, others: npt.NDArray[np.bool_], ordered: bool) -> FloatArray:
    """Return how well ``own`` (n,) matches the remaining annotators, (n,)."""
    distance = np.where(others, (people - own) ** 2 if ordered else people != own, 0.0)
    mean = distance.sum(axis=0) / others.sum(axis=0)
    return np.asarray(-np.sqrt(mean) if ordered else 1 - mean, dtype=np.float64)


def _p(difference: FloatArray, epsilon: float) -> tuple[str, float]:
    """Return the name of the test that the number of instances requires, and its one-sided p."""
    if len(difference) < ENOUGH_INSTANCES:
        return "Wilcoxon", float(stats.wilcoxon(difference - epsilon, alternative="less").pvalue)
    se = float(difference.std(ddof=1)) / math.sqrt(len(difference))
    return "t", _one_sided(float(difference.mean()) - epsilon, se, len(difference) - 1)


def clustered_p(difference: FloatArray, place: npt.NDArray[np.intp], epsilon: float) -> float:
    """Return the one-sided p of mean(``difference``) < ``epsilon`` with the jackknife over clusters.

    ``place`` (n,) holds the number of each instance's cluster, from 0. There must be two clusters or more.
    """
    sizes = np.bincount(place).astype(np.float64)
    totals = np.bincount(place, weights=difference)
    mean = float(difference.mean())
    without = (totals.sum() - totals) / (len(difference) - sizes)
    return _one_sided(mean - epsilon, jackknife_se(mean, without), degrees_of_freedom(sizes))


def _one_sided(above: float, se: float, df: float) -> float:
    if se <= _CLOSE:
        return 0.0 if above < -_CLOSE else 1.0
    return float(special.stdtr(df, above / se))


def rejections(p: list[float], rate: float = RATE) -> list[bool]:
    """Return which hypotheses Benjamini and Yekutieli's procedure rejects at the false discovery ``rate``."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    limits = np.arange(1, m + 1) / m * rate / (1 / np.arange(1, m + 1)).sum()
    below = np.flatnonzero(np.asarray(p)[order] <= limits)
    rejected = np.zeros(m, dtype=np.bool_)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return [bool(each) for each in rejected]
