"""The figures of a rating round computed with scipy and statsmodels only.

A row: source, system, rater, criterion, value (a number; None: N/A), repeat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import statsmodels.api as sm
from scipy import stats  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

Row = Mapping[str, Any]
Cells = dict[str, dict[str, float]]


def cells_of(rows: Iterable[Row], criterion: str) -> Cells:
    """Return system -> source -> mean of the first ratings, without N/A."""
    said: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["criterion"] == criterion and row["repeat"] == 0 and row["value"] is not None:
            said[row["system"], row["source"]].append(row["value"])
    cells: Cells = defaultdict(dict)
    for (system, source), values in said.items():
        cells[system][source] = float(np.mean(values))
    return cells


def mean(values: Sequence[float]) -> dict[str, Any]:
    """Mean and Student's interval, which equals the jackknife's with one text per source."""
    n = len(values)
    found: dict[str, Any] = {"value": float(np.mean(values)), "n": n, "ci": None}
    se = float(stats.sem(values)) if n > 2 else 0.0
    if se > 1e-9:
        found["ci"] = stats.t.interval(0.95, n - 1, loc=found["value"], scale=se)
    return found


def share(values: Sequence[float], ratings: int) -> dict[str, Any]:
    """Share, Wilson's interval, and Wilson's interval with the effective number of items (Korn and Graubard)."""
    n, p = len(values), float(np.mean(values))
    wilson = proportion_confint(sum(values), n, method="wilson")
    found: dict[str, Any] = {"value": p, "n": n, "count": sum(values), "wilson": wilson, "ci": None}
    if n < 3:
        return found
    worth = float(n)
    if 1e-9 < p < 1 - 1e-9:
        cap = max(n, ratings)
        variance = float(stats.sem(values)) ** 2
        worth = min(p * (1 - p) / variance, cap) if variance > 1e-15 else cap
        worth *= (stats.t.ppf(0.975, cap - 1) / stats.t.ppf(0.975, n - 1)) ** 2
    return {**found, "ci": proportion_confint(p * worth, worth, method="wilson")}


def pairs(cells: Cells, systems: Sequence[str], binary: bool) -> list[dict[str, Any]]:
    """Every pair: mean difference, exact permutation p, Holm's p, and the classical tests."""
    made = []
    for a, b in combinations(systems, 2):
        common = sorted(cells[a].keys() & cells[b].keys())
        x, y = (np.array([cells[s][each] for each in common]) for s in (a, b))
        d = np.round(x - y, 12)
        row: dict[str, Any] = {"first": a, "second": b, "n": len(d), "p": None, "difference": None}
        if len(d):
            row["difference"] = float(d.mean())
            row["p"] = swaps(d)
        row["classical"] = mcnemar(x, y) if binary else wilcoxon(d)
        made.append(row)
    there = [row for row in made if row["p"] is not None]
    adjusted = holm([row["p"] for row in there])
    for row, p in zip(there, adjusted, strict=True):
        row["holm"] = float(p)
    return made


def holm(ps: Sequence[float]) -> list[float]:
    """Same as statsmodels' multipletests, which runs the garbage collector at every call; a test compares the two."""
    order = np.argsort(ps)
    steps = np.minimum(np.maximum.accumulate(np.array(ps)[order] * np.arange(len(ps), 0, -1)), 1)
    return [float(steps[np.flatnonzero(order == i)[0]]) for i in range(len(ps))]


def swaps(d: Any) -> float:
    if len(d) == 1 or not d.any():
        return 1.0
    found = stats.permutation_test(
        (d,),
        lambda x, axis=-1: np.round(np.abs(np.sum(x, axis=axis)), 9),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    )
    return float(found.pvalue)


def wilcoxon(d: Any) -> float | None:
    there = d[d != 0]
    if not len(there):
        return None
    exact = len(np.unique(np.abs(there))) == len(there)
    return float(stats.wilcoxon(d, zero_method="wilcox", method="exact" if exact else "approx").pvalue)


def mcnemar(x: Any, y: Any) -> float | None:
    sure = (np.abs(x - 0.5) > 1e-9) & (np.abs(y - 0.5) > 1e-9)
    one, other = ((x > 0.5) & (y < 0.5) & sure).sum(), ((x < 0.5) & (y > 0.5) & sure).sum()
    return float(stats.binomtest(int(one), int(one + other)).pvalue) if one + other else None


def cochran(table: Any) -> float:
    """Cochran's Q of a 0/1 table (items, systems)."""
    k, columns, rows = table.shape[1], table.sum(axis=0), table.sum(axis=1)
    q = (k - 1) * (k * (columns**2).sum() - table.sum() ** 2) / (k * table.sum() - (rows**2).sum())
    return float(stats.chi2.sf(q, k - 1))


def correlations(cells: Cells, scores: Cells, systems: Sequence[str]) -> dict[tuple[str, str], float | None]:
    """Return (level, coefficient) -> correlation over systems or summaries with both values."""
    tests = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
    both = {s: sorted(cells[s].keys() & scores[s].keys()) for s in systems}
    there = [s for s in systems if both[s]]
    found: dict[tuple[str, str], float | None] = {}
    for name, test in tests.items():
        x, y = ([round(float(np.mean([of[s][i] for i in both[s]])), 12) for s in there] for of in (cells, scores))
        found["system", name] = _of(test, x, y) if len(there) > 2 else None
        values = []
        for source in sorted({each for s in there for each in both[s]}):
            having = [s for s in there if source in both[s]]
            values.append(_of(test, [cells[s][source] for s in having], [scores[s][source] for s in having]))
        known = [value for value in values if value is not None]
        found["summary", name] = float(np.mean(known)) if known and len(there) > 2 else None
    return found


def _of(test: Any, x: Sequence[float], y: Sequence[float]) -> float | None:
    if len(x) < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(test(x, y)[0])


def strengths(choices: Sequence[tuple[str, str, float]], systems: Sequence[str]) -> list[float]:
    """Bradley-Terry strengths of (one, other, won by one: 1, 0 or .5), as a logistic regression."""
    design = np.zeros((len(choices), len(systems)))
    for row, (one, other, _) in enumerate(choices):
        design[row, systems.index(one)], design[row, systems.index(other)] = 1, -1
    fit = sm.GLM([won for *_, won in choices], design[:, 1:], family=sm.families.Binomial()).fit(tol=1e-12, maxiter=200)
    found = np.concatenate([[0.0], fit.params])
    return [float(each) for each in found - found.mean()]


def kappa(first: Sequence[Any], second: Sequence[Any], values: Sequence[Any], weighted: bool) -> float:
    table = np.zeros((len(values), len(values)))
    for one, other in zip(first, second, strict=True):
        table[values.index(one), values.index(other)] += 1
    return float(cohens_kappa(table, wt="fc" if weighted else None, return_results=False))
