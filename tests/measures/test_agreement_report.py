"""The report of one measure, and figures beside the coefficients."""

from __future__ import annotations

import json

import numpy as np
import pytest

from measures.agreement import (
    Ratings,
    RatingsError,
    against_gold,
    benchmark,
    category_agreement,
    half_width_curve,
    items_needed,
    measure_report,
    most_contested,
    prepare,
    wilson_interval,
)

SCALE = ["negative", "no effect", "positive"]
TRIPLES = [
    ("u1", "ann", "positive"),
    ("u1", "bob", "positive"),
    ("u1", "cy", "positive"),
    ("u2", "ann", "positive"),
    ("u2", "bob", "no effect"),
    ("u2", "cy", "negative"),
    ("u3", "ann", "no effect"),
    ("u3", "bob", "no effect"),
    ("u3", "cy", "positive"),
    ("u4", "ann", "negative"),
    ("u4", "bob", "negative"),
    ("u4", "cy", None),
]


@pytest.fixture
def ratings() -> Ratings:
    return Ratings.from_triples(TRIPLES, SCALE)


@pytest.mark.usefixtures("former_rule")
def test_the_report_has_the_structure_of_a_measure_and_is_plain_json(ratings: Ratings) -> None:
    report = json.loads(json.dumps(measure_report("polarity", ratings, seed=1).as_json(), allow_nan=False))
    assert report["name"] == "polarity"
    assert report["scale"] == SCALE
    assert report["weights"] == "identity"
    assert (report["units"], report["raters"], report["ratings"]) == (4, 3, 11)
    assert report["all_agree"] == {"count": 2, "of": 4}
    assert report["pairwise"] == pytest.approx((1 + 0 + 1 / 3 + 1) / 4)
    assert report["missing_share"] == pytest.approx(1 / 12)
    assert report["undefined"] == {}
    for name in ("ac1", "fleiss", "conger", "brennan_prediger", "alpha"):
        assert set(report["coefficients"][name]) == {"value", "se", "ci", "method", "bootstrap_ci", "reviews"}
    first = report["coefficients"]["cohen_pairs"][0]
    assert (first["raters"], first["units"]) == (["ann", "bob"], 4)
    assert first["value"] == pytest.approx(0.63636, abs=1e-5)


def test_weights_turn_ac1_into_ac2_and_name_both_alphas(ratings: Ratings) -> None:
    report = measure_report("modality", ratings, weights="ordinal", metric="ordinal", bootstrap=200).as_json()
    coefficients = report["coefficients"]
    assert isinstance(coefficients, dict)
    assert "ac1" not in coefficients
    assert {"ac2", "alpha", "alpha_weighted"} <= set(coefficients)


@pytest.mark.usefixtures("former_rule")
def test_undefined_coefficients_stand_apart_with_their_reason() -> None:
    same = Ratings.from_matrix([["a", "a"], ["a", "a"]], ["a", "b"])
    report = measure_report("x", same).as_json()
    assert report["undefined"] == dict.fromkeys(("fleiss", "conger", "alpha"), "no variation")
    assert report["coefficients"]["cohen_pairs"][0]["undefined"] == "no variation"  # type: ignore[index]
    assert any("the interval has no width" in w for w in report["warnings"])  # type: ignore[attr-defined]


def test_pairs_and_confusions_count_values_by_rater_pairs(ratings: Ratings) -> None:
    report = measure_report("x", ratings, bootstrap=0).as_json()
    matrix, confusion = report["pairs"], report["confusion"]
    assert isinstance(matrix, dict)
    assert isinstance(confusion, dict)
    assert matrix["n"] == [[4, 4, 3], [4, 4, 3], [3, 3, 3]]
    assert matrix["percent"][0] == [None, 0.75, pytest.approx(1 / 3)]
    assert confusion["pairs"][0]["table"] == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert np.sum(confusion["pooled"]) == 2 * (4 + 3 + 3)
    assert confusion["pooled"] == np.transpose(confusion["pooled"]).tolist()


def test_the_most_contested_item_comes_first_with_values_by_rater(ratings: Ratings) -> None:
    contested = most_contested(prepare(ratings))
    assert [c.item for c in contested] == ["u2", "u3"]
    assert contested[0].agreement == 0
    assert contested[1].ratings == (("ann", "no effect"), ("bob", "no effect"), ("cy", "positive"))
    assert [c.item for c in most_contested(prepare(ratings), limit=1)] == ["u2"]


def test_specific_agreement_is_the_chance_that_a_second_rater_says_the_same(ratings: Ratings) -> None:
    negative, no_effect, positive = category_agreement(ratings)
    assert negative.specific == pytest.approx(2 / (2 + 2))
    assert no_effect.specific == pytest.approx(2 / (2 + 4))
    assert positive.specific == pytest.approx(6 / (6 + 2 + 2))
    assert (positive.n_ratings, positive.n_items) == (5, 3)
    assert positive.fleiss.n_items == 4


def test_a_category_that_nobody_used_has_no_specific_agreement() -> None:
    *_, unused = category_agreement(Ratings.from_matrix([["a", "b"], ["a", "a"]], ["a", "b", "c"]))
    assert (unused.specific, unused.undefined, unused.n_ratings) == (None, "never used", 0)
    assert unused.fleiss.undefined == "no variation"


def test_each_rater_is_compared_with_gold_on_the_items_that_have_it(ratings: Ratings) -> None:
    gold = {"u1": "positive", "u2": "positive", "u3": "no effect", "u9": "negative"}
    ann, bob, cy = against_gold(ratings, gold)
    assert [(c.rater, c.correct, c.n) for c in (ann, bob, cy)] == [("ann", 3, 3), ("bob", 2, 3), ("cy", 1, 3)]
    assert bob.table.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
    by_label = {c.label: c for c in bob.classes}
    assert (by_label["no effect"].precision, by_label["no effect"].recall) == (0.5, 1.0)
    assert by_label["negative"].f1 is None
    with pytest.raises(RatingsError, match="'unclear'"):
        against_gold(ratings, {"u1": "unclear"})


def test_wilsons_interval_stays_inside_0_and_1_and_equals_the_textbook() -> None:
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(10, 10) == pytest.approx((0.7225, 1), abs=1e-4)
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)  # Newcombe 1998


def test_items_needed_follow_from_the_standard_error_of_a_pilot() -> None:
    # t(348) = 1.96680, times .075 sqrt(40 / 349) = .04994; of 348 items it is .05001.
    assert items_needed(0.075, 40, 0.05) == 349
    assert items_needed(0.075, 40, 2.0227 * 0.075) == 40, "t(39): as wide as the pilot's own interval"
    assert items_needed(0, 40, 0.05) == 2
    curve = half_width_curve(0.075, 40, [1, 40, 160, 349])
    assert [n for n, _ in curve] == [40, 160, 349]
    assert [half for _, half in curve] == pytest.approx([0.1517018, 0.0740624, 0.0499390], abs=1e-6)
    with pytest.raises(ValueError, match="pilot of two"):
        items_needed(0.1, 1, 0.05)


def test_the_cumulative_benchmark_label_is_more_careful_than_the_label_of_the_point() -> None:
    found = benchmark(0.7754, 0.14295)
    assert (found.point_label, found.label) == ("substantial", "moderate")
    assert sum(level.probability for level in found.levels) == pytest.approx(1)
    assert benchmark(0.85, 0.001).label == "almost perfect"
    assert benchmark(1.0, 0.0, "altman").label == "very good"
    with pytest.raises(RatingsError, match="landis-koch"):
        benchmark(0.5, 0.1, "mine")  # type: ignore[arg-type]
