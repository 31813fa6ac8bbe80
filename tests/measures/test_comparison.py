"""Two systems on common units, compared with SciPy, sums by hand and the closure of Bonferroni's test."""

from __future__ import annotations

import json
import math
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from measures.comparison import COUNTED, DRAWN, NONE_COMMON, Comparison, compared, holm, sign_flip_p
from measures.means import FROM_0_TO_1, clustered_mean


@pytest.mark.parametrize("k", [2, 3, 5, 6, 9, 12])
def test_counted_swaps_are_scipys_permutations_of_pairs(k: int) -> None:
    """Rounded figures, so that sums tie."""
    totals = np.round(np.random.default_rng(k).normal(0.4, 1, k), 1)
    whole = stats.permutation_test(
        (totals,),
        lambda x, axis=-1: np.abs(np.sum(x, axis=axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert sign_flip_p(totals.tolist())[0] == pytest.approx(whole.pvalue, abs=1e-12)


@pytest.mark.parametrize(
    ("totals", "p", "differing", "least"),
    [
        ([3.0, 1.0, 1.0], 1 / 4, 3, 1 / 4),  # |sum| 5, 3, 3, 1
        ([3.0, -1.0, 1.0], 3 / 4, 3, 1 / 4),  # 3 is reached by three of the four
        ([0.0, 3.0, 0.0, 1.0], 1 / 2, 2, 1 / 2),  # equal values carry no information
        ([0.1 + 0.2 - 0.3, 1.0], 1.0, 1, 1.0),  # equal up to rounding
        ([], 1.0, 0, 1.0),
        ([0.0, 0.0], 1.0, 0, 1.0),
    ],
)
def test_p_values_of_small_samples_equal_those_by_hand(
    totals: list[float], p: float, differing: int, least: float
) -> None:
    assert sign_flip_p(totals) == (p, differing, least)


@pytest.mark.parametrize(("k", "p", "possible"), [(5, 0.0625, False), (6, 0.03125, True)])
def test_with_fewer_than_six_reviews_no_p_below_5_per_cent_is_possible(k: int, p: float, possible: bool) -> None:
    """One system is always better, which is the strongest possible evidence."""
    found = compared(dict.fromkeys(range(k), 1.0), dict.fromkeys(range(k), 0.0), {n: n for n in range(k)})
    assert (found.p, found.least, found.can_be_small) == (p, p, possible)


def test_drawn_swaps_come_near_to_the_counted_ones_and_never_to_0() -> None:
    """With integers the sums of all 2 ** 30 swaps can be counted by dynamic programming."""
    random = Random(0)
    totals = [random.choice((-3, -2, -1, 1, 2, 3, 4)) for _ in range(30)]
    ways = {0: 1}
    for total in totals:
        ways = {s: ways.get(s - total, 0) + ways.get(s + total, 0) for way in ways for s in (way - total, way + total)}
    exact = sum(n for s, n in ways.items() if abs(s) >= abs(sum(totals))) / 2 ** len(totals)
    assert 0.01 < exact < 0.99
    p, differing, least = sign_flip_p([float(total) for total in totals])
    assert abs(p - exact) < 4 * math.sqrt(exact * (1 - exact) / DRAWN)
    assert (differing, least) == (30, 1 / (DRAWN + 1))
    assert sign_flip_p([1.0] * 40)[0] == 1 / (DRAWN + 1)


def test_counted_and_drawn_permutations_give_similar_p_values() -> None:
    totals = np.random.default_rng(7).normal(0.3, 1, COUNTED).tolist()
    counted, drawn = sign_flip_p(totals)[0], sign_flip_p([*totals, 1e-9])[0]
    assert counted != drawn
    assert abs(counted - drawn) < 4 * math.sqrt(counted * (1 - counted) / DRAWN)


def test_only_common_units_count_and_reviews_are_swapped_whole() -> None:
    first = {"a": 0.5, "b": 0.75, "c": 1.0, "only first": 9.0}
    second = {"b": 0.25, "a": 0.25, "c": 0.75, "only second": -9.0}
    found = compared(first, second, {"a": 1, "b": 1, "c": 2, "only first": 3})
    assert (found.first, found.second) == (0.75, 5 / 12)
    assert found.difference.value == pytest.approx(1 / 3)
    assert (found.difference.n, found.difference.clusters, found.differing) == (3, 2, 2)
    assert found.p == 1 / 2, "two reviews: both swapped or neither, or one of them"
    apart = compared(first, second, {"a": 1, "b": 2, "c": 3})
    assert apart.p == 1 / 4


@pytest.mark.usefixtures("former_rule")
def test_the_interval_is_that_of_the_mean_of_differences() -> None:
    random = Random(1)
    first, second = ({n: random.random() for n in range(40)} for _ in range(2))
    reviews = {n: n // 3 for n in range(40)}
    found = compared(first, second, reviews)
    assert found.difference == clustered_mean([first[n] - second[n] for n in range(40)], list(reviews.values()))
    # No share is 1.2 above another one.
    wide = compared({0: 1.0, 1: 1.0, 2: 0.4}, {0: 0.0, 1: 0.1, 2: 0.3}, {0: 0, 1: 1, 2: 2}, FROM_0_TO_1)
    assert wide.difference.ci is not None
    assert wide.difference.ci[1] == 1.0


@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=20), st.randoms()
)
def test_orders_and_names_change_nothing_and_the_other_way_round_is_turned(
    rows: list[tuple[int, float, float]], random: Random
) -> None:
    def made(order: list[int], name: dict[int, int], turned: bool = False) -> Comparison:
        first, second = ({n: rows[n][i] for n in order} for i in ((2, 1) if turned else (1, 2)))
        return compared(first, second, {n: name[rows[n][0]] for n in order})

    names, order = list(range(6)), list(range(len(rows)))
    found = made(order, dict(enumerate(names)))
    random.shuffle(names)
    random.shuffle(order)
    assert made(order, dict(enumerate(names))) == found
    other, turned = made(order, dict(enumerate(names)), turned=True), found.turned()
    assert (other.first, other.second, other.p, other.least) == (turned.first, turned.second, turned.p, turned.least)
    assert other.difference.value == pytest.approx(turned.difference.value)
    assert (other.difference.ci is None) == (turned.difference.ci is None)
    if other.difference.ci:
        assert other.difference.ci == pytest.approx(turned.difference.ci)
    assert turned.turned() == found
    assert Comparison.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_without_a_common_unit_nothing_is_compared() -> None:
    found = compared({1: 1.0}, {2: 1.0}, {1: 1})
    assert (found.first, found.p, found.difference.value, found.difference.undefined) == (None, None, None, NONE_COMMON)
    assert Comparison.from_json(json.loads(json.dumps(found.as_json()))) == found == found.turned()


def test_holms_p_is_that_of_r() -> None:
    """``p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")``, and values where it is level or limited to 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_undefined_comparisons_have_no_holm_p_and_are_not_counted() -> None:
    assert holm([0.01, None, 0.03, None]) == [0.02, None, 0.03, None]
    assert holm([None]) == [None]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holms_p_is_the_closure_of_bonferronis(ps: list[float]) -> None:
    """The largest Bonferroni p of all sets of hypotheses that contain one (Marcus, Peritz & Gabriel 1976)."""
    every = [chosen for size in range(1, len(ps) + 1) for chosen in combinations(range(len(ps)), size)]
    closed = [
        max(min(1.0, len(chosen) * min(ps[j] for j in chosen)) for chosen in every if i in chosen)
        for i in range(len(ps))
    ]
    assert holm(ps) == pytest.approx(closed)
