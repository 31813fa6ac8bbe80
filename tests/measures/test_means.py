"""Means with cluster-bootstrap intervals."""

import numpy as np
import pytest

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


def test_the_order_of_items_does_not_matter() -> None:
    values, clusters = [1.0, 5.0, 2.0, 8.0, 3.0], [3, 1, 3, 2, 1]
    order = [4, 2, 0, 3, 1]
    one = clustered_mean(values, clusters)
    other = clustered_mean([values[i] for i in order], [clusters[i] for i in order])
    assert one.ci == pytest.approx(other.ci)
    assert one.value == pytest.approx(other.value)


def test_a_value_without_a_cluster_is_an_error() -> None:
    with pytest.raises(ValueError, match="cluster"):
        clustered_mean([1.0], [])


def test_figures_of_the_same_items_get_the_intervals_that_each_gets_alone() -> None:
    rng = np.random.default_rng(1)
    figures = rng.normal(size=(3, 40)).tolist()
    clusters = rng.integers(9, size=40).tolist()
    alone = [clustered_mean(values, clusters) for values in figures]
    for mean, other in zip(clustered_means(figures, clusters), alone, strict=True):
        assert (mean.n, mean.clusters) == (other.n, other.clusters)
        assert mean.value == pytest.approx(other.value)
        assert mean.sd == pytest.approx(other.sd)
        assert mean.ci is not None
        assert np.allclose(mean.ci, other.ci or ())
