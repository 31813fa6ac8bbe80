"""Clustered means and shares with their intervals."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from measures.clustered import ALIKE, TOO_FEW
from measures.means import FROM_0, NO_ITEMS, Mean, clustered_mean, clustered_means, clustered_share


def test_the_mean_of_no_items_is_undefined_with_its_reason() -> None:
    for mean in (clustered_mean([], []), clustered_share([], [])):
        assert (mean.value, mean.n, mean.ci, mean.undefined) == (None, 0, None, NO_ITEMS)
        assert not mean.few


@pytest.mark.usefixtures("former_rule")
@pytest.mark.parametrize("clusters", [[7, 7, 7], [7, 7, 8]])
def test_fewer_than_three_clusters_have_a_mean_but_ci_reason(clusters: list[int]) -> None:
    mean = clustered_mean([1.0, 2.0, 6.0], clusters)
    assert (mean.value, mean.n, mean.clusters, mean.ci) == (3.0, 3, len(set(clusters)), None)
    assert mean.ci_reason == clustered_share([True, True, False], clusters).ci_reason == TOO_FEW
    assert mean.sd == pytest.approx(np.std([1, 2, 6], ddof=1))


@pytest.mark.usefixtures("former_rule")
def test_single_items_have_students_interval() -> None:
    values = np.random.default_rng(3).normal(size=12)
    half = stats.t.ppf(0.975, 11) * values.std(ddof=1) / math.sqrt(12)
    assert clustered_mean(values.tolist(), range(12)).ci == pytest.approx((values.mean() - half, values.mean() + half))


@pytest.mark.usefixtures("former_rule")
def test_the_jackknife_over_clusters_equals_the_hand_computation() -> None:
    """(0, 2), (3, 5), (8, 0), all of one size: the means without one are 4, 2.5 and 2.5, the mean is 3, and the sum
    of squares 1.5 is multiplied by 2/3; t(2) = 4.3027."""
    mean = clustered_mean([0.0, 2.0, 3.0, 5.0, 8.0, 0.0], [1, 1, 2, 2, 3, 3])
    assert mean.value == 3.0
    assert mean.ci == pytest.approx((3 - 4.302653, 3 + 4.302653), abs=1e-6)
    assert clustered_mean([0.0, 2.0, 3.0, 5.0, 8.0, 0.0], [1, 1, 2, 2, 3, 3], bounds=FROM_0).ci == pytest.approx(
        (0, 3 + 4.302653), abs=1e-6
    )


def test_similar_items_within_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=30), 10)
    apart = clustered_mean(values.tolist(), range(300)).ci
    together = clustered_mean(values.tolist(), np.repeat(range(30), 10).tolist()).ci
    assert apart is not None
    assert together is not None
    assert together[1] - together[0] > 2 * (apart[1] - apart[0])
    # 30 means with variance s^2 give Student's interval.
    expected = stats.t.ppf(0.975, 29) * values[::10].std(ddof=1) / np.sqrt(30)
    assert (together[1] - together[0]) / 2 == pytest.approx(expected)


@pytest.mark.usefixtures("former_rule")
@pytest.mark.parametrize("clusters", [3, 5, 20])
def test_intervals_of_few_clusters_have_about_their_nominal_coverage(clusters: int) -> None:
    """The cluster bootstrap's percentiles covered only 73%, 81% and 92%."""
    rng = np.random.default_rng(clusters)
    held = 0
    for _ in range(600):
        sizes = 1 + rng.poisson(3, clusters)
        place = np.repeat(range(clusters), sizes)
        values = rng.normal(0.2, 1, clusters)[place] + rng.normal(size=len(place))
        ci = clustered_mean(values.tolist(), place.tolist()).ci
        held += ci is not None and ci[0] <= 0.2 <= ci[1]
    assert held / 600 >= 0.93


@pytest.mark.usefixtures("former_rule")
@pytest.mark.parametrize(("clusters", "share"), [(3, 0.95), (12, 0.95), (30, 0.99), (20, 0.5)])
def test_intervals_of_shares_have_their_nominal_coverage(clusters: int, share: float) -> None:
    rng = np.random.default_rng(clusters)
    held = 0
    for _ in range(600):
        place = np.repeat(range(clusters), 1 + rng.poisson(3, clusters))
        within = rng.beta(4 * share, 4 * (1 - share), clusters)  # items of one cluster correlate by 1 / 5
        ci = clustered_share((rng.random(len(place)) < within[place]).tolist(), place.tolist()).ci
        held += ci is not None and ci[0] <= share <= ci[1]
    assert held / 600 >= 0.93


ITEMS = st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(0, 4)), min_size=1, max_size=15)


@given(items=ITEMS, order=st.randoms(use_true_random=False))
def test_order_of_items_and_names_of_clusters_change_not_one_bit(items: list[tuple[float, int]], order: Random) -> None:
    mixed = [(value, 7 * (9 - cluster)) for value, cluster in items]
    order.shuffle(mixed)
    one, other = ([*zip(*each, strict=True)] for each in (items, mixed))
    assert clustered_mean(*one) == clustered_mean(*other)
    hits, strange = ([value > 0 for value in values] for values, _ in (one, other))
    assert clustered_share(hits, one[1]) == clustered_share(strange, other[1])


@given(items=ITEMS)
def test_mean_and_spread_are_the_textbooks_and_the_interval_holds_the_mean(items: list[tuple[float, int]]) -> None:
    values, clusters = zip(*items, strict=True)
    mean = clustered_mean(values, clusters)
    assert mean.value == pytest.approx(math.fsum(values) / len(values), abs=1e-12)
    assert (mean.n, mean.clusters) == (len(values), len(set(clusters)))
    assert (mean.sd is None) == (len(values) < 2)
    if mean.sd is not None:
        assert mean.sd == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-9)
    assert (mean.ci is None) == bool(mean.ci_reason)
    if mean.ci is not None and mean.value is not None:
        assert mean.clusters >= 3
        assert mean.ci[0] < mean.value < mean.ci[1]


@pytest.mark.usefixtures("former_rule")
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1.0, -2.7])
def test_equal_items_have_that_mean_and_a_ci_reason(value: float) -> None:
    mean = clustered_mean([value] * 50, [i % 7 for i in range(50)])
    assert mean.value == pytest.approx(value)
    assert (mean.ci, mean.ci_reason) == (None, ALIKE)
    assert mean.sd == pytest.approx(0, abs=1e-15)


@pytest.mark.usefixtures("former_rule")
def test_perfect_scores_still_have_an_interval() -> None:
    mean = clustered_share([True] * 12, range(12))
    assert (mean.value, mean.n, mean.clusters) == (1.0, 12, 12)
    assert mean.ci == pytest.approx((0.7353515, 1.0))


def test_a_value_without_a_cluster_is_an_error() -> None:
    with pytest.raises(ValueError, match="cluster"):
        clustered_mean([1.0], [])
    with pytest.raises(ValueError, match="cluster"):
        clustered_share([True], [])


def test_figures_of_the_same_items_get_to_the_last_bit_what_each_gets_alone() -> None:
    rng = np.random.default_rng(1)
    for size, count in ((40, 9), (400, 230)):
        figures = rng.normal(size=(7, size)).tolist()
        clusters = rng.integers(count, size=size).tolist()
        alone = [clustered_mean(values, clusters) for values in figures]
        assert clustered_means(figures, clusters) == alone
        assert clustered_means(figures[3:], clusters) == alone[3:]


@pytest.mark.usefixtures("former_rule")
def test_few_clusters_are_known_by_name_and_a_stored_mean_comes_back_whole() -> None:
    rng = np.random.default_rng(4)
    for clusters, few in ((29, True), (30, False)):
        mean = clustered_mean(rng.normal(size=90).tolist(), [i % clusters for i in range(90)])
        assert mean.few is few
        assert Mean.from_json(mean.as_json()) == mean
    assert clustered_mean([1.0, 1.0, 1.0], range(3)).as_json()["ci_reason"] == ALIKE
