"""Statistics of the counterfactual probe (M3, Table 7): does a model find the true target likelier than a false one?

For a pair of target y and counterfactual y' given the same inputs x, nll(y) = -sum log p(y_t | y_<t, x) in nats, and
the mean is over the tokens of y. Delta = mean nll(y') - mean nll(y): above 0 is good. A pair is right when its delta is
*strictly* above 0; a tie is wrong, for a model that does not tell the two apart knows nothing.

Two bases: ``all`` tokens, special ones included (what a library's loss averages over, and M3's figure), and ``content``
tokens only. A counterfactual is often longer than its target, and most of its words are the target's: so the delta of
the sums, and that of the means over the tokens that differ, are given beside that of the means.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from measures.agreement.bootstrap import draw_counts, percentile_interval
from measures.agreement.patterns import FloatArray
from measures.agreement.results import Interval

Basis = Literal["all", "content"]
BASES: tuple[Basis, ...] = ("all", "content")
OVERALL = "overall"
REPLICATES = 2000

NO_PAIRS = "no pairs"
NONE_CHANGED = "no pair in which both texts have tokens of their own"
ONE_PAIR = "one pair: no spread"
ONE_REVIEW = "one review: no interval"
NO_WIDTH = "all reviews alike: the interval has no width"
SD_METHOD = "sample standard deviation over pairs (ddof 1)"


class ProbeError(ValueError):
    """Likelihoods that cannot be: not finite, above 1 by more than rounding, or of no tokens."""


@dataclass(frozen=True, slots=True)
class TextNll:
    """Sums of negative log-likelihoods (nats) of one text and how many tokens each is over."""

    content_sum: float
    content_tokens: int
    all_sum: float
    all_tokens: int

    def __post_init__(self) -> None:
        for basis in BASES:
            total, tokens = self.total(basis)
            # A likely token's log-softmax may come out a hair above 0.
            if not math.isfinite(total) or total < -1e-4 * max(tokens, 1):
                raise ProbeError(f"a sum of negative log-likelihoods of {total} ({basis} tokens)")
            if tokens < 1:
                raise ProbeError(f"a likelihood of {tokens} {basis} tokens")

    @classmethod
    def of_tokens(cls, nll: Sequence[float], special: Sequence[bool]) -> TextNll:
        """From the tokens of a text: each one's nll, and whether it is special (``<s>``, ``</s>``: no content)."""
        content = [value for value, is_special in zip(nll, special, strict=True) if not is_special]
        return cls(math.fsum(content), len(content), math.fsum(nll), len(nll))

    def total(self, basis: Basis) -> tuple[float, int]:
        """(sum in nats, number of tokens)."""
        return (self.all_sum, self.all_tokens) if basis == "all" else (self.content_sum, self.content_tokens)

    def mean(self, basis: Basis) -> float:
        """Nats a token."""
        total, tokens = self.total(basis)
        return total / tokens


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and one counterfactual, judged given the same inputs. ``review``: what the bootstrap draws.

    ``replaced`` is (sum in nats, tokens) over the content tokens that only the target has, ``changed`` over those that
    only the counterfactual has.
    """

    review: Hashable
    kind: str
    target: TextNll
    counterfactual: TextNll
    replaced: tuple[float, int] = (0.0, 0)
    changed: tuple[float, int] = (0.0, 0)

    def delta(self, basis: Basis) -> float:
        """Nats a token."""
        return self.counterfactual.mean(basis) - self.target.mean(basis)

    def delta_sum(self, basis: Basis) -> float:
        """Nats."""
        return self.counterfactual.total(basis)[0] - self.target.total(basis)[0]

    def delta_changed(self) -> float | None:
        """Nats a token, over the tokens that differ; None where a text has no token of its own (words only put in)."""
        (old, of_old), (new, of_new) = self.replaced, self.changed
        return new / of_new - old / of_old if of_old and of_new else None


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. ``value`` is None exactly when ``undefined`` says why; without ``ci``, ``flags`` may say why."""

    value: float | None
    ci: Interval | None = None
    undefined: str | None = None
    flags: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {"value": self.value, "ci": list(self.ci) if self.ci else None, "flags": list(self.flags)}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One row of the table: a kind, or all pairs (`OVERALL`).

    ``delta`` (nats a token) and ``delta_sum`` (nats) are means over pairs, ``sd`` is of the deltas, ``accuracy`` the
    share of the ``right`` among ``n``; ``ties`` are among the wrong ones. ``delta_changed`` (nats a token) is over the
    tokens that differ, of the ``n_changed`` pairs in which both texts have some.
    """

    kind: str
    basis: Basis
    n: int
    reviews: int
    right: int
    ties: int
    delta: Figure
    sd: Figure
    accuracy: Figure
    delta_sum: Figure
    delta_changed: Figure
    n_changed: int
    method: str

    def as_json(self) -> dict[str, object]:
        """The figures that are defined under their names, and why the others are not."""
        figures = {
            "delta": self.delta, "sd": self.sd, "accuracy": self.accuracy, "delta_sum": self.delta_sum,
            "delta_changed": self.delta_changed,
        }  # fmt: skip
        return {
            "kind": self.kind, "basis": self.basis, "n": self.n, "reviews": self.reviews, "right": self.right,
            "ties": self.ties, "n_changed": self.n_changed, "method": self.method,
            "figures": {name: figure.as_json() for name, figure in figures.items() if figure.value is not None},
            "undefined": {name: figure.undefined for name, figure in figures.items() if figure.undefined},
        }  # fmt: skip


def probe_table(
    pairs: Sequence[Pair],
    kinds: Sequence[str],
    *,
    basis: Basis = "all",
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[ProbeResult, ...]:
    """A row for each of ``kinds``, whether it has pairs or not, then one over all pairs.

    Intervals: percentile bootstrap that draws reviews with replacement, each with all its pairs of the row, target and
    counterfactual together; a replicate's figure is the mean over the pairs it drew (a ratio of sums). The same pairs,
    seed and NumPy give the same intervals, whatever the reviews are called. Raises ValueError for a pair of another
    kind, and for fewer than two replicates.
    """
    if replicates < 2:
        raise ValueError("a bootstrap needs at least two replicates")
    if strange := {p.kind for p in pairs} - set(kinds):
        raise ValueError(f"pairs of unknown kinds: {', '.join(sorted(strange))}")
    rows = [(kind, [p for p in pairs if p.kind == kind]) for kind in kinds]
    return tuple(_row(kind, rows_of, basis, replicates, seed, level) for kind, rows_of in [*rows, (OVERALL, pairs)])


def _row(kind: str, pairs: Sequence[Pair], basis: Basis, replicates: int, seed: int, level: float) -> ProbeResult:
    n = len(pairs)
    method = f"mean over pairs; {replicates} draws of reviews (seed {seed}), percentile interval at {level:g}"
    delta = np.array([p.delta(basis) for p in pairs], dtype=np.float64)
    sums = np.array([p.delta_sum(basis) for p in pairs], dtype=np.float64)
    right = delta > 0
    numbers: dict[Hashable, int] = {}
    review = np.array([numbers.setdefault(p.review, len(numbers)) for p in pairs], dtype=np.int64)
    if not n:
        none = Figure(None, undefined=NO_PAIRS)
        return ProbeResult(kind, basis, 0, 0, 0, 0, none, none, none, none, none, 0, method)
    drawn = {"replicates": replicates, "seed": seed}
    values: FloatArray = np.column_stack((delta, right, sums)).astype(np.float64)
    intervals = cluster_intervals(values, review, **drawn, level=level)
    figures = [_figure(float(mean), interval) for mean, interval in zip(values.mean(axis=0), intervals, strict=True)]
    sd = Figure(float(delta.std(ddof=1))) if n > 1 else Figure(None, undefined=ONE_PAIR)
    changed = [(place, d) for place, p in zip(review, pairs, strict=True) if (d := p.delta_changed()) is not None]
    return ProbeResult(
        kind, basis, n, len(numbers), int(right.sum()), int((delta == 0).sum()), figures[0], sd, figures[1], figures[2],
        _changed(changed, **drawn, level=level), len(changed), method,
    )  # fmt: skip


def _changed(found: Sequence[tuple[int, float]], *, replicates: int, seed: int, level: float) -> Figure:
    """The mean of (number of the review, delta), with its interval."""
    if not found:
        return Figure(None, undefined=NONE_CHANGED)
    _, review = np.unique([place for place, _ in found], return_inverse=True)
    values = np.array([[delta] for _, delta in found], dtype=np.float64)
    (interval,) = cluster_intervals(values, review, replicates=replicates, seed=seed, level=level)
    return _figure(float(values.mean()), interval)


def _figure(value: float, ci: Interval | None) -> Figure:
    if ci is None:
        return Figure(value, flags=(ONE_REVIEW,))
    return Figure(value, ci, flags=(NO_WIDTH,) if ci[1] - ci[0] < 1e-12 else ())


def cluster_intervals(
    values: FloatArray, clusters: Sequence[int] | np.ndarray, *, replicates: int, seed: int, level: float
) -> list[Interval | None]:
    """Percentile intervals of the means of each column of ``values`` (n, m), when whole clusters are drawn.

    ``clusters`` (n,) numbers each row's cluster from 0. None for every column where there is one cluster only.
    """
    index = np.asarray(clusters, dtype=np.int64)
    count = int(index.max()) + 1
    if count < 2:
        return [None] * values.shape[1]
    size = np.bincount(index, minlength=count)
    totals = [np.bincount(index, weights=column, minlength=count) for column in values.T]
    features = np.column_stack((size, *totals)).astype(np.float64)
    # In an order of their own, so that the intervals do not depend on which review came first.
    features = features[np.lexsort(features.T[::-1])]
    blocks = []
    for drawn in draw_counts(np.ones(count), replicates, np.random.default_rng(seed)):
        found = drawn @ features
        blocks.append(found[:, 1:] / found[:, :1])
    replicated = np.concatenate(blocks)
    return [percentile_interval(column, level).ci for column in replicated.T]
