"""Which systems are preferred: strengths of Bradley and Terry (1952, *Rank analysis of incomplete block designs*,
Biometrika 39), from choices between two texts.

The chance that i is chosen over j is s_i / (s_i + s_j). A tie, and "neither", is half a choice for each. Strengths are
logarithms with mean 0, found by Newton's method. They exist where no group of systems has won, or lost, every choice
against the others (Ford 1957, American Mathematical Monthly 64); intervals are percentiles over sources drawn anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from measures.agreement.gold import wilson_interval
from measures.clustered import FloatArray
from measures.ratings.judgements import Preference
from measures.ratings.resampling import REPLICATES, drawn, percentiles

Json = dict[str, Any]
NO_CHOICES = "no choice between systems"
APART = "some systems were never compared with the others, not even by way of third ones"
ALWAYS = "some systems won every choice against the others: their strength has no bound"
TOO_OFTEN = "in more than one of twenty rounds drawn anew there are no strengths"
_STEPS = 50


def preference_figures(preferences: Iterable[Preference], *, replicates: int = REPLICATES) -> list[Json]:
    """A row for each criterion: ``n`` choices of ``sources``, ``systems`` with ``strength`` and ``ci``, ``chosen``
    (the chance against an average one) and the wins; ``wins`` (systems x systems, ties as halves), ``ties``,
    ``neither``, and how often the text on the ``left`` was chosen. ``undefined`` says why there are no strengths.
    Choices of pages given again are left out, and told of as ``repeats``: n, and how many were the same."""
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
    said = Counter(each.choice for each in first)
    sided = said["left"] + said["right"]
    undefined = _undefined(wins)
    strength = strengths(wins[None])[0] if not undefined else None
    intervals, no_interval = _intervals(by_source, replicates) if strength is not None else ([None] * m, undefined)
    return {
        "n": len(first), "sources": len(sources), "ties": said["tie"], "neither": said["neither"],
        "left": {"count": said["left"], "n": sided,
                 "wilson": list(wilson_interval(said["left"], sided)) if sided else None},
        "systems": [
            {"system": name, "strength": float(strength[i]) if strength is not None else None,
             "chosen": float(1 / (1 + np.exp(-strength[i]))) if strength is not None else None,
             "ci": intervals[i], "wins": float(wins[i].sum()), "choices": float(wins[i].sum() + wins[:, i].sum())}
            for i, name in enumerate(systems)
        ],
        "wins": wins.tolist(), "undefined": undefined, "no_interval": no_interval, "repeats": _repeats(every),
    }  # fmt: skip


def strengths(wins: FloatArray) -> FloatArray:
    """(r, m): logarithms of strengths, each row with mean 0, of tables of wins (r, m, m) that have them."""
    r, m, _ = wins.shape
    played = wins + wins.transpose(0, 2, 1)
    found = np.zeros((r, m))
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(found[:, None, :] - found[:, :, None]))
        slope = (wins - played * chance).sum(axis=2)
        bend = played * chance * (1 - chance)
        curve = -bend
        curve[:, np.arange(m), np.arange(m)] += bend.sum(axis=2)
        # Strengths are known but for a constant: their sum is held at 0. Wide steps are shortened.
        step = np.linalg.solve(curve + 1 / m, slope[:, :, None])[:, :, 0]
        step /= np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
        found += step
        if np.abs(step).max(initial=0) < 1e-10:
            break
    return np.asarray(found - found.mean(axis=1, keepdims=True))


def _reached(edges: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(r,): whether every system leads to every other by ``edges`` (r, m, m)."""
    m = edges.shape[1]
    paths = edges | np.eye(m, dtype=np.bool_)
    for _ in range(max(m - 1, 1).bit_length()):
        paths = (paths.astype(np.float64) @ paths.astype(np.float64)) > 0
    return np.asarray(paths.all(axis=(1, 2)))


def _undefined(wins: FloatArray) -> str:
    if not wins.any():
        return NO_CHOICES
    if not _reached(((wins + wins.T) > 0)[None])[0]:
        return APART
    return "" if _reached((wins > 0)[None])[0] else ALWAYS


def _intervals(by_source: FloatArray, replicates: int) -> tuple[list[list[float] | None], str]:
    n, m, _ = by_source.shape
    if n < 2 or not replicates:
        return [None] * m, "fewer than two sources: no interval"
    parts = []
    for weights in drawn(n, replicates):
        wins = (weights @ by_source.reshape(n, -1)).reshape(-1, m, m)
        found = np.full((len(wins), m), np.nan)
        there = _reached(wins > 0)
        found[there] = strengths(wins[there])
        parts.append(found)
    every = np.concatenate(parts)
    ends = [percentiles(every[:, i]) for i in range(m)]
    return [list(each) if each else None for each in ends], "" if all(ends) else TOO_OFTEN


def _repeats(every: Sequence[Preference]) -> Json:
    """Whether raters chose the same system again, whichever side it was on."""
    turns: dict[object, dict[int, str]] = {}
    for each in every:
        key = each.rater, each.source, each.item, frozenset((each.left, each.right))
        chosen = {"left": each.left, "right": each.right}.get(each.choice, each.choice)
        turns.setdefault(key, {})[each.repeat] = chosen
    pairs = [(one, said[k + 1]) for said in turns.values() for k, one in said.items() if k + 1 in said]
    return {"n": len(pairs), "same": sum(a == b for a, b in pairs)}
