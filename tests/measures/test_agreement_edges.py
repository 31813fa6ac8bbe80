"""Edge cases: undefined figures are never numbers, and invalid values never count as ratings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from measures.agreement import (
    AgreementDataError,
    Ratings,
    RatingsError,
    all_coefficients,
    bootstrap_intervals,
    check_fleiss_not_above_ac1,
    cohen_kappa,
    conger,
    measure_report,
    prepare,
    weight_matrix,
)
from measures.agreement.basis import NO_VARIATION, NOT_ENOUGH_RATINGS, ONE_ITEM, PERFECT, TOTAL

KAPPAS = ("fleiss", "conger", "alpha")


def found(matrix: list[list[str | float | None]], scale: list[str | float], weights: str = "identity"):  # type: ignore[no-untyped-def]
    return all_coefficients(prepare(Ratings.from_matrix(matrix, scale), weights))  # type: ignore[arg-type]


def test_all_in_one_category_makes_kappas_and_alpha_undefined_never_0_or_1() -> None:
    result = found([["a", "a", "a"]] * 5, ["a", "b", "c"])
    for name in KAPPAS:
        assert result[name].value is None
        assert result[name].undefined == NO_VARIATION
        assert result[name].se is None
        assert result[name].ci is None


def test_one_used_category_gives_percent_ac1_and_brennan_prediger_of_1() -> None:
    result = found([["a", "a", "a"]] * 5, ["a", "b", "c"])
    for name in ("percent_agreement", "ac1", "brennan_prediger"):
        assert result[name].value == pytest.approx(1)
        assert PERFECT in result[name].flags


def test_a_single_rater_gives_not_enough_ratings() -> None:
    result = found([["a"], ["b"], ["a"]], ["a", "b"])
    assert {result[name].undefined for name in result} == {NOT_ENOUGH_RATINGS}


def test_no_pairable_item_gives_not_enough_ratings() -> None:
    result = found([["a", None], [None, "b"], ["a", None]], ["a", "b"])
    assert {result[name].undefined for name in result} == {NOT_ENOUGH_RATINGS}
    assert {result[name].value for name in result} == {None}


def test_no_rating_at_all_is_reported_not_raised() -> None:
    report = measure_report("polarity", Ratings.from_triples([], ["a", "b"])).as_json()
    assert report["units"] == 0
    assert report["pairwise"] is None
    assert report["undefined"]["ac1"] == NOT_ENOUGH_RATINGS  # type: ignore[index]


def test_an_item_with_one_rating_counts_in_the_shares_and_in_n_but_not_in_alpha() -> None:
    with_single: list[list[str | float | None]] = [["a", "a"], ["a", "b"], ["b", "b"], ["b", "a"], ["a", None]]
    result, without = found(with_single, ["a", "b"]), found(with_single[:4], ["a", "b"])
    assert result["fleiss"].n_items == 5
    assert result["fleiss"].pe == pytest.approx(0.6**2 + 0.4**2)
    assert without["fleiss"].pe == pytest.approx(0.5)
    assert result["alpha"].n_items == 4
    assert result["alpha"].n_ratings == 8
    assert result["alpha"].value == pytest.approx(without["alpha"].value)
    report = measure_report("x", Ratings.from_matrix(with_single, ["a", "b"]), bootstrap=0)
    assert any(w.endswith("in n only: 1") for w in report.warnings)


def test_an_unused_category_moves_ac1_and_brennan_prediger_but_neither_fleiss_nor_alpha() -> None:
    matrix: list[list[str | float | None]] = [["a", "a"], ["a", "b"], ["b", "b"], ["a", "b"], ["a", "a"]]
    small, large = found(matrix, ["a", "b"]), found(matrix, ["a", "b", "c", "d", "e"])
    assert large["ac1"].value > small["ac1"].value + 0.1
    assert large["brennan_prediger"].value > small["brennan_prediger"].value + 0.1
    for name in KAPPAS:
        assert large[name].value == pytest.approx(small[name].value)
    assert measure_report("x", Ratings.from_matrix(matrix, list("abcde")), bootstrap=0).as_json()["q"] == 5


def test_a_rater_without_ratings_is_dropped_with_a_warning() -> None:
    ratings = Ratings.from_matrix([["a", None, "a"], ["b", None, "a"]], ["a", "b"], raters=["ann", "bob", "cy"])
    assert ratings.raters == ("ann", "cy")
    assert any("bob" in warning for warning in ratings.warnings)
    assert conger(prepare(ratings)).n_raters == 2


def test_an_item_without_ratings_is_dropped_with_a_warning() -> None:
    ratings = Ratings.from_matrix([["a", "a"], [None, None], ["b", "a"]], ["a", "b"])
    assert ratings.n_items == 2
    assert ratings.warnings == ("items without ratings are left out: 1",)


def test_labels_outside_the_scale_are_rejected_and_listed() -> None:
    with pytest.raises(RatingsError, match=r"'maybe', 'dunno'"):
        Ratings.from_triples([(1, "x", "maybe"), (1, "y", "a"), (2, "x", "dunno")], ["a", "b"])


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_rating_is_rejected(value: float) -> None:
    with pytest.raises(RatingsError, match="infinite"):
        Ratings.from_triples([(1, "x", 1.0), (1, "y", value)], [1.0, 2.0])
    with pytest.raises(RatingsError, match="not finite"):
        Ratings.from_triples([(1, "x", 1.0)], [1.0, value])


def test_none_and_nan_count_as_missing_ratings() -> None:
    ratings = Ratings.from_matrix([[1, math.nan, 1], [2, 1, None]], [1, 2])
    assert ratings.n_ratings == 4
    assert ratings.missing_share == pytest.approx(2 / 6)


def test_one_item_gives_a_value_but_ci_reason() -> None:
    result = found([["a", "b", "a"]], ["a", "b", "c"])
    for name in ("percent_agreement", "ac1", "fleiss", "conger", "brennan_prediger", "alpha"):
        assert result[name].value is not None
        assert result[name].se is None
        assert result[name].ci is None
        assert ONE_ITEM in result[name].flags


def test_the_order_of_a_text_likert_comes_from_the_scale_and_not_from_the_alphabet() -> None:
    scale: list[str | float] = ["never", "sometimes", "often", "always"]
    matrix: list[list[str | float | None]] = [
        ["never", "sometimes"],
        ["often", "always"],
        ["never", "never"],
        ["sometimes", "often"],
        ["always", "always"],
    ]
    declared = found(matrix, scale, "linear")["fleiss"].value
    numbered = [[scale.index(v) + 1 for v in row] for row in matrix]  # type: ignore[arg-type]
    assert declared == pytest.approx(found(numbered, [1, 2, 3, 4], "linear")["fleiss"].value)  # type: ignore[arg-type]
    assert declared != pytest.approx(found(matrix, sorted(scale, key=str), "linear")["fleiss"].value, abs=0.05)


def test_perfect_agreement_is_flagged_for_its_interval_without_width() -> None:
    result = found([["a", "a"], ["b", "b"], ["a", "a"]], ["a", "b"])
    for name in ("ac1", "fleiss", "alpha", "conger"):
        assert result[name].value == pytest.approx(1)
        assert result[name].se == 0
        assert result[name].ci == pytest.approx((1, 1))
        assert PERFECT in result[name].flags


def test_total_disagreement_is_flagged_for_its_interval_without_width() -> None:
    result = found([["a", "b"], ["b", "a"], ["a", "b"]], ["a", "b"])
    assert result["brennan_prediger"].value == pytest.approx(-1)
    assert TOTAL in result["brennan_prediger"].flags
    assert TOTAL in result["percent_agreement"].flags


def test_not_applicable_as_a_category_of_its_own_is_nominal_and_as_missing_is_counted() -> None:
    matrix = [["yes", "n/a"], ["no", "no"], ["n/a", "n/a"], ["yes", "yes"]]
    own = Ratings.from_matrix(matrix, ["yes", "no", "n/a"])
    missing = Ratings.from_matrix([[None if v == "n/a" else v for v in row] for row in matrix], ["yes", "no"])
    assert own.missing_share == 0
    assert measure_report("x", missing, bootstrap=0, overlap=2).missing_share == pytest.approx(1 / 6)


def test_a_duplicate_rating_of_an_item_by_a_rater_is_rejected_and_named() -> None:
    with pytest.raises(RatingsError, match=r"\(7, 'ann'\)"):
        Ratings.from_triples([(7, "ann", "a"), (7, "bob", "a"), (7, "ann", "b")], ["a", "b"])


def test_an_empty_scale_is_rejected() -> None:
    with pytest.raises(RatingsError, match="empty"):
        Ratings.from_triples([], [])


def test_a_scale_that_names_a_value_twice_is_rejected() -> None:
    with pytest.raises(RatingsError, match="twice"):
        Ratings.from_triples([], ["a", "a"])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]]), "symmetric"),
        (np.array([[0.9, 0, 0], [0, 1, 0], [0, 0, 1]]), "diagonal"),
        (np.array([[1, np.nan, 0], [np.nan, 1, 0], [0, 0, 1]]), "finite"),
    ],
)
def test_weights_of_ones_own_must_be_square_symmetric_and_1_on_the_diagonal(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        weight_matrix(matrix, [1, 2, 3])


def test_unknown_weights_are_rejected_with_the_list_of_known_ones() -> None:
    with pytest.raises(RatingsError, match="identity, quadratic, linear, ordinal"):
        weight_matrix("cubic", [1, 2])  # type: ignore[arg-type]


def test_ratio_weights_on_a_scale_with_zero_are_defined() -> None:
    weights = weight_matrix("ratio", [0, 1, 2])
    assert np.isfinite(weights).all()
    assert np.allclose(np.diag(weights), 1)
    assert weights[0, 1] == pytest.approx(0)


def test_conger_with_fewer_than_two_active_raters_is_undefined() -> None:
    ratings = Ratings.from_matrix([["a", None], ["b", None]], ["a", "b"])
    assert conger(prepare(ratings)).undefined == NOT_ENOUGH_RATINGS
    assert conger(prepare(ratings)).n_raters == 1


def test_cohen_without_a_common_item_and_without_variation_is_undefined() -> None:
    assert cohen_kappa(np.zeros((2, 2))).undefined == NOT_ENOUGH_RATINGS
    assert cohen_kappa(np.array([[5.0, 0], [0, 0]])).undefined == NO_VARIATION


def test_fleiss_above_ac1_as_in_m3_table_9_is_a_data_error() -> None:
    with pytest.raises(AgreementDataError, match=r"0\.8100 lies above AC1 0\.7900"):
        check_fleiss_not_above_ac1(0.79, 0.81)
    check_fleiss_not_above_ac1(0.86, 0.85)
    check_fleiss_not_above_ac1(0.5, 0.5 + 1e-10)
    check_fleiss_not_above_ac1(None, 0.5)


def test_a_scale_of_one_value_leaves_chance_corrected_coefficients_undefined() -> None:
    result = found([["a", "a"], ["a", "a"]], ["a"])
    assert {name for name, c in result.items() if c.undefined} == {
        "ac1",
        "fleiss",
        "conger",
        "brennan_prediger",
        "alpha",
    }


@pytest.mark.usefixtures("former_rule")
def test_undefined_bootstrap_replicates_are_excluded_and_counted() -> None:
    ratings = Ratings.from_matrix([["a", "a"]] * 9 + [["b", "b"]], ["a", "b"])
    drawn = bootstrap_intervals(prepare(ratings), ["fleiss"], replicates=500, seed=1)["fleiss"]
    assert 100 < drawn.undefined_replicates < 250
    report = measure_report("x", ratings, bootstrap=500, seed=1)
    assert any(w.startswith("fleiss: undefined in") for w in report.warnings)
