"""Properties that hold for any ratings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measures.agreement import (
    WEIGHTINGS,
    Ratings,
    all_agree,
    all_coefficients,
    all_pairs,
    bootstrap_intervals,
    category_agreement,
    cohen_bootstrap,
    conger,
    fleiss,
    gwet_ac,
    joint_table,
    percent_agreement,
    prepare,
    weight_matrix,
)
from measures.agreement.ratings import count_values, distinct_patterns

Codes = list[list[int]]


@st.composite
def rating_codes(draw: st.DrawFn, max_raters: int = 5) -> tuple[np.ndarray, int]:
    """(codes of shape (raters, items), -1 missing; q)."""
    q, r, n = draw(st.integers(2, 5)), draw(st.integers(2, max_raters)), draw(st.integers(1, 12))
    cell = st.integers(-1, q - 1)
    rows = draw(st.lists(st.lists(cell, min_size=n, max_size=n), min_size=r, max_size=r))
    return np.array(rows), q


def ratings_of(codes: np.ndarray, q: int) -> Ratings:
    return Ratings.from_codes(codes, [float(i + 1) for i in range(q)])


@given(rating_codes())
def test_unweighted_fleiss_never_exceeds_ac1_missing_ratings_included(given_codes: tuple[np.ndarray, int]) -> None:
    basis = prepare(ratings_of(*given_codes))
    ac1, kappa = gwet_ac(basis).value, fleiss(basis).value
    if ac1 is not None and kappa is not None:
        assert kappa <= ac1 + 1e-9


@given(rating_codes(), st.sampled_from(WEIGHTINGS), st.randoms(use_true_random=False))
def test_neither_the_order_of_items_nor_that_of_raters_matters(
    given_codes: tuple[np.ndarray, int], weights: str, random: object
) -> None:
    codes, q = given_codes
    rng = np.random.default_rng(abs(hash(random)) % 2**32)
    moved = codes[rng.permutation(codes.shape[0])][:, rng.permutation(codes.shape[1])]
    one = all_coefficients(prepare(ratings_of(codes, q), weights), "ordinal")  # type: ignore[arg-type]
    two = all_coefficients(prepare(ratings_of(moved, q), weights), "ordinal")  # type: ignore[arg-type]
    for name, result in one.items():
        assert result.undefined == two[name].undefined
        if result.value is not None:
            assert two[name].value == pytest.approx(result.value, abs=1e-9)
            if result.se is not None:
                assert two[name].se == pytest.approx(result.se, abs=1e-7)


@given(rating_codes())
def test_percent_agreement_and_all_agree_equal_a_count_by_hand(given_codes: tuple[np.ndarray, int]) -> None:
    codes, q = given_codes
    shares, unanimous = [], 0
    for item in codes.T:
        said = [v for v in item if v >= 0]
        pairs = [(a, b) for i, a in enumerate(said) for b in said[i + 1 :]]
        if pairs:
            shares.append(sum(a == b for a, b in pairs) / len(pairs))
            unanimous += len(set(said)) == 1
    basis = prepare(ratings_of(codes, q))
    assert all_agree(basis) == (unanimous, len(shares))
    if shares:
        assert percent_agreement(basis).value == pytest.approx(np.mean(shares))


@given(rating_codes(max_raters=2))
def test_conger_of_two_complete_raters_is_cohen(given_codes: tuple[np.ndarray, int]) -> None:
    codes, q = given_codes
    codes = np.where(codes < 0, 0, codes)
    ratings = ratings_of(codes, q)
    (pair,) = all_pairs(ratings)
    both = conger(prepare(ratings))
    assert both.undefined == pair.kappa.undefined
    if both.value is not None:
        assert both.value == pytest.approx(pair.kappa.value)
        if both.se and both.n_items > 1:
            n = both.n_items
            assert both.se * np.sqrt((n - 1) / n) == pytest.approx(pair.kappa.se, abs=1e-9)


@given(rating_codes())
def test_every_way_of_finding_patterns_gives_the_same_counts(given_codes: tuple[np.ndarray, int]) -> None:
    codes, q = given_codes
    plain = sorted(map(tuple, codes.T.tolist()))
    for scale_size in (q, 700, 30_000, 2_000_000):  # counted keys, sorted keys, and rows once the key overflows
        table = distinct_patterns(codes, scale_size)
        rows = [
            tuple(row)
            for row, m in zip(table.patterns.tolist(), table.multiplicity, strict=True)
            for _ in range(int(m))
        ]
        assert sorted(rows) == plain
        assert np.array_equal(table.patterns[table.pattern_of_item], codes.T)


@given(rating_codes())
def test_count_vectors_keep_every_item(given_codes: tuple[np.ndarray, int]) -> None:
    codes, q = given_codes
    counts, times = distinct_patterns(codes, q).count_vectors
    rebuilt = sorted(tuple(row) for row, m in zip(counts.tolist(), times, strict=True) for _ in range(int(m)))
    assert rebuilt == sorted(map(tuple, count_values(codes.T, q).tolist()))


@pytest.mark.parametrize("weights", WEIGHTINGS)
@pytest.mark.parametrize("numeric", [[1, 2, 3, 4], [0, 1, 5, 6], [4, 3, 2, 1]])
def test_weights_are_symmetric_between_0_and_1_and_1_only_on_the_diagonal(weights: str, numeric: list[float]) -> None:
    matrix = weight_matrix(weights, numeric)  # type: ignore[arg-type]
    assert np.allclose(matrix, matrix.T)
    assert np.allclose(np.diag(matrix), 1)
    assert matrix.min() >= -1e-12
    assert matrix[~np.eye(4, dtype=bool)].max() < 1


@given(rating_codes())
def test_specific_agreement_weighted_by_its_pairs_is_the_pooled_agreement(given_codes: tuple[np.ndarray, int]) -> None:
    codes, q = given_codes
    ratings = ratings_of(codes, q)
    counts = count_values(codes.T, q)
    size = counts.sum(axis=1, keepdims=True)
    possible = (counts * np.maximum(size - 1, 0)).sum(axis=0)
    assume(possible.sum() > 0)
    categories = category_agreement(ratings)
    total = sum(c.specific * p for c, p in zip(categories, possible, strict=True) if c.specific is not None)
    assert total / possible.sum() == pytest.approx((counts * (counts - 1)).sum() / possible.sum())
    assert sum(c.n_ratings for c in categories) == ratings.n_ratings


def noisy(seed: int, n: int, r: int = 3, q: int = 4, missing: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((r, n)) < 0.75, rng.integers(0, q, n), rng.integers(0, q, (r, n)))
    codes[rng.random((r, n)) < missing] = -1
    return codes


@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
@pytest.mark.parametrize("n", [60, 800])
def test_the_bootstrap_equals_resampling_items_and_recomputing(n: int, metric: str) -> None:
    codes = noisy(3, n)
    names = ["percent_agreement", "ac1", "fleiss", "brennan_prediger", "alpha", "conger"]
    drawn = bootstrap_intervals(
        prepare(ratings_of(codes, 4)),
        names,
        replicates=4000,
        seed=1,
        metric=metric,  # type: ignore[arg-type]
    )
    rng = np.random.default_rng(9)
    naive: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(1000):
        again = all_coefficients(prepare(ratings_of(codes[:, rng.integers(0, n, n)], 4)), metric)  # type: ignore[arg-type]
        for name in names:
            naive[name].append(again[name].value)  # type: ignore[arg-type]
    for name in names:
        ci, spread = drawn[name].ci, float(np.std(naive[name]))
        assert ci is not None
        assert ci == pytest.approx(tuple(np.quantile(naive[name], [0.025, 0.975])), abs=0.3 * spread), name


def test_the_bootstrap_repeats_with_its_seed_whatever_the_order_of_items() -> None:
    codes = noisy(4, 200)
    basis, moved = prepare(ratings_of(codes, 4)), prepare(ratings_of(codes[:, ::-1].copy(), 4))
    first = bootstrap_intervals(basis, ["ac1", "conger"], seed=5)
    assert first == bootstrap_intervals(moved, ["ac1", "conger"], seed=5)
    assert first != bootstrap_intervals(basis, ["ac1", "conger"], seed=6)


def test_the_bootstrap_of_cohen_covers_its_asymptotic_interval() -> None:
    codes = noisy(8, 500, r=2, missing=0)
    ratings = ratings_of(codes, 4)
    (pair,) = all_pairs(ratings)
    drawn = cohen_bootstrap(joint_table(ratings, 0, 1), np.eye(4), seed=2)
    assert drawn.ci == pytest.approx(pair.kappa.ci, abs=0.01)
