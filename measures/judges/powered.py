"""Prediction-powered means: few human ratings, many ratings of a judge, and an interval valid for any judge.

Sources: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, *Prediction-powered inference*, Science 382;
Angelopoulos, Duchi and Zrnic 2023, *PPI++: efficient prediction-powered inference* (power tuning). Let Y be the mean
human rating of a source and F the judge's. People rated n sources, which are a random sample; the judge rated these and
N others. The estimate is

    mean(Y) + lambda (mean of F over the N others - mean of F over the n),
    lambda = cov(Y, F) / ((1 + n / N) var(F)), from 0 to 1, as in the authors' package ppi-python.

It is unbiased for any fixed lambda, so a bad judge costs no validity; with lambda = 0 it is the human mean.

The authors' interval is normal. Concord resamples by source, as everywhere: sources may have several items, the
variance of the part with people is the jackknife's with lambda estimated anew without each source, and the quantile is
Student's t. Coverage: benchmarks/judges.py. Below `ENOUGH_SOURCES` sources, or near a bound of the scale, there is no
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..clustered import MOST_SKEWED, NEAR_BOUND, SKEWED, Bounds, FloatArray, Interval, degrees_of_freedom, t_quantile

Json = dict[str, Any]
ENOUGH_SOURCES, ENOUGH_OTHERS, ENOUGH_EFFECTIVE = 10, 10, 6.0
"""Minimum numbers of sources that people rated, of others that the judge rated, and of effective ratings on either side
of a bounded mean, for an interval.
"""
ENOUGH_OF_SHARES = 45
"""Minimum number of sources that people rated for the share of a binary criterion."""
NOT_SAMPLED = "the rated sources are no random sample: no interval"
NO_OTHERS = "the judge rated no source beyond those that people rated"
NOT_JUDGED = "the judge rated no text that people rated"


@dataclass(frozen=True)
class Totals:
    """Sums and numbers of items of each source, (g,) each."""

    sums: FloatArray
    sizes: FloatArray

    @property
    def mean(self) -> float:
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def residuals(self) -> FloatArray:
        """The linearised deviation of each source from the mean. For sources of one size: value minus mean."""
        return np.asarray((self.sums - self.mean * self.sizes) / self.sizes.mean(), dtype=np.float64)


@dataclass(frozen=True)
class Powered:
    """A prediction-powered mean beside the human-only mean.

    ``bias`` is the mean judge rating minus the human mean on the same items. ``saved`` is n variance(human) /
    variance(powered): the number of human-rated sources that would be as precise. Without an interval, ``ci_reason``
    gives the reason. ``human_ci`` follows the same rule with lambda = 0.
    """

    n: int
    others: int
    human: float | None
    human_se: float | None = None
    human_ci: Interval | None = None
    judge: float | None = None
    bias: float | None = None
    tuning: float | None = None
    value: float | None = None
    se: float | None = None
    ci: Interval | None = None
    saved: float | None = None
    ci_reason: str = ""
    human_ci_reason: str = ""
    undefined: str = ""

    def as_json(self) -> Json:
        return {
            "n": self.n,
            "others": self.others,
            "human": self.human,
            "human_se": self.human_se,
            "human_ci": list(self.human_ci) if self.human_ci else None,
            "human_ci_reason": self.human_ci_reason,
            "judge": self.judge,
            "bias": self.bias,
            "tuning": self.tuning,
            "value": self.value,
            "se": self.se,
            "ci": list(self.ci) if self.ci else None,
            "ci_reason": self.ci_reason,
            "saved": self.saved,
            "undefined": self.undefined,
        }


def tuning(human: Totals, judge: Totals, others: Totals) -> float:
    """Return the power-tuning parameter lambda, from 0 to 1."""
    n, m = len(human.sums), len(others.sums)
    pooled = Totals(np.concatenate([judge.sums, others.sums]), np.concatenate([judge.sizes, others.sizes])).residuals
    variance = float((pooled**2).sum()) / (n + m - 1)
    if variance <= 1e-12:
        return 0.0
    covariance = float((human.residuals * judge.residuals).sum()) / n
    return min(max(covariance / ((1 + n / m) * variance), 0.0), 1.0)


def powered_mean(
    human: Totals,
    judge: Totals,
    others: Totals,
    bounds: Bounds,
    *,
    share: bool = False,
    sampled: str = "",
    level: float = 0.95,
) -> Powered:
    """Return the prediction-powered mean. ``human`` and ``judge`` (n,) have the same sources, ``others`` (N,) others.

    Items that do not apply for people count in ``judge`` only; the judge's mean must then be that of all items.
    ``share`` marks the share of a binary criterion. ``sampled`` states why the sources are no random sample, or is "".
    """
    n, m = len(human.sums), len(others.sums)
    if n == 0 or human.sizes.sum() == 0:
        return Powered(0, m, None, undefined=NOT_JUDGED)
    bias = judge.mean - human.mean
    rated = int((human.sizes > 0).sum())
    if rated < 2 or m < 2:
        why = NO_OTHERS if m == 0 else "fewer than two sources"
        return Powered(n, m, human.mean, judge=judge.mean, bias=bias, undefined=why)
    best = tuning(human, judge, others)
    value = _estimate(human, judge, others, best)
    human_se = _jackknife(_without(human.sums) / _without(human.sizes))
    of_people = _jackknife(_left_out(human, judge, others, best > 0)) ** 2
    of_others = best**2 * float((others.residuals**2).sum()) / (m - 1) / m
    se = math.sqrt(of_people + of_others)
    df_people = max(degrees_of_freedom(human.sizes[human.sizes > 0]) - (best > 0), 1.0)
    df = df_people
    if of_others > 0:
        df = (of_people + of_others) ** 2 / (of_people**2 / df_people + of_others**2 / degrees_of_freedom(others.sizes))
    why = _unfit(human, human_se, bounds, ENOUGH_OF_SHARES if share else ENOUGH_SOURCES)
    reason = sampled or why or ("few sources of the judge alone" if m < ENOUGH_OTHERS else "")
    human_t = t_quantile(level, degrees_of_freedom(human.sizes[human.sizes > 0]))
    return Powered(
        n,
        m,
        human.mean,
        human_se,
        None if sampled or why else _within(human.mean, human_t * human_se, bounds),
        Totals(np.concatenate([judge.sums, others.sums]), np.concatenate([judge.sizes, others.sizes])).mean,
        bias,
        best,
        value,
        se,
        None if reason else _within(value, t_quantile(level, df) * se, bounds),
        n * human_se**2 / se**2 if se > 1e-12 else None,
        _withheld(reason, n),
        _withheld(sampled or why, n),
    )


def _estimate(human: Totals, judge: Totals, others: Totals, power: float) -> float:
    return human.mean + power * (others.mean - judge.mean)


def _left_out(human: Totals, judge: Totals, others: Totals, tuned: bool) -> FloatArray:
    """Return the estimate without each source that people rated, with lambda estimated anew if ``tuned``, (n,)."""
    n, m = len(human.sums) - 1, len(others.sums)
    y_sizes, f_sizes = _without(human.sizes), _without(judge.sizes)
    y_mean, f_mean = _without(human.sums) / y_sizes, _without(judge.sums) / f_sizes
    if not tuned:
        return y_mean
    # Deviations from the means of all sources: the sums of products below then lose no digits.
    middle = float((judge.sums.sum() + others.sums.sum()) / (judge.sizes.sum() + others.sizes.sum()))
    y, f, u = human.sums - human.sizes * human.mean, judge.sums - judge.sizes * middle, others.sums
    u = u - others.sizes * middle
    k, h, w = human.sizes, judge.sizes, others.sizes
    y_own, f_own = _without(y) / y_sizes, _without(f) / f_sizes
    crossed = _without(y * f) - y_own * _without(k * f) - f_own * _without(h * y) + y_own * f_own * _without(k * h)
    covariance = crossed / (y_sizes / n) / (f_sizes / n) / n
    all_sizes = f_sizes + w.sum()
    all_mean = (_without(f) + u.sum()) / all_sizes
    squares = _without(f * f) + (u * u).sum() - 2 * all_mean * (_without(h * f) + (w * u).sum())
    squares += all_mean**2 * (_without(h * h) + (w * w).sum())
    variance = squares / (all_sizes / (n + m)) ** 2 / (n + m - 1)
    known = variance > 1e-12
    power = np.divide(covariance, (1 + n / m) * variance, out=np.zeros(n + 1), where=known)
    return np.asarray(y_mean + np.clip(power, 0.0, 1.0) * (others.mean - f_mean), dtype=np.float64)


def _without(values: FloatArray) -> FloatArray:
    """Return the sum without each value, (n,)."""
    return np.asarray(values.sum() - values, dtype=np.float64)


def _jackknife(without: FloatArray) -> float:
    g = len(without)
    return math.sqrt((g - 1) / g * float(((without - without.mean()) ** 2).sum()))


def _unfit(human: Totals, se: float, bounds: Bounds, least: int) -> str:
    """Return why people's ratings are insufficient for an interval, or ""."""
    if len(human.sums) < least:
        return f"fewer than {least} sources rated by people"
    if se <= 1e-12:
        return "no variation between sources"
    low, high = bounds
    if low < 0 or not math.isfinite(low) or not math.isfinite(high):
        return ""
    share = (human.mean - low) / (high - low)
    if min(share, 1 - share) * share * (1 - share) / (se / (high - low)) ** 2 < ENOUGH_EFFECTIVE:
        return NEAR_BOUND
    means = human.sums[human.sizes > 0] / human.sizes[human.sizes > 0]
    apart = high - means if share > 0.5 else means - low
    apart = apart[apart > 1e-9 * (high - low)]
    middle, upper = np.quantile(apart, (0.5, 0.75))
    return SKEWED if upper > MOST_SKEWED * middle else ""


def _withheld(reason: str, n: int) -> str:
    if not reason or reason == NOT_SAMPLED:
        return reason
    return f"no reliable interval ({reason}; n = {n} sources)"


def _within(value: float, half: float, bounds: Bounds) -> Interval:
    return max(value - half, bounds[0]), min(value + half, bounds[1])


def normal_interval(human: Totals, judge: Totals, others: Totals, *, level: float = 0.95) -> Interval:
    """Return the interval of the authors' package, for sources of one item each. It is too narrow with few sources."""
    power = tuning(human, judge, others)
    value = _estimate(human, judge, others, power)
    variance = float((human.sums - power * judge.sums).var()) / len(human.sums)
    variance += float((power * others.sums).var()) / len(others.sums)
    half = t_quantile(level, 1e9) * math.sqrt(variance)
    return value - half, value + half
