"""Systems against one another by one criterion: all pairs, on the texts that both have.

The test that is cited swaps the two systems' figures source by source (`measures.comparison`), adjusted by Holm over
all pairs of a criterion; letters say which do not differ. The classical tests stand beside it, because papers print
them: Wilcoxon's signed ranks (1945) of numbers; McNemar's (1947), exact, and Cochran's Q (1950) of shares.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np

from measures.clustered import FloatArray
from measures.comparison import NONE_COMMON, Comparison, holm, sign_flips_p
from measures.means import UNBOUNDED, Mean, clustered_mean
from measures.ratings.letters import letters
from measures.ratings.rows import Ints, Said

Json = dict[str, Any]
SIGNIFICANT = 0.05
SIDED = "two-sided"
ZEROS = "pairs without a difference are left out"
NO_DIFFERENCE = "no pair differs"
ONE_SYSTEM = "fewer than two systems have it"
NOT_ALL = "no source has texts of all systems that were judged right or wrong"
ALL_THE_SAME = "the systems do not differ on any source"


def pair_figures(said: Said) -> list[Json]:
    """A row for each pair of systems, ``first`` before ``second`` in the order of letters: ``comparison`` as
    `Comparison.as_json` (first less second), ``holm`` (adjusted p, None where nothing is common), ``different``, and
    ``wilcoxon`` of numbers or ``mcnemar`` of shares."""
    cells, systems = said.cells, said.rows.systems
    pairs = list(combinations(range(len(systems)), 2))
    parts = [_differences(said, i, j) for i, j in pairs]
    tests = sign_flips_p([_totals(*part) for part in parts])
    made: list[Json] = []
    for (i, j), (difference, sources), (p, differing, least) in zip(pairs, parts, tests, strict=True):
        both = ~np.isnan(cells[:, i]) & ~np.isnan(cells[:, j])
        if len(difference) == 0:
            found = Comparison(None, None, Mean(None, 0, 0, undefined=NONE_COMMON), None, 0, 1.0)
        else:
            low, high = said.criterion.bounds
            bounds = UNBOUNDED if not np.isfinite([low, high]).all() else (low - high, high - low)
            mean = clustered_mean(difference.tolist(), sources.tolist(), bounds=bounds)
            first, second = (float(cells[both, k].mean()) for k in (i, j))
            found = Comparison(first, second, mean, p, differing, least)
        row: Json = {"first": systems[i], "second": systems[j], "comparison": found.as_json()}
        if said.criterion.kind == "share":
            row["mcnemar"] = mcnemar(cells[both, i], cells[both, j])
        else:
            row["wilcoxon"] = wilcoxon(_means(difference, sources))
        made.append(row)
    for row, adjusted in zip(made, holm([row["comparison"]["p"] for row in made]), strict=True):
        row["holm"] = adjusted
        row["different"] = adjusted is not None and adjusted < SIGNIFICANT
    return made


def system_letters(said: Said, rows: list[Json], pairs: list[Json]) -> dict[str, str]:
    """Letters of the systems that have a figure, from `system_figures` and `pair_figures` of a criterion: "a" begins
    with the best, or the highest where no direction is better."""
    there = [row for row in rows if row["value"] is not None]
    sign = 1 if said.criterion.better == "lower" else -1
    order = [row["system"] for row in sorted(there, key=lambda row: (sign * row["value"], row["system"]))]
    apart = {frozenset((row["first"], row["second"])) for row in pairs if row["different"]}
    table = [[frozenset((one, other)) in apart for other in order] for one in order]
    return dict(zip(order, letters(table), strict=True))


def wilcoxon(differences: FloatArray) -> Json:
    """The signed-rank test of ``differences`` (n,), one a source: exact without ties up to 50, else by the normal
    approximation, which says ``method``. ``n`` pairs, ``zeros`` of them left out."""
    from scipy import stats  # type: ignore[import-untyped] # slow to import, and only workers need it

    differences = np.asarray(np.round(differences, 12), dtype=np.float64)
    n, zeros = len(differences), int((differences == 0).sum())
    said: Json = {"n": n, "zeros": zeros, "sided": SIDED, "treated": ZEROS}
    if n - zeros == 0:
        return {**said, "statistic": None, "p": None, "method": "", "undefined": NO_DIFFERENCE if n else NONE_COMMON}
    there = differences[differences != 0]
    exact = len(there) <= 50 and len(np.unique(np.abs(there))) == len(there)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stats.wilcoxon(there, method="exact" if exact else "approx")
    method = "exact" if exact else "normal approximation"
    return {**said, "statistic": float(found.statistic), "p": float(found.pvalue), "method": method, "undefined": ""}


def mcnemar(first: FloatArray, second: FloatArray) -> Json:
    """McNemar's exact test of two systems (n,) right or wrong on the same items; those where as many raters say
    right as wrong are left out. ``n`` pairs, of which ``only_first`` and ``only_second`` are right of one alone."""
    from statsmodels.stats.contingency_tables import mcnemar as test  # slow to import, and only workers need it

    (a, b), left_out = _sure(first, second)
    table = [[int((a & b).sum()), int((a & ~b).sum())], [int((~a & b).sum()), int((~a & ~b).sum())]]
    said: Json = {
        "n": len(a), "left_out": left_out, "only_first": table[0][1], "only_second": table[1][0], "sided": SIDED,
        "method": "exact",
    }  # fmt: skip
    if table[0][1] + table[1][0] == 0:
        return {**said, "p": None, "undefined": NO_DIFFERENCE if len(a) else NONE_COMMON}
    return {**said, "p": float(test(table, exact=True).pvalue), "undefined": ""}


def cochran(said: Said) -> Json:
    """Cochran's Q: whether all systems with a figure are alike, on the texts of items that all of them have."""
    from statsmodels.stats.contingency_tables import cochrans_q  # slow to import, and only workers need it

    there = np.asarray(~np.isnan(said.cells).all(axis=0))
    chosen = said.cells[:, there]
    found: Json = {
        "systems": [s for s, has in zip(said.rows.systems, there, strict=True) if has], "n": 0, "left_out": 0,
        "statistic": None, "df": None, "p": None, "undefined": ONE_SYSTEM,
    }  # fmt: skip
    if chosen.shape[1] < 2:
        return found
    whole = chosen[~np.isnan(chosen).any(axis=1)]
    columns, left_out = _sure(*whole.T)
    table = np.column_stack(columns).astype(np.int64)
    found |= {"n": len(table), "left_out": left_out}
    if not len(table):
        return {**found, "undefined": NOT_ALL}
    if (table == table[:, :1]).all():
        return {**found, "undefined": ALL_THE_SAME}
    test = cochrans_q(table)
    return {**found, "statistic": float(test.statistic), "df": int(test.df), "p": float(test.pvalue), "undefined": ""}


def _sure(*columns: FloatArray) -> tuple[list[Any], int]:
    """The columns as right or wrong, by the majority of raters, without the rows where one is at a half; how many."""
    split = np.zeros(len(columns[0]), dtype=np.bool_)
    for column in columns:
        split |= np.abs(column - 0.5) < 1e-9
    return [column[~split] > 0.5 for column in columns], int(split.sum())


def _differences(said: Said, i: int, j: int) -> tuple[FloatArray, Ints]:
    """(n,) each: the differences on the items that both have, and their sources."""
    difference = said.cells[:, i] - said.cells[:, j]
    both = ~np.isnan(difference)
    return difference[both], said.rows.source_of[both]


def _totals(difference: FloatArray, sources: Ints) -> FloatArray:
    return np.bincount(sources, weights=difference).astype(np.float64) if len(difference) else np.zeros(0)


def _means(difference: FloatArray, sources: Ints) -> FloatArray:
    """One difference a source: the mean of its items."""
    n = np.bincount(sources) if len(difference) else np.zeros(0)
    return np.asarray(_totals(difference, sources)[n > 0] / n[n > 0], dtype=np.float64)
