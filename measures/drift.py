"""Sequential monitoring of a person's accuracy on items with a known answer.

The rule is a one-sided cumulative sum (CUSUM; Page, 1954; for correct and incorrect answers Reynolds and Stoumbos,
1999). With a bar of 85%, an incorrect answer adds .85 to the score and a correct one subtracts .15, so the score of a
person exactly at the bar stays level on average; it never falls below 0. A warning is due when the score reaches a
threshold. The threshold is the smallest one that a *steady* person, who makes a third as many errors as the bar
allows (accuracy .95 for a bar of .85), reaches in at most 4% of rounds of `horizon` items. This probability is
computed exactly from the Markov chain of the score (Brook and Evans, 1972), not simulated.

A window of a fixed size would be simpler, but is tested again after every item, so that many windows of a steady
person cross any bar by chance, while a window that is long enough to prevent this reacts too late.

Page, E. S. (1954). Continuous inspection schemes. Biometrika, 41, 100-115. Brook, D., & Evans, D. A. (1972). An
approach to the probability distribution of CUSUM run length. Biometrika, 59, 539-549. Reynolds, M. R., & Stoumbos,
Z. G. (1999). A CUSUM chart for monitoring a proportion when inspecting continuously. Journal of Quality Technology,
31, 87-108.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import ceil, sqrt
from typing import Any, Literal

import numpy as np

#: Maximum probability that a steady person is warned in a round of `horizon` items.
FALSE_WARNINGS = 0.04
#: Items of a round for which the threshold is computed, unless more are planned.
HORIZON = 200
#: Last items that a warning reports, and that decide about recovery.
WINDOW = 20
#: Largest possible bar, in percent. With a higher one, a single error would count almost as much as a trend.
BARS = range(50, 96)

What = Literal["warned", "recovered"]
#: Figures of a warning that a release states.
STATED = ("answers", "right", "window", "score", "threshold")


@dataclass(frozen=True)
class Signal:
    """A warning, or the recovery after it: number of items answered by then, and the last ones."""

    what: What
    answers: int
    right: int
    window: int
    #: Score that reached the threshold, in hundredths of an item; 0 for a recovery.
    score: int


@dataclass(frozen=True)
class Window:
    """Consecutive items of a person, ``first`` to ``last`` (from 1)."""

    first: int
    last: int
    right: int

    @property
    def n(self) -> int:
        return self.last - self.first + 1


def steady(bar: int) -> float:
    """Return the accuracy of a steady person for a bar in percent: a third of the errors that the bar allows."""
    return 1 - (100 - bar) / 300


@lru_cache(maxsize=256)
def false_warnings(threshold: int, bar: int, horizon: int, accuracy: float) -> float:
    """Return the probability that a person of a constant accuracy is warned within ``horizon`` items.

    ``threshold`` is in hundredths of an item. Exact: the score is a Markov chain with as many states as the threshold.
    """
    up, down = bar, 100 - bar
    states = np.zeros(threshold)
    states[0] = 1.0
    for _ in range(horizon):
        after = np.zeros(threshold)
        after[: max(0, threshold - down)] += accuracy * states[down:]
        after[0] += accuracy * states[:down].sum()
        if threshold > up:
            after[up:] += (1 - accuracy) * states[: threshold - up]
        states = after
    return float(1 - states.sum())


@lru_cache(maxsize=64)
def threshold_of(bar: int, horizon: int = HORIZON) -> int:
    """Return the smallest threshold (hundredths of an item) with at most `FALSE_WARNINGS` for a steady person."""
    low, high = 1, bar
    while false_warnings(high, bar, horizon, steady(bar)) > FALSE_WARNINGS:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        if false_warnings(middle, bar, horizon, steady(bar)) > FALSE_WARNINGS:
            low = middle + 1
        else:
            high = middle
    return low


def horizon_of(items: int) -> int:
    """Return the number of items for which false warnings are controlled: at least `HORIZON`, in hundreds."""
    return max(HORIZON, ceil(items / 100) * 100)


def signals(correct: Iterable[bool], bar: int, horizon: int = HORIZON) -> Iterator[Signal]:
    """Yield the warnings and recoveries of a series of items in order.

    After a warning, the next one is possible only after a recovery: the accuracy of the last `WINDOW` items, all of
    them after the warning, is at least the bar. The score then starts at 0 again. The signals of the beginning of a
    series are the first signals of the series.
    """
    threshold, score, warned_at, series = threshold_of(bar, horizon), 0, 0, list[bool]()
    for is_correct in correct:
        series.append(is_correct)
        last = series[-WINDOW:]
        if warned_at:
            if len(series) >= warned_at + WINDOW and 100 * sum(last) >= bar * WINDOW:
                yield Signal("recovered", len(series), sum(last), len(last), 0)
                warned_at, score = 0, 0
            continue
        score = max(0, score + (bar - 100 if is_correct else bar))
        if score >= threshold:
            yield Signal("warned", len(series), sum(last), len(last), score)
            warned_at = len(series)


def warnings(correct: Iterable[bool], bar: int, horizon: int = HORIZON) -> list[dict[str, Any]]:
    """Return the warnings of a series as a release states them: scores in items, and whether a recovery followed."""
    stated: list[dict[str, Any]] = []
    for signal in signals(correct, bar, horizon):
        if signal.what == "recovered":
            stated[-1]["recovered"] = True
            continue
        counts = {"answers": signal.answers, "right": signal.right, "window": signal.window}
        scores = {"score": signal.score / 100, "threshold": threshold_of(bar, horizon) / 100}
        stated.append(counts | scores | {"recovered": False})
    return stated


def windows(correct: Sequence[bool], size: int = WINDOW) -> list[Window]:
    """Return consecutive windows of a series. The last one may be shorter."""
    return [
        Window(first + 1, min(first + size, len(correct)), sum(correct[first : first + size]))
        for first in range(0, len(correct), size)
    ]


def accuracy(correct: Sequence[bool]) -> dict[str, Any]:
    """Return the share of correct answers of a series as counts with Wilson's interval, whole and by window."""
    low, high = wilson(sum(correct), len(correct)) if correct else (None, None)
    return {
        "answers": len(correct),
        "right": sum(correct),
        "low": low,
        "high": high,
        "windows": [
            {"first": one.first, "last": one.last, "n": one.n, "right": one.right}
            | dict(zip(("low", "high"), wilson(one.right, one.n), strict=True))
            for one in windows(correct)
        ],
    }


def longest_run(values: Sequence[str]) -> int:
    """Return the length of the longest run of equal values."""
    return max((len(list(run)) for _, run in groupby(values)), default=0)


def wilson(right: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share of independent items. ``n`` must be positive."""
    share, square = right / n, z * z
    centre, half = share + square / (2 * n), z * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, (centre - half) / (1 + square / n)), min(1.0, (centre + half) / (1 + square / n))
