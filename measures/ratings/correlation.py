"""Correlation of automatic metrics with ratings: Kendall's tau-b, Spearman's rho and Pearson's r, at two levels.

The *system level* correlates the systems' means. The *summary level* correlates the systems' texts for one item, and
averages over items. Items with constant ratings or scores have no correlation. They are left out and counted. There is
no interval, because none has the stated coverage with the few systems of a round. The former rule printed percentiles
of rounds with resampled sources and systems. Source: Deutsch, Dror and Roth 2021, *A statistical analysis of
summarization evaluation metrics using resampling methods*, TACL 9.

The module also computes metric means over the rated texts, and points for plots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import former
from ..clustered import Bounds, FloatArray
from ..means import UNBOUNDED, clustered_mean
from .resampling import SEED, drawn, percentiles
from .rows import CriterionJudgements, Rows

Json = dict[str, Any]
COEFFICIENTS = ("kendall", "spearman", "pearson")
REPLICATES = 1_000
FEWEST = 3
FEW_SYSTEMS = f"fewer than {FEWEST} systems have both"
CONSTANT = "one of the two is the same for all systems"
ALL_CONSTANT = "no item on which both differ between systems"
NO_INTERVAL = "in more than one of twenty rounds drawn anew there is none"
_NUMBERS = 1 << 19
"""Limit on numbers of one kind in memory at once."""
#: (source, item, system) -> score of a metric.
Scores = Mapping[tuple[Any, Any, str], float | None]


def correlations(ratings: CriterionJudgements, scores: Scores, *, replicates: int = REPLICATES) -> list[Json]:
    """Return rows by ``level`` (system, summary) and ``coefficient``, with ``value``, ``ci`` and ``n``.

    ``n`` counts systems or items. At summary level, ``constant`` counts the items left out. ``undefined`` and
    ``ci_reason`` state why there is no value or interval.
    """
    human = ratings.cells
    metric = np.full(human.shape, np.nan)
    for i, (source, item) in enumerate(ratings.rows.items):
        for j, system in enumerate(ratings.rows.systems):
            value = scores.get((source, item, system))
            metric[i, j] = np.nan if value is None else value
    both = ~np.isnan(human) & ~np.isnan(metric)
    keep = both.any(axis=0)
    use = both[:, keep].any(axis=1)
    x, y, mask = (each[use][:, keep] for each in (human, metric, both.astype(np.float64)))
    drawn_by = np.unique(ratings.rows.source_of[use], return_inverse=True)[1]
    return _both_levels(np.nan_to_num(x), np.nan_to_num(y), mask, drawn_by, replicates)


def _both_levels(x: FloatArray, y: FloatArray, mask: FloatArray, source: Any, replicates: int) -> list[Json]:
    items, m = x.shape
    figures: list[Json] = []
    if m < FEWEST:
        for name, n in (("system", m), ("summary", items)):
            figures += [
                {
                    "level": name,
                    "coefficient": coefficient,
                    "value": None,
                    "ci": None,
                    "n": n,
                    "constant": 0,
                    "undefined": FEW_SYSTEMS,
                    _reason_key(): "",
                }
                for coefficient in COEFFICIENTS
            ]
        return figures
    whole: tuple[_System | _Summary, ...] = (_System(x, y, mask), summary := _Summary(x, y, mask))
    one = np.ones((1, items)), np.ones((1, m))
    values = [level.at(*one) for level in whole]
    boot: list[list[FloatArray]] = [[], []]
    if replicates and former.is_on():
        n_sources = int(source.max()) + 1
        rows = max(1, _NUMBERS // max(items * m, 1))
        of_systems = np.concatenate(list(drawn(m, replicates, SEED + 1)))
        done = 0
        for block in drawn(n_sources, replicates):
            for at in range(0, len(block), rows):
                weights = block[at : at + rows][:, source]
                systems = of_systems[done : done + len(weights)]
                done += len(weights)
                for k, level in enumerate(whole):
                    boot[k].append(level.at(weights, systems))
    constant = summary.constant()
    for k, name in enumerate(("system", "summary")):
        draws = np.concatenate(boot[k]) if boot[k] else np.zeros((0, len(COEFFICIENTS)))
        for c, coefficient in enumerate(COEFFICIENTS):
            value = float(values[k][0, c])
            known = not np.isnan(value)
            ci = percentiles(draws[:, c]) if known and len(draws) else None
            figures.append(
                {
                    "level": name,
                    "coefficient": coefficient,
                    "value": value if known else None,
                    "ci": list(ci) if ci else None,
                    "n": m if name == "system" else items - constant,
                    "constant": 0 if name == "system" else constant,
                    "undefined": "" if known else CONSTANT if name == "system" else ALL_CONSTANT,
                    _reason_key(): _no_interval(m, known, bool(replicates), ci is None),
                }
            )
    return figures


def _reason_key() -> str:
    return "no_interval" if former.is_on() else "ci_reason"


def _no_interval(systems: int, known: bool, drawn_anew: bool, lacks: bool) -> str:
    if not former.is_on():
        return f"no reliable interval (few systems; n = {systems} systems)" if known else ""
    return NO_INTERVAL if known and drawn_anew and lacks else ""


class _System:
    def __init__(self, x: FloatArray, y: FloatArray, mask: FloatArray) -> None:
        self.x, self.y, self.mask = x * mask, y * mask, mask

    def at(self, items: FloatArray, systems: FloatArray) -> FloatArray:
        """Return coefficients (r, 3) with the multiplicities ``items`` (r, n) and ``systems`` (r, m)."""
        n = items @ self.mask
        means = [np.divide(items @ each, n, out=np.zeros(n.shape), where=n > 0) for each in (self.x, self.y)]
        # Round, so that rounding errors of means do not break ties.
        means = [np.round(each, 12) for each in means]
        return weighted(means[0][:, None], means[1][:, None], (systems * (n > 0))[:, None])[:, 0]


class _Summary:
    """Coefficients of every item for multiplicities of systems.

    All components are linear in the multiplicity of a system or of a pair of systems. Many replicates are therefore a
    few matrix products.
    """

    def __init__(self, x: FloatArray, y: FloatArray, mask: FloatArray) -> None:
        n, m = x.shape
        x, y = x.round(12), y.round(12)
        self.mask = mask
        both_rated = mask[:, :, None] * mask[:, None, :]
        signs = [np.sign(each[:, :, None] - each[:, None, :]) for each in (x, y)]
        self.concord = (signs[0] * signs[1] * both_rated).reshape(n, m * m)
        self.untied = [(np.abs(each) * both_rated).reshape(n, m * m) for each in signs]
        self.below = [((each + 1) * 0.5 * mask[:, None, :]).reshape(n * m, m) for each in signs]
        self.x, self.y = (_centred(each, mask) for each in (x, y))

    def each(self, systems: FloatArray) -> FloatArray:
        """Return the coefficients (n, r, 3) of every item for ``systems`` (r, m); NaN if undefined."""
        n, m = self.x.shape
        w = systems.T
        pairs = (w[:, None] * w[None, :]).reshape(m * m, -1)
        untied = [each @ pairs for each in self.untied]
        varied = (untied[0] > 0) & (untied[1] > 0)
        root = np.sqrt(untied[0] * untied[1])
        kendall = np.divide(self.concord @ pairs, root, out=np.full(varied.shape, np.nan), where=varied)
        counted = self.mask[:, :, None] * w[None]
        ranks = [(each @ w).reshape(n, m, -1) for each in self.below]
        spearman = _pearson(ranks[0], ranks[1], counted, varied, axis=1)
        pearson = _pearson(self.x[:, :, None], self.y[:, :, None], counted, varied, axis=1)
        return np.stack([kendall, spearman, pearson], axis=-1)

    def constant(self) -> int:
        values = self.each(np.ones((1, self.x.shape[1])))
        return int(np.isnan(values).any(axis=(1, 2)).sum())

    def at(self, items: FloatArray, systems: FloatArray) -> FloatArray:
        """Return means (r, 3) over items with the multiplicities ``items`` (r, n)."""
        values = self.each(systems)
        weights = items.T[:, :, None] * ~np.isnan(values)
        total = weights.sum(axis=0)
        sums = (np.nan_to_num(values) * weights).sum(axis=0)
        return np.asarray(np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0))


def _centred(each: FloatArray, mask: FloatArray) -> FloatArray:
    n = np.maximum(mask.sum(axis=1, keepdims=True), 1)
    return np.asarray((each - (each * mask).sum(axis=1, keepdims=True) / n) * mask)


def weighted(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """Return Kendall's tau-b, Spearman's rho and Pearson's r along the last axis, shape (..., 3).

    Each entry counts ``w`` times (whole numbers). The result is NaN if x or y is constant.
    """
    shape = np.broadcast_shapes(x.shape, y.shape, w.shape)
    x, y, w = (np.broadcast_to(each, shape) for each in (x, y, w))
    signs = [np.sign(each[..., :, None] - each[..., None, :]) for each in (x, y)]
    pairs = w[..., :, None] * w[..., None, :]
    top = (signs[0] * signs[1] * pairs).sum(axis=(-1, -2))
    untied = [(np.abs(each) * pairs).sum(axis=(-1, -2)) for each in signs]
    varied = (untied[0] > 0) & (untied[1] > 0)
    kendall = np.divide(top, np.sqrt(untied[0] * untied[1]), out=np.full(varied.shape, np.nan), where=varied)
    # The rank of an entry is 1 + the entries below it + half of the other equal entries. Constants do not matter here.
    ranks = [((each + 1) * 0.5 * w[..., None, :]).sum(axis=-1) for each in signs]
    spearman, pearson = _pearson(ranks[0], ranks[1], w, varied), _pearson(x, y, w, varied)
    return np.stack([kendall, spearman, pearson], axis=-1)


def _pearson(x: FloatArray, y: FloatArray, w: FloatArray, varied: Any, axis: int = -1) -> FloatArray:
    n = np.maximum(w.sum(axis=axis, keepdims=True), 1)
    x = x - (x * w).sum(axis=axis, keepdims=True) / n
    y = y - (y * w).sum(axis=axis, keepdims=True) / n
    below = np.sqrt((x * x * w).sum(axis=axis) * (y * y * w).sum(axis=axis))
    r = np.divide((x * y * w).sum(axis=axis), below, out=np.full(varied.shape, np.nan), where=varied & (below > 0))
    return np.asarray(np.clip(r, -1, 1))


MOST_POINTS = 600
"""Limit on the texts in one plot. Items are sampled evenly from first to last."""
NOT_SCORED = "not scored"


def metric_cells(rows: Rows, scores: Scores) -> FloatArray:
    """Return the scores (items, systems) of a metric; NaN if there is none."""
    cells = np.full((len(rows.items), len(rows.systems)), np.nan)
    for i, (source, item) in enumerate(rows.items):
        for j, system in enumerate(rows.systems):
            value = scores.get((source, item, system))
            if value is not None:
                cells[i, j] = value
    return cells


def metric_figures(
    every: Sequence[CriterionJudgements], cells: Mapping[str, FloatArray], bounds: Mapping[str, Bounds] | None = None
) -> list[Json]:
    """Return a row for each metric with ``value``, ``n`` rated texts, ``sources`` and ``ci`` of each system.

    The interval is over sources. ``ci_reason`` or ``undefined`` states why a figure is missing. ``bounds`` limits the
    mean of a metric.
    """
    if not every:
        return []
    rows, rated = every[0].rows, _rated(every)
    limits = bounds or {}
    return [
        {
            "metric": metric,
            "systems": [
                _row(rows, j, np.where(rated[:, j], metric_values[:, j], np.nan), limits.get(metric, UNBOUNDED))
                for j in range(len(rows.systems))
            ],
        }
        for metric, metric_values in cells.items()
    ]


def points(every: Sequence[CriterionJudgements], cells: Mapping[str, FloatArray]) -> Json:
    """Return texts as points for plots.

    ``system`` (n,) holds indices of systems. Criteria and metrics have one number or None per point. ``items`` of the
    ``of`` rated items are included, limited by `MOST_POINTS`.
    """
    if not every:
        return {"items": 0, "of": 0, "system": [], "criteria": {}, "metrics": {}}
    rated = _rated(every)
    rated_items = np.flatnonzero(rated.any(axis=1))
    most = max(1, MOST_POINTS // max(len(every[0].rows.systems), 1))
    chosen = rated_items[np.arange(most) * len(rated_items) // most] if len(rated_items) > most else rated_items
    item, system = np.nonzero(rated[chosen])
    at = chosen[item], system
    return {
        "items": len(chosen),
        "of": len(rated_items),
        "system": [int(j) for j in system],
        "criteria": {
            ratings.criterion.key: _numbers(ratings.cells[at])
            for ratings in every
            if ratings.criterion.kind != "counts"
        },
        "metrics": {metric: _numbers(metric_values[at]) for metric, metric_values in cells.items()},
    }


def _rated(every: Sequence[CriterionJudgements]) -> Any:
    """Return whether each text has a counted rating, (items, systems)."""
    is_rated = np.zeros_like(every[0].cells, dtype=np.bool_)
    for ratings in every:
        is_rated |= ~np.isnan(ratings.cells)
    return is_rated


def _row(rows: Rows, system: int, values: FloatArray, bounds: Bounds) -> Json:
    defined = np.flatnonzero(~np.isnan(values))
    mean = clustered_mean(values[defined].tolist(), rows.source_of[defined].tolist(), bounds=bounds)
    return {
        "system": rows.systems[system],
        "value": mean.value,
        "n": mean.n,
        "sources": mean.clusters,
        "ci": list(mean.ci) if mean.ci else None,
        "ci_reason": mean.ci_reason,
        "undefined": "" if mean.value is not None else NOT_SCORED,
    }


def _numbers(values: FloatArray) -> list[float | None]:
    """Return the values with six significant digits, or None for NaN."""
    return [None if np.isnan(value) else float(f"{value:.6g}") for value in values.tolist()]
