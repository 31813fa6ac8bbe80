"""Figures of each system by criterion: mean or share, with n, its own denominator, and intervals.

A text counts once, as the mean of its raters. The interval is that of `measures.means`, over sources, for the raters
who took part. Means also have an interval that generalises over raters (G-study).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import former
from ..agreement.gold import wilson_interval
from ..clustered import Bounds, FloatArray, Interval, t_quantile, wilson_over_clusters
from ..means import Mean, clustered_mean, clustered_share
from .resampling import percentiles, resampled_means
from .rows import CriterionJudgements

LEAST_RATERS, LEAST_TEXTS = 5, 10
TOO_FEW_RATERS = f"fewer than {LEAST_RATERS} raters"
TOO_FEW_TEXTS = f"fewer than {LEAST_TEXTS} texts"
NOT_CROSSED = "not every rater rated every text"
NO_VARIATION = "all ratings are equal"
SEVERAL = "several texts of one source"
OF_SHARES = "a share: this interval exists for means only"
RELATIVE = "texts are judged relative to each other"
NAME = "texts and raters random: crossed G-study, Satterthwaite's t"


@dataclass(frozen=True)
class RandomRaters:
    """The interval of a mean over random texts and raters, or ``ci_reason``. Variances are None if not estimated."""

    ci: Interval | None
    ci_reason: str = ""
    texts: float | None = None
    raters: float | None = None
    residual: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "ci": list(self.ci) if self.ci else None,
            "ci_reason": self.ci_reason,
            "texts": self.texts,
            "raters": self.raters,
            "residual": self.residual,
        }


def of_system(criterion_ratings: CriterionJudgements, system: int) -> RandomRaters:
    """Return the interval of a system's mean by one criterion, from first judgements only."""
    rows = criterion_ratings.rows
    if criterion_ratings.criterion.kind == "best-worst":
        return RandomRaters(None, RELATIVE)
    if criterion_ratings.criterion.kind != "mean":
        return RandomRaters(None, OF_SHARES)
    if len(rows.sources) < len(rows.items):
        return RandomRaters(None, SEVERAL)
    counted = (
        criterion_ratings.first & ~np.isnan(criterion_ratings.number) & (rows.system[criterion_ratings.at] == system)
    )
    ratings = np.full((len(rows.items), len(rows.raters)), np.nan)
    ratings[rows.item[criterion_ratings.at[counted]], rows.rater[criterion_ratings.at[counted]]] = (
        criterion_ratings.number[counted]
    )
    return random_raters(ratings, criterion_ratings.criterion.bounds)


def random_raters(ratings: FloatArray, bounds: Bounds, level: float = 0.95) -> RandomRaters:
    """Return the interval of the mean of ``ratings`` (texts, raters), with NaN for missing ratings.

    ``bounds`` limits the interval. Rows and columns without any rating are ignored.
    """
    rated = ~np.isnan(ratings)
    ratings = ratings[rated.any(axis=1)][:, rated.any(axis=0)]
    texts, raters = ratings.shape
    if raters < LEAST_RATERS:
        return RandomRaters(None, TOO_FEW_RATERS)
    if texts < LEAST_TEXTS:
        return RandomRaters(None, TOO_FEW_TEXTS)
    if np.isnan(ratings).any():
        return RandomRaters(None, NOT_CROSSED)
    mean, by_text, by_rater = ratings.mean(), ratings.mean(axis=1), ratings.mean(axis=0)
    ms_texts = raters * float(((by_text - mean) ** 2).sum()) / (texts - 1)
    ms_raters = texts * float(((by_rater - mean) ** 2).sum()) / (raters - 1)
    residuals = ratings - by_text[:, None] - by_rater[None, :] + mean
    freedom = (texts - 1) * (raters - 1)
    ms_residual = float((residuals**2).sum()) / freedom
    estimated = {
        "texts": max(0.0, (ms_texts - ms_residual) / raters),
        "raters": max(0.0, (ms_raters - ms_residual) / texts),
        "residual": ms_residual,
    }
    squares = max(ms_texts + ms_raters - ms_residual, ms_texts, ms_raters)
    if squares <= 0.0:
        return RandomRaters(None, NO_VARIATION, **estimated)
    parts = ms_texts**2 / (texts - 1) + ms_raters**2 / (raters - 1) + ms_residual**2 / freedom
    df = max((ms_texts + ms_raters - ms_residual) ** 2 / parts, min(texts, raters) - 1)
    half = t_quantile(level, df) * math.sqrt(squares / (texts * raters))
    low, high = bounds
    return RandomRaters((max(low, mean - half), min(high, mean + half)), **estimated)


Json = dict[str, Any]
NOT_RATED = "nobody rated it"
ALL_NA = "every rating is N/A"
NO_FIGURE = "its values have no order and none is called good: only counts"


def system_figures(every: Sequence[CriterionJudgements], replicates: int) -> list[list[Json]]:
    """Return, for each criterion, a row for each system of the round.

    ``value`` is None if and only if ``undefined`` gives the reason. The row has ``n`` texts, ``sources``,
    ``judgements``, ``na``, ``sd``, ``ci`` (or ``ci_reason``), ``random_raters`` (`RandomRaters`), and ``counts`` of
    values. A share also has ``count`` of the n texts, with fractions if raters differ.
    """
    boot = _bootstrapped(every, replicates)
    return [
        [_row(ratings, system, boot[k][:, system] if boot else None) for system in range(len(ratings.rows.systems))]
        for k, ratings in enumerate(every)
    ]


def _row(ratings: CriterionJudgements, system: int, boot: FloatArray | None) -> Json:
    cells = ratings.cells[:, system]
    defined = np.flatnonzero(~np.isnan(cells))
    values, clusters = cells[defined].tolist(), ratings.rows.source_of[defined].tolist()
    share = ratings.criterion.kind == "share"
    if share:
        mean = clustered_share(
            values, clusters, ratings=int(ratings.sums[1][:, system].sum()), former_interval=wilson_over_clusters
        )
    else:
        mean = clustered_mean(values, clusters, bounds=ratings.criterion.bounds)
    is_own = ratings.first & (ratings.rows.system[ratings.at] == system)
    na = int((is_own & ratings.missing).sum())
    row: Json = {
        "system": ratings.rows.systems[system],
        "value": mean.value,
        "n": mean.n,
        "sources": mean.clusters,
        "judgements": int(is_own.sum()) - na,
        "na": na,
        "sd": mean.sd,
        "ci": list(mean.ci) if mean.ci else None,
        "ci_reason": mean.ci_reason,
        "undefined": _why(ratings, mean, int(is_own.sum()), na),
        "counts": ratings.values_of(system),
    }
    if share:
        row["count"] = math.fsum(values)
    if not former.is_on():
        return row | {"random_raters": of_system(ratings, system).as_json()}
    row["bootstrap"] = None
    if mean.value is not None and boot is not None and mean.clusters > 1:
        interval = percentiles(boot)
        row["bootstrap"] = list(interval) if interval else None
    if share:
        row["wilson"] = list(wilson_interval(min(row["count"], mean.n), mean.n)) if mean.n else None
    return row


def _why(ratings: CriterionJudgements, mean: Mean, judgements: int, na: int) -> str:
    if mean.value is not None:
        return ""
    if judgements == 0:
        return NOT_RATED
    return ALL_NA if na == judgements else NO_FIGURE


def _bootstrapped(every: Sequence[CriterionJudgements], replicates: int) -> list[FloatArray]:
    """Return the means (replicates, systems) of each criterion over resampled sources, with the same draws for all."""
    if not every or not replicates or not former.is_on():
        return []
    rows = every[0].rows
    shape = len(rows.sources), len(rows.systems)
    sums: list[FloatArray] = []
    counts: list[FloatArray] = []
    for ratings in every:
        cells = ratings.cells
        for into, values in ((sums, np.nan_to_num(cells)), (counts, (~np.isnan(cells)).astype(np.float64))):
            total = np.zeros(shape)
            np.add.at(total, rows.source_of, values)
            into.append(total)
    means = resampled_means(np.hstack(sums), np.hstack(counts), replicates)
    return np.split(means, len(every), axis=1)
