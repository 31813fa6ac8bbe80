"""Strengths of systems from choices of the best and the worst text of a tuple.

The model is the sequential best-worst model of Marley and Louviere 2005, *Some probabilistic models of best, worst, and
best-worst choices*, Journal of Mathematical Psychology 49. The best is chosen by Plackett and Luce: with probability
s_i / sum(s) over the tuple. The worst is then chosen of the others by the inverse strengths: (1 / s_i) / sum(1 / s).
Strengths are logarithms with mean 0, by maximum likelihood (Newton's method). They exist unless a group of systems was
always preferred, or never, to the others (Ford 1957). Intervals are over sources (`measures.clustered`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..clustered import FloatArray, estimate
from ..means import UNBOUNDED
from .judgements import BestWorst
from .preferences import reached, why_undefined

Json = dict[str, Any]
_STEPS = 50


def best_worst_figures(choices: Iterable[BestWorst]) -> list[Json]:
    """Return a row for each criterion, with the strengths of ``systems``.

    A system has ``strength`` and ``ci`` (or ``ci_reason``), and how often it was ``shown``, ``best`` and ``worst``. The
    row has ``n`` choices and ``sources``. ``undefined`` states why there are no strengths. Repeated pages are left out.
    """
    every = list(choices)
    return [
        {"criterion": key, **_of([each for each in every if each.criterion == key and each.repeat == 0])}
        for key in sorted({each.criterion for each in every})
    ]


def _of(every: Sequence[BestWorst]) -> Json:
    systems = sorted({name for each in every for name in each.systems})
    counted = Choices(every, systems)
    why = why_undefined(counted.preferred.sum(axis=0))
    strength = counted.strengths(counted.of_source.sum(axis=0), np.zeros(len(systems))) if not why else None
    rows: list[Json] = []
    without = counted.without_each(strength) if strength is not None else None
    for i, name in enumerate(systems):
        row: Json = {"system": name, "strength": None, "ci": None, "ci_reason": why}
        if strength is not None and without is not None:
            interval = estimate(float(strength[i]), without[:, i], counted.sizes, UNBOUNDED)
            row |= {
                "strength": float(strength[i]),
                "ci": list(interval.ci) if interval.ci else None,
                "ci_reason": interval.reason,
            }
        row |= {
            "shown": sum(name in each.systems for each in every),
            "best": sum(each.best == name for each in every),
            "worst": sum(each.worst == name for each in every),
        }
        rows.append(row)
    return {"n": len(every), "sources": len(counted.sizes), "systems": rows, "undefined": why}


class Choices:
    """Choices of one system from several, best or worst, counted by source.

    ``members`` (k, m) are the distinct sets of systems, with ``sign`` (k,) 1 for a choice of the best and -1 for one of
    the worst. ``of_source`` (g, k) counts the choices from each set, ``net`` (g, m) how often each system was best less
    how often it was worst. ``preferred`` (g, m, m) counts how often the row's system was preferred to the column's.
    """

    def __init__(self, every: Sequence[BestWorst], systems: Sequence[str]) -> None:
        place = {name: i for i, name in enumerate(systems)}
        sources = {source: g for g, source in enumerate(sorted({each.source for each in every}, key=str))}
        sets: dict[tuple[float, tuple[int, ...]], int] = {}
        counts: dict[tuple[int, int], int] = defaultdict(int)
        self.net = np.zeros((len(sources), len(systems)))
        self.preferred = np.zeros((len(sources), len(systems), len(systems)))
        for each in every:
            g, best, worst = sources[each.source], place[each.best], place[each.worst]
            shown = sorted(place[name] for name in each.systems)
            others = [i for i in shown if i != best]
            for key in ((1.0, tuple(shown)), (-1.0, tuple(others))):
                counts[g, sets.setdefault(key, len(sets))] += 1
            self.net[g, best] += 1
            self.net[g, worst] -= 1
            self.preferred[g, best, others] += 1
            self.preferred[g, [i for i in others if i != worst], worst] += 1
        self.sign = np.array([sign for sign, _ in sets])
        self.members = np.zeros((len(sets), len(systems)), dtype=np.bool_)
        for k, (_, members) in enumerate(sets):
            self.members[k, list(members)] = True
        self.of_source = np.zeros((len(sources), len(sets)))
        for (g, k), n in counts.items():
            self.of_source[g, k] = n
        self.sizes = self.of_source.sum(axis=1) / 2

    def strengths(self, counts: FloatArray, start: FloatArray, net: FloatArray | None = None) -> FloatArray:
        """Return the strengths (m,) for ``counts`` (k,) of choices and ``net`` (m,), by default of all sources."""
        values, wanted = start.copy(), self.net.sum(axis=0) if net is None else net
        used = counts > 0
        members, sign, n = self.members[used], self.sign[used], counts[used]
        for _ in range(_STEPS):
            chance = np.where(members, np.exp(sign[:, None] * (values - values.mean())), 0.0)
            chance /= chance.sum(axis=1, keepdims=True)
            slope = wanted - (n * sign) @ chance
            weighted = n[:, None] * chance
            curve = np.diag(weighted.sum(axis=0)) - weighted.T @ chance
            # Strengths are identified up to a constant, so their sum is fixed. Long steps are shortened.
            step = np.linalg.solve(curve + 1 / len(values), slope)
            step /= max(1.0, float(np.abs(step).max()))
            values += step
            if np.abs(step).max() < 1e-10:
                break
        return np.asarray(values - values.mean())

    def without_each(self, strength: FloatArray) -> FloatArray:
        """Return the strengths (g, m) without each source; NaN where they do not exist."""
        total, net = self.of_source.sum(axis=0), self.net.sum(axis=0)
        made = np.full((len(self.sizes), len(strength)), np.nan)
        for g in np.flatnonzero(reached(self.preferred.sum(axis=0) - self.preferred > 0)).tolist():
            made[g] = self.strengths(total - self.of_source[g], strength, net - self.net[g])
        return made
