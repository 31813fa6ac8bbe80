"""Strengths of systems from choices between two texts, by Bradley and Terry.

Source: Bradley and Terry 1952, *Rank analysis of incomplete block designs*, Biometrika 39. The probability that i is
chosen over j is s_i / (s_i + s_j). A tie or "neither" is half a choice for each. Strengths are logarithms with mean 0,
computed by Newton's method. They exist unless a group of systems won, or lost, every choice against the others (Ford
1957, American Mathematical Monthly 64). Intervals are over sources (`measures.clustered`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from measures import former
from measures.agreement.gold import wilson_interval
from measures.clustered import Estimate, FloatArray, estimate
from measures.means import UNBOUNDED, clustered_share
from measures.ratings.judgements import Preference
from measures.ratings.resampling import REPLICATES, drawn, percentiles

Json = dict[str, Any]
NO_CHOICES = "no choice between systems"
APART = "some systems were never compared with the others, not even by way of third ones"
ALWAYS = "some systems won every choice against the others: their strength has no bound"
TOO_OFTEN = "in more than one of twenty rounds drawn anew there are no strengths"
_STEPS = 50


def preference_figures(preferences: Iterable[Preference], *, replicates: int = REPLICATES) -> list[Json]:
    """Return a row for each criterion, with the strengths of ``systems``.

    A system has ``strength`` and ``ci`` (or ``ci_reason``), ``chosen`` (the probability against an average system) and
    wins. The row has ``n`` choices, ``sources``, ``wins`` (systems x systems, ties as halves), ``ties``, ``neither``,
    and how often the ``left`` text was chosen. ``undefined`` states why there are no strengths. Repeated pages are left
    out. ``repeats`` counts them, and how many gave the same choice.
    """
    every = list(preferences)
    return [
        {"criterion": key, **_of([each for each in every if each.criterion == key], replicates)}
        for key in sorted({each.criterion for each in every})
    ]


def _of(every: Sequence[Preference], replicates: int) -> Json:
    first = [each for each in every if each.repeat == 0]
    systems = sorted({name for each in every for name in (each.left, each.right)})
    place = {name: i for i, name in enumerate(systems)}
    sources = {source: i for i, source in enumerate(sorted({each.source for each in first}, key=str))}
    m = len(systems)
    by_source = np.zeros((len(sources), m, m))
    for each in first:
        i, j, s = place[each.left], place[each.right], sources[each.source]
        won = {"left": 1.0, "right": 0.0}.get(each.choice, 0.5)
        by_source[s, i, j] += won
        by_source[s, j, i] += 1 - won
    wins = by_source.sum(axis=0)
    choices = Counter(each.choice for each in first)
    sided = choices["left"] + choices["right"]
    undefined = why_undefined(wins)
    strength = strengths(wins[None])[0] if not undefined else None
    intervals: list[list[float] | None] = [None] * m
    reasons, no_interval = [undefined] * m, undefined
    if strength is not None and former.is_on():
        intervals, no_interval = _intervals(by_source, replicates)
    elif strength is not None:
        estimates = _over_sources(strength, by_source)
        intervals, reasons = (
            [list(each.ci) if each.ci else None for each in estimates],
            [each.reason for each in estimates],
        )
    return {
        "n": len(first),
        "sources": len(sources),
        "ties": choices["tie"],
        "neither": choices["neither"],
        "left": {"count": choices["left"], "n": sided, **_sided(first, sided, choices["left"])},
        "systems": [
            {
                "system": name,
                "strength": float(strength[i]) if strength is not None else None,
                "chosen": float(1 / (1 + np.exp(-strength[i]))) if strength is not None else None,
                "ci": intervals[i],
                **({} if former.is_on() else {"ci_reason": reasons[i]}),
                "wins": float(wins[i].sum()),
                "choices": float(wins[i].sum() + wins[:, i].sum()),
            }
            for i, name in enumerate(systems)
        ],
        "wins": wins.tolist(),
        "undefined": undefined,
        "repeats": _repeats(every),
        **({"no_interval": no_interval} if former.is_on() else {}),
    }


def _sided(first: Sequence[Preference], n: int, left: int) -> Json:
    """Return the interval of how often the left text was chosen."""
    if former.is_on():
        return {"wilson": list(wilson_interval(left, n)) if n else None}
    sided = [each for each in first if each.choice in ("left", "right")]
    numbers = {source: i for i, source in enumerate(dict.fromkeys(each.source for each in sided))}
    share = clustered_share([float(each.choice == "left") for each in sided], [numbers[each.source] for each in sided])
    return {"ci": list(share.ci) if share.ci else None, "ci_reason": share.ci_reason or share.undefined}


def _over_sources(strength: FloatArray, by_source: FloatArray) -> list[Estimate]:
    """Return the interval of each strength. Strengths are estimated again without each source."""
    wins = by_source.sum(axis=0) - by_source
    without = np.full(by_source.shape[:2], np.nan)
    exist = reached(wins > 0)
    without[exist] = strengths(wins[exist])
    sizes = by_source.sum(axis=(1, 2))
    return [estimate(float(value), without[:, i], sizes, UNBOUNDED) for i, value in enumerate(strength)]


def strengths(wins: FloatArray) -> FloatArray:
    """Return the log strengths (r, m), each row with mean 0, of tables of wins (r, m, m) for which they exist."""
    r, m, _ = wins.shape
    played = wins + wins.transpose(0, 2, 1)
    values = np.zeros((r, m))
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(values[:, None, :] - values[:, :, None]))
        slope = (wins - played * chance).sum(axis=2)
        bend = played * chance * (1 - chance)
        curve = -bend
        curve[:, np.arange(m), np.arange(m)] += bend.sum(axis=2)
        # Strengths are identified up to a constant, so their sum is fixed at 0. Long steps are shortened.
        step = np.linalg.solve(curve + 1 / m, slope[:, :, None])[:, :, 0]
        step /= np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        values += step
        if np.abs(step).max(initial=0) < 1e-10:
            break
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def reached(edges: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return whether every system reaches every other by ``edges`` (r, m, m), shape (r,)."""
    m = edges.shape[1]
    paths = edges | np.eye(m, dtype=np.bool_)
    for _ in range(max(m - 1, 1).bit_length()):
        paths = (paths.astype(np.float64) @ paths.astype(np.float64)) > 0
    return np.asarray(paths.all(axis=(1, 2)))


def why_undefined(wins: FloatArray) -> str:
    if not wins.any():
        return NO_CHOICES
    if not reached(((wins + wins.T) > 0)[None])[0]:
        return APART
    return "" if reached((wins > 0)[None])[0] else ALWAYS


def _intervals(by_source: FloatArray, replicates: int) -> tuple[list[list[float] | None], str]:
    n, m, _ = by_source.shape
    if n < 2 or not replicates:
        return [None] * m, "fewer than two sources: no interval"
    parts = []
    for weights in drawn(n, replicates):
        wins = (weights @ by_source.reshape(n, -1)).reshape(-1, m, m)
        replicates_made = np.full((len(wins), m), np.nan)
        exist = reached(wins > 0)
        replicates_made[exist] = strengths(wins[exist])
        parts.append(replicates_made)
    every = np.concatenate(parts)
    ends = [percentiles(every[:, i]) for i in range(m)]
    return [list(each) if each else None for each in ends], "" if all(ends) else TOO_OFTEN


def _repeats(every: Sequence[Preference]) -> Json:
    """Return how often raters chose the same system again, on either side."""
    turns: dict[object, dict[int, str]] = {}
    for each in every:
        key = each.rater, each.source, each.item, frozenset((each.left, each.right))
        chosen = {"left": each.left, "right": each.right}.get(each.choice, each.choice)
        turns.setdefault(key, {})[each.repeat] = chosen
    pairs = [
        (one, choice_of[k + 1]) for choice_of in turns.values() for k, one in choice_of.items() if k + 1 in choice_of
    ]
    return {"n": len(pairs), "same": sum(a == b for a, b in pairs)}
