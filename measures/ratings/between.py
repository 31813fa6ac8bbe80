"""Differences between systems by one criterion: all pairs, on the texts that both have.

The cited test is a permutation test that swaps two systems source by source (`measures.comparison`). Its p is adjusted
by Holm over all pairs of a criterion. Systems that do not differ share a letter. Classical tests are reported too,
because papers print them: Wilcoxon's signed ranks (1945) for numbers; McNemar's exact test (1947) and Cochran's Q
(1950) for shares.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from string import ascii_letters
from typing import Any

import numpy as np

from ..clustered import FloatArray
from ..comparison import NONE_COMMON, Comparison, holm, sign_flips_p
from ..means import UNBOUNDED, Mean, clustered_mean
from .rows import CriterionJudgements, Ints


def letters(different: Sequence[Sequence[bool]]) -> list[str]:
    """Return the letters of each system from a symmetric table (m, m) of significant differences.

    Two systems share a letter if and only if they do not differ. The first system has an "a", so pass the best one
    first.
    """
    m = len(different)
    groups = [frozenset(range(m))] if m else []
    for i, j in combinations(range(m), 2):
        if different[i][j]:
            parted = [part for g in groups for part in ((g - {i}, g - {j}) if i in g and j in g else (g,))]
            whole = sorted(set(parted), key=lambda g: (-len(g), sorted(g)))
            groups = [g for k, g in enumerate(whole) if g and not any(g < other for other in whole[:k])]
    for group in sorted(groups, key=lambda g: (len(g), sorted(g))):
        others = [g for g in groups if g != group]
        # The group is redundant: all pairs in it share another group.
        if all(any(i in g and j in g for g in others) for i in group for j in group):
            groups = others
    groups.sort(key=lambda g: sorted(g))
    return ["".join(_name(k) for k, g in enumerate(groups) if i in g) for i in range(m)]


def _name(k: int) -> str:
    return ascii_letters[k] if k < len(ascii_letters) else f"({k + 1})"


Json = dict[str, Any]
SIGNIFICANT = 0.05
SIDED = "two-sided"
ZEROS = "pairs without a difference are left out"
NO_DIFFERENCE = "no pair differs"
ONE_SYSTEM = "fewer than two systems have it"
NOT_ALL = "no source has texts of all systems that were judged right or wrong"
ALL_THE_SAME = "the systems do not differ on any source"


def pair_figures(ratings: CriterionJudgements) -> list[Json]:
    """Return a row for each pair of systems, in alphabetical order.

    ``comparison`` is `Comparison.as_json` of first minus second. ``holm`` is the adjusted p, or None without common
    texts. Each row has ``different``, and ``wilcoxon`` for numbers or ``mcnemar`` for shares.
    """
    cells, systems = ratings.cells, ratings.rows.systems
    pairs = list(combinations(range(len(systems)), 2))
    parts = [_differences(ratings, i, j) for i, j in pairs]
    tests = sign_flips_p([_totals(*part) for part in parts])
    figures: list[Json] = []
    for (i, j), (difference, sources), (p, differing, least) in zip(pairs, parts, tests, strict=True):
        both = ~np.isnan(cells[:, i]) & ~np.isnan(cells[:, j])
        if len(difference) == 0:
            comparison = Comparison(None, None, Mean(None, 0, 0, undefined=NONE_COMMON), None, 0, 1.0)
        else:
            low, high = ratings.criterion.bounds
            bounds = UNBOUNDED if not np.isfinite([low, high]).all() else (low - high, high - low)
            mean = clustered_mean(difference.tolist(), sources.tolist(), bounds=bounds)
            first, second = (float(cells[both, k].mean()) for k in (i, j))
            comparison = Comparison(first, second, mean, p, differing, least)
        row: Json = {"first": systems[i], "second": systems[j], "comparison": comparison.as_json()}
        if ratings.criterion.kind == "share":
            row["mcnemar"] = mcnemar(cells[both, i], cells[both, j])
        else:
            row["wilcoxon"] = wilcoxon(_means(difference, sources))
        figures.append(row)
    for row, adjusted in zip(figures, holm([row["comparison"]["p"] for row in figures]), strict=True):
        row["holm"] = adjusted
        row["different"] = adjusted is not None and adjusted < SIGNIFICANT
    return figures


def system_letters(ratings: CriterionJudgements, rows: list[Json], pairs: list[Json]) -> dict[str, str]:
    """Return the letters of the systems that have a figure, from `system_figures` and `pair_figures`.

    "a" starts with the best system, or with the highest value if the criterion has no direction.
    """
    defined = [row for row in rows if row["value"] is not None]
    sign = 1 if ratings.criterion.better == "lower" else -1
    order = [row["system"] for row in sorted(defined, key=lambda row: (sign * row["value"], row["system"]))]
    apart = {frozenset((row["first"], row["second"])) for row in pairs if row["different"]}
    table = [[frozenset((one, other)) in apart for other in order] for one in order]
    return dict(zip(order, letters(table), strict=True))


def wilcoxon(differences: FloatArray) -> Json:
    """Return the signed-rank test of ``differences`` (n,), one per source.

    The test is exact for up to 50 differences without ties, else a normal approximation; ``method`` states which. ``n``
    counts pairs, and ``zeros`` the omitted ones.
    """
    from scipy import stats  # type: ignore[import-untyped] # slow import, needed only in workers

    differences = np.asarray(np.round(differences, 12), dtype=np.float64)
    n, zeros = len(differences), int((differences == 0).sum())
    facts: Json = {"n": n, "zeros": zeros, "sided": SIDED, "treated": ZEROS}
    if n - zeros == 0:
        return {**facts, "statistic": None, "p": None, "method": "", "undefined": NO_DIFFERENCE if n else NONE_COMMON}
    nonzero = differences[differences != 0]
    exact = len(nonzero) <= 50 and len(np.unique(np.abs(nonzero))) == len(nonzero)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = stats.wilcoxon(nonzero, method="exact" if exact else "approx")
    method = "exact" if exact else "normal approximation"
    return {**facts, "statistic": float(test.statistic), "p": float(test.pvalue), "method": method, "undefined": ""}


def mcnemar(first: FloatArray, second: FloatArray) -> Json:
    """Return McNemar's exact test of two systems (n,) that are right or wrong on the same items.

    Items with a tie between raters are left out. ``n`` counts pairs. ``only_first`` and ``only_second`` count pairs in
    which one system alone is right.
    """
    from statsmodels.stats.contingency_tables import mcnemar as test  # slow import, needed only in workers

    (a, b), left_out = _sure(first, second)
    table = [[int((a & b).sum()), int((a & ~b).sum())], [int((~a & b).sum()), int((~a & ~b).sum())]]
    facts: Json = {
        "n": len(a),
        "left_out": left_out,
        "only_first": table[0][1],
        "only_second": table[1][0],
        "sided": SIDED,
        "method": "exact",
    }
    if table[0][1] + table[1][0] == 0:
        return {**facts, "p": None, "undefined": NO_DIFFERENCE if len(a) else NONE_COMMON}
    return {**facts, "p": float(test(table, exact=True).pvalue), "undefined": ""}


def cochran(ratings: CriterionJudgements) -> Json:
    """Return Cochran's Q test of equality of all systems with a figure, on the items for which all have a text."""
    from statsmodels.stats.contingency_tables import cochrans_q  # slow import, needed only in workers

    rated = np.asarray(~np.isnan(ratings.cells).all(axis=0))
    chosen = ratings.cells[:, rated]
    facts: Json = {
        "systems": [s for s, has in zip(ratings.rows.systems, rated, strict=True) if has],
        "n": 0,
        "left_out": 0,
        "statistic": None,
        "df": None,
        "p": None,
        "undefined": ONE_SYSTEM,
    }
    if chosen.shape[1] < 2:
        return facts
    whole = chosen[~np.isnan(chosen).any(axis=1)]
    columns, left_out = _sure(*whole.T)
    table = np.column_stack(columns).astype(np.int64)
    facts |= {"n": len(table), "left_out": left_out}
    if not len(table):
        return {**facts, "undefined": NOT_ALL}
    if (table == table[:, :1]).all():
        return {**facts, "undefined": ALL_THE_SAME}
    test = cochrans_q(table)
    return {**facts, "statistic": float(test.statistic), "df": int(test.df), "p": float(test.pvalue), "undefined": ""}


def _sure(*columns: FloatArray) -> tuple[list[Any], int]:
    """Return the columns as right or wrong by rater majority, and the number of rows left out because of a tie."""
    split = np.zeros(len(columns[0]), dtype=np.bool_)
    for column in columns:
        split |= np.abs(column - 0.5) < 1e-9
    return [column[~split] > 0.5 for column in columns], int(split.sum())


def _differences(ratings: CriterionJudgements, i: int, j: int) -> tuple[FloatArray, Ints]:
    """Return the differences (n,) on the items that both systems have, and their sources."""
    difference = ratings.cells[:, i] - ratings.cells[:, j]
    both = ~np.isnan(difference)
    return difference[both], ratings.rows.source_of[both]


def _totals(difference: FloatArray, sources: Ints) -> FloatArray:
    return np.bincount(sources, weights=difference).astype(np.float64) if len(difference) else np.zeros(0)


def _means(difference: FloatArray, sources: Ints) -> FloatArray:
    """Return one difference per source: the mean over its items."""
    n = np.bincount(sources) if len(difference) else np.zeros(0)
    return np.asarray(_totals(difference, sources)[n > 0] / n[n > 0], dtype=np.float64)
