"""Clustered intervals: leaving one review out equals recomputing, and intervals cover if units are alike."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from measures.agreement import (
    METRICS,
    Clusters,
    Ratings,
    RatingsError,
    against_gold,
    all_coefficients,
    all_pairs,
    bootstrap_over_reviews,
    items_needed,
    measure_report,
    over_reviews,
    prepare,
)
from measures.agreement.alpha import Metric
from measures.agreement.clusters import PERFECT, UNDEFINED
from measures.clustered import TOO_FEW, share_interval

SCALE = ["a", "b", "c"]


def round_of(seed: int, reviews: int, raters: int = 3, missing: float = 0.1) -> tuple[Ratings, dict[int, int]]:
    """Reviews of one to six items, some of them hard: (ratings, the review of each item)."""
    rng = np.random.default_rng(seed)
    place = np.repeat(range(reviews), rng.integers(1, 7, reviews))
    hard, truth = rng.beta(1, 3, reviews)[place], rng.integers(0, 3, len(place))
    codes = np.where(rng.random((raters, len(place))) < hard, rng.integers(0, 3, (raters, len(place))), truth)
    codes[rng.random(codes.shape) < missing] = -1
    ratings = Ratings.from_codes(codes.astype(np.int8), SCALE)
    return ratings, {item: int(place[item]) for item in ratings.items if isinstance(item, int)}


def without(ratings: Ratings, review_of: dict[int, int], review: int) -> Ratings:
    kept = [i for i, item in enumerate(ratings.items) if review_of[item] != review]  # type: ignore[index]
    return Ratings.from_codes(ratings.codes[:, kept], SCALE)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), metric=st.sampled_from(METRICS), weights=st.sampled_from(["identity", "quadratic"]))
def test_the_standard_error_is_that_of_the_delete_one_review_jackknife(seed: int, metric: Metric, weights: str) -> None:
    ratings, review_of = round_of(seed, 8)
    basis = prepare(ratings, weights)  # type: ignore[arg-type]
    found = all_coefficients(basis, metric)
    clusters = Clusters.of(ratings, review_of)
    over = over_reviews(basis, found, clusters, metric)
    anew = [
        all_coefficients(prepare(without(ratings, review_of, review), weights), metric)  # type: ignore[arg-type]
        for review in dict.fromkeys(review_of.values())
    ]
    for name, result in found.items():
        if result.value is None:
            assert name not in over
            continue
        values = [each[name].value for each in anew]
        if None in values:
            assert over[name].undefined == UNDEFINED
        elif over[name].se is not None:
            g = len(values)
            expected = math.sqrt((g - 1) / g * sum((v - result.value) ** 2 for v in values if v is not None))
            assert over[name].se == pytest.approx(expected, abs=1e-9), name


@pytest.mark.usefixtures("former_rule")
def test_reviews_of_equal_size_have_students_interval_on_the_log_scale() -> None:
    """Ten reviews of two items and two raters: by hand from the standard error, with t(9)."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2, 20)).astype(np.int8)
    codes[1, :14] = codes[0, :14]
    ratings = Ratings.from_codes(codes, ["a", "b"])
    basis = prepare(ratings)
    found = all_coefficients(basis)
    over = over_reviews(basis, found, Clusters.of(ratings, {i: i // 2 for i in range(20)}))
    for name in ("ac1", "fleiss", "conger", "alpha", "brennan_prediger"):
        value, se, ci = found[name].value, over[name].se, over[name].ci
        assert value is not None
        assert se is not None
        assert ci is not None
        reach = math.exp(stats.t.ppf(0.975, 9) * se / (1 - value))
        assert ci == pytest.approx((1 - (1 - value) * reach, 1 - (1 - value) / reach))
        assert ci[0] < value < ci[1] < 1
    percent = found["percent_agreement"].value
    assert percent is not None
    assert over["percent_agreement"].ci == share_interval(percent, over["percent_agreement"].se or 0, 20, 10)


@pytest.mark.parametrize("name", ["percent_agreement", "ac1", "fleiss", "alpha"])
def test_only_clustered_intervals_cover_with_hard_and_easy_reviews(name: str) -> None:
    """20 reviews; the true values are those of 40,000 reviews."""

    def drawn(rng: np.random.Generator, reviews: int) -> tuple[Ratings, dict[int, int]]:
        place = np.repeat(range(reviews), 6)
        hard, truth = rng.beta(0.9, 2.1, reviews)[place], rng.integers(0, 3, len(place))
        codes = np.where(rng.random((3, len(place))) < hard, rng.integers(0, 3, (3, len(place))), truth)
        return Ratings.from_codes(codes.astype(np.int8), SCALE), dict(enumerate(place.tolist()))

    rng = np.random.default_rng(17)
    truth = all_coefficients(prepare(drawn(rng, 40_000)[0]))[name].value
    assert truth is not None
    held = {"units": 0, "reviews": 0}
    for _ in range(300):
        ratings, review_of = drawn(rng, 20)
        basis = prepare(ratings)
        found = all_coefficients(basis)
        over_them = over_reviews(basis, found, Clusters.of(ratings, review_of))
        for over, ci in (("units", found[name].ci), ("reviews", over_them[name].ci)):
            held[over] += ci is not None and ci[0] <= truth <= ci[1]
    assert held["units"] / 300 < 0.88
    assert held["reviews"] / 300 >= 0.92


@pytest.mark.usefixtures("former_rule")
def test_the_report_shows_both_and_says_which_to_cite() -> None:
    ratings, review_of = round_of(1, 15)
    report = json.loads(json.dumps(measure_report("x", ratings, bootstrap=200, review_of=review_of).as_json()))
    assert (report["cite"], report["reviews"], report["bootstrap"]["draws"]) == ("reviews", 15, "reviews")
    ac1 = report["coefficients"]["ac1"]
    assert ac1["reviews"]["ci"] != ac1["ci"]
    assert ac1["reviews"]["undefined"] is None
    assert report["coefficients"]["cohen_pairs"][0]["reviews"]["ci"]
    assert report["categories"][0]["one_vs_rest"]["ac1"]["reviews"]["ci"]
    assert any("below 20 they may be too narrow" in warning for warning in report["warnings"])


@pytest.mark.usefixtures("former_rule")
def test_single_item_reviews_have_one_interval_over_units() -> None:
    ratings, review_of = round_of(1, 15)
    apart = measure_report("x", ratings, bootstrap=50, review_of={item: item for item in review_of})
    plain = measure_report("x", ratings, bootstrap=50)
    assert (apart.cite, apart.reviews, plain.cite, plain.reviews) == ("units", ratings.n_items, "units", None)
    assert apart.coefficients == plain.coefficients
    assert apart.as_json()["warnings"] == plain.as_json()["warnings"]


@pytest.mark.usefixtures("former_rule")
def test_two_reviews_have_no_interval_and_a_reason() -> None:
    ratings, review_of = round_of(3, 2)
    report = measure_report("x", ratings, bootstrap=0, review_of=review_of)
    for result in report.coefficients.values():
        assert result.reviews is not None
        assert (result.reviews.ci, result.reviews.undefined) == (None, TOO_FEW)
    assert any("no interval to cite" in warning for warning in report.warnings)


@pytest.mark.usefixtures("former_rule")
def test_perfect_agreement_bounds_the_percentage_by_the_reviews_and_no_coefficient() -> None:
    codes = np.tile(np.array([0, 1, 0, 2, 1, 1], dtype=np.int8), (3, 2))
    ratings = Ratings.from_codes(codes, SCALE)
    report = measure_report("x", ratings, bootstrap=0, review_of={i: i // 2 for i in range(12)})
    percent, ac1 = report.coefficients["percent_agreement"].reviews, report.coefficients["ac1"].reviews
    assert percent is not None
    assert ac1 is not None
    assert percent.ci == pytest.approx((0.025 ** (1 / 6), 1.0))
    assert (ac1.ci, ac1.undefined) == (None, PERFECT)


@pytest.mark.usefixtures("former_rule")
def test_figures_that_one_review_defines_have_a_ci_reason() -> None:
    """Without the only review with the value "b", kappa and alpha have no variation."""
    ratings = Ratings.from_codes(np.array([[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0]], dtype=np.int8), ["a", "b"])
    report = measure_report("x", ratings, bootstrap=0, review_of={i: i // 2 for i in range(6)})
    for name, why in (("fleiss", UNDEFINED), ("alpha", UNDEFINED), ("ac1", None)):
        over = report.coefficients[name].reviews
        assert over is not None
        assert over.undefined == why


def test_the_bootstrap_over_reviews_repeats_with_its_seed_whatever_reviews_are_called() -> None:
    ratings, review_of = round_of(5, 12)
    basis = prepare(ratings)
    names = ["ac1", "alpha", "conger"]
    first = bootstrap_over_reviews(basis, names, Clusters.of(ratings, review_of), replicates=300, seed=4)
    renamed = Clusters.of(ratings, {item: f"review {99 - review}" for item, review in review_of.items()})
    assert first == bootstrap_over_reviews(basis, names, renamed, replicates=300, seed=4)
    assert first != bootstrap_over_reviews(basis, names, renamed, replicates=300, seed=5)
    with pytest.raises(ValueError, match="two replicates"):
        bootstrap_over_reviews(basis, names, renamed, replicates=1, seed=0)


def test_cohens_kappa_leaves_out_reviews_too() -> None:
    ratings, review_of = round_of(7, 9, missing=0)
    [pair, *_] = all_pairs(ratings, clusters=Clusters.of(ratings, review_of))
    assert pair.kappa.reviews is not None
    assert pair.kappa.value is not None
    anew = [all_pairs(without(ratings, review_of, review))[0].kappa.value for review in range(9)]
    se = math.sqrt(8 / 9 * sum((v - pair.kappa.value) ** 2 for v in anew if v is not None))
    assert pair.kappa.reviews.se == pytest.approx(se)


@pytest.mark.usefixtures("former_rule")
def test_a_person_who_is_always_right_has_an_interval_of_so_many_reviews() -> None:
    """12 of 12 in six reviews."""
    ratings = Ratings.from_codes(np.zeros((1, 12), dtype=np.int8), SCALE)
    clusters = Clusters.of(ratings, {i: i // 2 for i in range(12)})
    [one] = against_gold(ratings, dict.fromkeys(range(12), "a"), clusters=clusters)
    assert (one.correct, one.n) == (12, 12)
    assert one.ci == pytest.approx((0.025 ** (1 / 6), 1.0))
    assert "over reviews" in one.method
    [apart] = against_gold(ratings, dict.fromkeys(range(12), "a"))
    assert "Wilson" in apart.method


def test_an_item_of_no_known_review_is_an_error() -> None:
    with pytest.raises(RatingsError, match="no cluster is known of the item 1"):
        Clusters.of(Ratings.from_codes(np.zeros((2, 2), dtype=np.int8), SCALE), {0: 7})


def test_percent_agreement_is_between_0_and_1_and_counts_equal_values_only() -> None:
    low = Ratings.from_matrix([["a", "b"], ["b", "c"], ["a", "a"]], SCALE)
    ci = all_coefficients(prepare(low))["percent_agreement"].ci
    assert ci is not None
    assert ci[0] == 0
    # One of three raters differs in each item, with changing values.
    differing = Ratings.from_matrix([["a", "a", "b"], ["b", "b", "c"], ["c", "c", "a"]], SCALE)
    [flag] = all_coefficients(prepare(differing))["percent_agreement"].flags
    assert flag == "the items do not differ in what it rests on: the interval has no width"
    alike = Ratings.from_matrix([["a", "a", "b"]] * 3, SCALE)
    [flag] = all_coefficients(prepare(alike))["percent_agreement"].flags
    assert flag == "all items alike: the interval has no width"


def test_the_share_that_is_missing_counts_units_that_nobody_answered() -> None:
    ratings = Ratings.from_matrix([["a", "a"], ["a", "b"]], SCALE)
    assert measure_report("x", ratings, bootstrap=0, overlap=2).missing_share == 0
    assert measure_report("x", ratings, bootstrap=0, overlap=2, expected_items=8).missing_share == 0.75


def test_sample_sizes_are_larger_for_units_clustered_in_reviews() -> None:
    assert items_needed(0.075, 40, 0.05, clusters=8) > items_needed(0.075, 40, 0.05)
