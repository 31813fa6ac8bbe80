"""Clustered intervals compared with R, textbooks, and the full formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint

from measures.clustered import degrees_of_freedom, jackknife_se, share_interval, t_quantile, wilson_over_clusters


@given(sizes=st.lists(st.integers(1, 60), min_size=2, max_size=25))
def test_degrees_of_freedom_are_satterthwaites_of_the_quadratic_form(sizes: list[int]) -> None:
    """(tr M)^2 / tr M^2 with M = A^1/2 (I - h 1') W (I - 1 h') A^1/2, matrix by matrix."""
    m = np.array(sizes, dtype=float)
    h, g = m / m.sum(), len(m)
    residual = np.eye(g) - np.outer(h, np.ones(g))
    root = np.diag(1 / (1 - h))
    form = root @ residual @ np.diag(m**2) @ residual.T @ root
    assert degrees_of_freedom(sizes, alike=True) == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form), rel=1e-9)
    assert degrees_of_freedom(sizes, alike=True) == degrees_of_freedom(sizes[::-1], alike=True)


def test_clusters_of_one_size_leave_their_number_less_one_and_a_giant_leaves_little() -> None:
    assert degrees_of_freedom([4] * 20, alike=True) == pytest.approx(19)
    assert degrees_of_freedom([1, 1], alike=True) == pytest.approx(1)
    assert 1 <= degrees_of_freedom([1000, 1, 1, 1, 1], alike=True) < 1.1


def test_the_jackknife_of_a_mean_of_single_items_is_its_textbook_standard_error() -> None:
    values = np.random.default_rng(2).normal(size=17)
    without = (values.sum() - values) / 16
    assert jackknife_se(values.mean(), without) == pytest.approx(values.std(ddof=1) / math.sqrt(17))


def test_t_quantiles_are_scipys_also_between_whole_degrees() -> None:
    for level, df in ((0.95, 11), (0.9, 3.4), (0.99, 1.0)):
        assert t_quantile(level, df) == pytest.approx(stats.t.ppf(0.5 + level / 2, df))
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(1, 5)


def test_a_share_of_single_items_has_clopper_and_pearsons_interval() -> None:
    """Items as single clusters with binomial variance; Clopper-Pearson by scipy."""
    for hits, n in ((1, 12), (6, 12), (81, 263)):
        share = hits / n
        found = share_interval(share, math.sqrt(share * (1 - share) / n), n, n)
        assert found == pytest.approx(tuple(stats.binomtest(hits, n).proportion_ci(method="exact")), abs=1e-9)


def test_a_share_is_that_of_korn_and_graubard() -> None:
    """90 of 120 items of 15 clusters, SE .06: by hand 52.08 items, times (t(119) / t(14))^2, and scipy's beta."""
    effective = 0.75 * 0.25 / 0.06**2 * (stats.t.ppf(0.975, 119) / stats.t.ppf(0.975, 14)) ** 2
    assert effective == pytest.approx(44.392, abs=1e-3)
    low = stats.beta.ppf(0.025, 0.75 * effective, 0.25 * effective + 1)
    high = stats.beta.ppf(0.975, 0.75 * effective + 1, 0.25 * effective)
    assert share_interval(0.75, 0.06, 120, 15) == pytest.approx((low, high))


def test_wilsons_interval_on_the_effective_number_is_that_of_statsmodels() -> None:
    """For independent items it is Wilson's interval; it stays within 0..1, and at 1 it is n / (n + z^2)."""
    for share, se, n, clusters in ((0.75, 0.06, 120, 15), (0.5, 0.5 / math.sqrt(12), 12, 12), (1.0, 0.0, 12, 9)):
        worth = 9 if share == 1 else share * (1 - share) / se**2
        worth *= (stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, clusters - 1)) ** 2 if share < 1 else 1
        theirs = proportion_confint(share * worth, worth, method="wilson")
        assert wilson_over_clusters(share, se, n, clusters) == pytest.approx(theirs)
    assert wilson_over_clusters(1.0, 0.0, 12, 9) == pytest.approx((9 / (9 + stats.norm.ppf(0.975) ** 2), 1.0))
    assert wilson_over_clusters(0.0, 0.0, 12, 9)[0] == 0.0


def test_all_right_and_none_right_leave_an_interval_as_wide_as_the_clusters_are_few() -> None:
    """Rule of three: with g clusters the lower bound is .025^(1/g)."""
    assert share_interval(1.0, 0.0, 12, 12) == pytest.approx((0.025 ** (1 / 12), 1.0))
    assert share_interval(1.0, 0.0, 12, 3) == pytest.approx((0.025 ** (1 / 3), 1.0))
    assert share_interval(0.0, 0.0, 12, 3) == pytest.approx((0.0, 1 - 0.025 ** (1 / 3)))


def test_equal_shares_in_all_clusters_are_worth_no_more_than_all_their_items() -> None:
    """Three clusters of four with one miss each: zero variance must not give infinite weight to 12 items."""
    assert share_interval(0.75, 0.0, 12, 3) == share_interval(0.75, 1e-9, 12, 3)
    low, high = share_interval(0.75, 0.0, 12, 3)
    assert low < stats.binomtest(9, 12).proportion_ci().low < 0.75 < stats.binomtest(9, 12).proportion_ci().high < high


@pytest.mark.parametrize("given_", [(1.1, 0.1, 10, 5), (0.5, 0.1, 4, 5), (0.5, 0.1, 10, 1)])
def test_invalid_clustered_shares_are_refused(given_: tuple[float, float, int, int]) -> None:
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        share_interval(*given_)
