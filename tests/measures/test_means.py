"""Means with cluster-bootstrap intervals."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measures.means import NO_ITEMS, clustered_mean, clustered_means


def test_nothing_has_no_mean_and_says_so() -> None:
    mean = clustered_mean([], [])
    assert (mean.value, mean.n, mean.ci, mean.undefined) == (None, 0, None, NO_ITEMS)


def test_one_cluster_has_a_mean_but_no_interval() -> None:
    mean = clustered_mean([1.0, 2.0, 6.0], [7, 7, 7])
    assert (mean.value, mean.n, mean.clusters, mean.ci) == (3.0, 3, 1, None)
    assert mean.sd == pytest.approx(np.std([1, 2, 6], ddof=1))


def test_the_interval_is_that_of_drawing_whole_clusters() -> None:
    """Two clusters: a replicate is the one's mean (1/4), the other's (1/4) or that of all (1/2), so that the central
    95 % reach from the one to the other."""
    mean = clustered_mean([0.0, 0.0, 0.0, 4.0], [1, 1, 1, 2])
    assert (mean.value, mean.ci) == (1.0, (0.0, 4.0))


def test_items_alike_within_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=30), 10)
    apart = clustered_mean(values.tolist(), range(300)).ci
    together = clustered_mean(values.tolist(), np.repeat(range(30), 10).tolist()).ci
    assert apart is not None
    assert together is not None
    assert together[1] - together[0] > 2 * (apart[1] - apart[0])
    # 30 means of variance s^2: the half-width is near 1.96 s / sqrt(30).
    expected = 1.96 * values[::10].std(ddof=1) / np.sqrt(30)
    assert (together[1] - together[0]) / 2 == pytest.approx(expected, rel=0.15)


def test_an_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    held = 0
    for seed in range(200):
        values = np.repeat(rng.normal(0.2, 1, size=60), 3) + rng.normal(size=180)
        ci = clustered_mean(values.tolist(), np.repeat(range(60), 3).tolist(), replicates=300, seed=seed, level=0.9).ci
        held += ci is not None and ci[0] <= 0.2 <= ci[1]
    assert 0.83 <= held / 200 <= 0.96


ITEMS = st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(0, 4)), min_size=1, max_size=15)


@settings(max_examples=60, deadline=None)
@given(items=ITEMS, order=st.randoms(use_true_random=False))
def test_order_of_items_and_names_of_clusters_change_not_one_bit(items: list[tuple[float, int]], order: Random) -> None:
    mixed = [(value, 7 * (9 - cluster)) for value, cluster in items]
    order.shuffle(mixed)
    one, other = ([*zip(*each, strict=True)] for each in (items, mixed))
    assert clustered_mean(*one, replicates=40) == clustered_mean(*other, replicates=40)


@settings(max_examples=60, deadline=None)
@given(items=ITEMS)
def test_mean_and_spread_are_the_textbooks_and_the_interval_lies_within_the_values(
    items: list[tuple[float, int]],
) -> None:
    values, clusters = zip(*items, strict=True)
    mean = clustered_mean(values, clusters, replicates=40)
    assert mean.value == pytest.approx(math.fsum(values) / len(values), abs=1e-12)
    assert (mean.n, mean.clusters) == (len(values), len(set(clusters)))
    assert (mean.sd is None) == (len(values) < 2)
    if mean.sd is not None:
        assert mean.sd == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-9)
    assert (mean.ci is None) == (len(set(clusters)) < 2)
    if mean.ci is not None:
        assert min(values) - 1e-9 <= mean.ci[0] <= mean.ci[1] <= max(values) + 1e-9


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1.0, -2.7])
def test_of_equal_items_the_mean_is_that_value_and_the_interval_has_no_width(value: float) -> None:
    mean = clustered_mean([value] * 50, [i % 7 for i in range(50)], replicates=40)
    assert mean.value == pytest.approx(value)
    assert mean.ci == pytest.approx((value, value))
    assert mean.sd == pytest.approx(0, abs=1e-15)


def test_a_value_without_a_cluster_is_an_error() -> None:
    with pytest.raises(ValueError, match="cluster"):
        clustered_mean([1.0], [])


def test_figures_of_the_same_items_get_to_the_last_bit_what_each_gets_alone() -> None:
    rng = np.random.default_rng(1)
    for size, count in ((40, 9), (400, 230)):
        figures = rng.normal(size=(7, size)).tolist()
        clusters = rng.integers(count, size=size).tolist()
        alone = [clustered_mean(values, clusters) for values in figures]
        assert clustered_means(figures, clusters) == alone
        assert clustered_means(figures[3:], clusters) == alone[3:]
