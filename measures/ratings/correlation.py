"""Automatic metrics against what people said: Kendall's tau-b, Spearman's rho, Pearson's r, at two levels.

*System level*: of the systems' means. *Summary level*: of the systems' texts for one item, then the mean over items;
items for which one of the two is the same for all systems have no correlation: they are left out and counted. Intervals
are percentiles of rounds of which both sources and systems were drawn anew (Deutsch, Dror and Roth 2021, *A statistical
analysis of summarization evaluation metrics using resampling methods*, TACL 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from measures.clustered import FloatArray
from measures.ratings.resampling import SEED, drawn, percentiles
from measures.ratings.rows import Said

Json = dict[str, Any]
COEFFICIENTS = ("kendall", "spearman", "pearson")
REPLICATES = 1_000
FEWEST = 3
FEW_SYSTEMS = f"fewer than {FEWEST} systems have both"
CONSTANT = "one of the two is the same for all systems"
ALL_CONSTANT = "no item on which both differ between systems"
NO_INTERVAL = "in more than one of twenty rounds drawn anew there is none"
_NUMBERS = 1 << 19
"""Numbers of one kind in memory at a time."""
#: (source, item, system) -> what a metric gave.
Scores = Mapping[tuple[Any, Any, str], float | None]


def correlations(said: Said, scores: Scores, *, replicates: int = REPLICATES) -> list[Json]:
    """Rows of ``level`` (system, summary) and ``coefficient``: ``value``, ``ci``, ``n`` (systems, or items), of summary
    level ``constant`` (items left out); ``undefined`` or ``no_interval`` say why there is none."""
    human = said.cells
    metric = np.full(human.shape, np.nan)
    for i, (source, item) in enumerate(said.rows.items):
        for j, system in enumerate(said.rows.systems):
            value = scores.get((source, item, system))
            metric[i, j] = np.nan if value is None else value
    both = ~np.isnan(human) & ~np.isnan(metric)
    keep = both.any(axis=0)
    use = both[:, keep].any(axis=1)
    x, y, mask = (each[use][:, keep] for each in (human, metric, both.astype(np.float64)))
    drawn_by = np.unique(said.rows.source_of[use], return_inverse=True)[1]
    return _both_levels(np.nan_to_num(x), np.nan_to_num(y), mask, drawn_by, replicates)


def _both_levels(x: FloatArray, y: FloatArray, mask: FloatArray, source: Any, replicates: int) -> list[Json]:
    items, m = x.shape
    made: list[Json] = []
    if m < FEWEST:
        for name, n in (("system", m), ("summary", items)):
            made += [
                {"level": name, "coefficient": coefficient, "value": None, "ci": None, "n": n,
                 "constant": 0, "undefined": FEW_SYSTEMS, "no_interval": ""} for coefficient in COEFFICIENTS
            ]  # fmt: skip
        return made
    whole: tuple[_System | _Summary, ...] = (_System(x, y, mask), summary := _Summary(x, y, mask))
    one = np.ones((1, items)), np.ones((1, m))
    values = [level.at(*one) for level in whole]
    boot: list[list[FloatArray]] = [[], []]
    if replicates:
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
            made.append({
                "level": name, "coefficient": coefficient, "value": value if known else None,
                "ci": list(ci) if ci else None, "n": m if name == "system" else items - constant,
                "constant": 0 if name == "system" else constant,
                "undefined": "" if known else CONSTANT if name == "system" else ALL_CONSTANT,
                "no_interval": NO_INTERVAL if known and replicates and ci is None else "",
            })  # fmt: skip
    return made


class _System:
    def __init__(self, x: FloatArray, y: FloatArray, mask: FloatArray) -> None:
        self.x, self.y, self.mask = x * mask, y * mask, mask

    def at(self, items: FloatArray, systems: FloatArray) -> FloatArray:
        """(r, 3): coefficients with items (r, n) and systems (r, m) counted so often."""
        n = items @ self.mask
        means = [np.divide(items @ each, n, out=np.zeros(n.shape), where=n > 0) for each in (self.x, self.y)]
        # What differs by the rounding of a mean is the same.
        means = [np.round(each, 12) for each in means]
        return weighted(means[0][:, None], means[1][:, None], (systems * (n > 0))[:, None])[:, 0]


class _Summary:
    """Coefficients of every item with systems counted so often. All that they are made of is linear in how often a
    system, or a pair of them, is drawn: many rounds at once are a few matrix products."""

    def __init__(self, x: FloatArray, y: FloatArray, mask: FloatArray) -> None:
        n, m = x.shape
        x, y = x.round(12), y.round(12)
        self.mask = mask
        held = mask[:, :, None] * mask[:, None, :]
        signs = [np.sign(each[:, :, None] - each[:, None, :]) for each in (x, y)]
        self.concord = (signs[0] * signs[1] * held).reshape(n, m * m)
        self.untied = [(np.abs(each) * held).reshape(n, m * m) for each in signs]
        self.below = [((each + 1) * 0.5 * mask[:, None, :]).reshape(n * m, m) for each in signs]
        self.x, self.y = (_centred(each, mask) for each in (x, y))

    def each(self, systems: FloatArray) -> FloatArray:
        """(n, r, 3): the coefficients of every item, with systems (r, m) counted so often; nan where there is none."""
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
        found = self.each(np.ones((1, self.x.shape[1])))
        return int(np.isnan(found).any(axis=(1, 2)).sum())

    def at(self, items: FloatArray, systems: FloatArray) -> FloatArray:
        """(r, 3): means over items (r, n) counted so often."""
        found = self.each(systems)
        weights = items.T[:, :, None] * ~np.isnan(found)
        total = weights.sum(axis=0)
        sums = (np.nan_to_num(found) * weights).sum(axis=0)
        return np.asarray(np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0))


def _centred(each: FloatArray, mask: FloatArray) -> FloatArray:
    n = np.maximum(mask.sum(axis=1, keepdims=True), 1)
    return np.asarray((each - (each * mask).sum(axis=1, keepdims=True) / n) * mask)


def weighted(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """(..., 3): Kendall's tau-b, Spearman's rho, Pearson's r along the last axis, each entry counted ``w`` times (whole
    numbers); nan where x or y is the same for all."""
    shape = np.broadcast_shapes(x.shape, y.shape, w.shape)
    x, y, w = (np.broadcast_to(each, shape) for each in (x, y, w))
    signs = [np.sign(each[..., :, None] - each[..., None, :]) for each in (x, y)]
    pairs = w[..., :, None] * w[..., None, :]
    top = (signs[0] * signs[1] * pairs).sum(axis=(-1, -2))
    untied = [(np.abs(each) * pairs).sum(axis=(-1, -2)) for each in signs]
    varied = (untied[0] > 0) & (untied[1] > 0)
    kendall = np.divide(top, np.sqrt(untied[0] * untied[1]), out=np.full(varied.shape, np.nan), where=varied)
    # An entry's rank is one more than those below it and half of the others that equal it: ranks' differences will do.
    ranks = [((each + 1) * 0.5 * w[..., None, :]).sum(axis=-1) for each in signs]
    spearman, pearson = _pearson(ranks[0], ranks[1], w, varied), _pearson(x, y, w, varied)
    return np.stack([kendall, spearman, pearson], axis=-1)


def _pearson(x: FloatArray, y: FloatArray, w: FloatArray, varied: Any, axis: int = -1) -> FloatArray:
    n = np.maximum(w.sum(axis=axis, keepdims=True), 1)
    x = x - (x * w).sum(axis=axis, keepdims=True) / n
    y = y - (y * w).sum(axis=axis, keepdims=True) / n
    below = np.sqrt((x * x * w).sum(axis=axis) * (y * y * w).sum(axis=axis))
    found = np.divide((x * y * w).sum(axis=axis), below, out=np.full(varied.shape, np.nan), where=varied & (below > 0))
    return np.asarray(np.clip(found, -1, 1))
