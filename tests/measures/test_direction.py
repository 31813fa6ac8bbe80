"""Delta-EI and direction F1: known values, both logarithms, and comparison with scipy and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon  # type: ignore[import-untyped]

from measures.direction import (
    CLASSES,
    MS2_CLASSES,
    NATURAL_OF_BASE_2,
    NO_PAIRS,
    PRIOR,
    DirectionError,
    Pair,
    against_prior,
    delta_ei,
    direction_f1,
    js_distances,
)

DOWN, SAME, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SURE_UP, UNSURE = (0.1, 0.2, 0.7), (0.2, 0.6, 0.2)

NUMBERS = st.tuples(*[st.floats(0, 1, allow_subnormal=False)] * 3).filter(lambda row: sum(row) > 0.01)
DISTRIBUTIONS = NUMBERS.map(lambda row: tuple(value / sum(row) for value in row))


def test_the_order_of_the_classes_is_that_of_ms2() -> None:
    assert CLASSES == ("decreases", "no change", "increases")
    assert MS2_CLASSES == ("significantly decreased", "no significant difference", "significantly increased")
    assert sum(PRIOR) == pytest.approx(1)


def test_opposite_distributions_have_distance_1_in_base_2_and_083_in_nats() -> None:
    found = delta_ei({"a": [(DOWN, UP)], "b": [(SAME, UP), (DOWN, SAME)]})
    assert found.base_2
    assert found.natural
    assert found.base_2.mean == pytest.approx(1, abs=1e-15)
    assert found.natural.mean == pytest.approx(0.8326, abs=5e-5)
    assert math.sqrt(math.log(2)) == NATURAL_OF_BASE_2
    assert found.base_2.sd == pytest.approx(0, abs=1e-15)


def test_the_distance_of_agreeing_distributions_is_0() -> None:
    found = delta_ei({"a": [(SURE_UP, SURE_UP)], "b": [(DOWN, DOWN)]})
    assert found.base_2
    assert found.base_2.mean == 0


@pytest.mark.parametrize(("agreeing", "printed"), [(4, 0), (2, 0.42), (0, 0.83)])
def test_the_papers_constructed_cases_are_natural_logarithms(agreeing: int, printed: float) -> None:
    """All, half and none of the reviews agree."""
    found = delta_ei({n: [(DOWN, DOWN if n < agreeing else UP)] for n in range(4)})
    assert found.natural
    assert round(found.natural.mean, 2) == printed


def test_a_distance_equals_the_hand_computed_value() -> None:
    # p = (1, 0, 0), q = (1/2, 1/2, 0), m = (3/4, 1/4, 0)
    by_hand = math.sqrt((math.log(4 / 3) + 0.5 * math.log(2 / 3) + 0.5 * math.log(2)) / 2)
    assert js_distances([DOWN], [(0.5, 0.5, 0.0)])[0] == pytest.approx(by_hand, abs=1e-15)
    assert by_hand == pytest.approx(0.4645, abs=5e-5)


@given(st.lists(st.tuples(DISTRIBUTIONS, DISTRIBUTIONS), min_size=1, max_size=8))
def test_distances_are_those_of_scipy_in_both_bases(pairs: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> None:
    natural = js_distances([p for p, _ in pairs], [q for _, q in pairs])
    for (p, q), distance in zip(pairs, natural, strict=True):
        # A divergence near 0 is a difference of nearly equal numbers: its root has half the digits.
        assert distance**2 == pytest.approx(np.nan_to_num(jensenshannon(p, q)) ** 2, abs=1e-12)
        in_base_2 = np.nan_to_num(jensenshannon(p, q, base=2))
        assert (distance / NATURAL_OF_BASE_2) ** 2 == pytest.approx(in_base_2**2, abs=1e-12)
        assert 0 <= distance <= NATURAL_OF_BASE_2 + 1e-12
    assert js_distances([q for _, q in pairs], [p for p, _ in pairs]).tolist() == natural.tolist(), "either way round"


def test_pairs_are_averaged_by_review_and_reviews_have_equal_weight() -> None:
    found = delta_ei({"many": [(DOWN, DOWN)] * 9 + [(DOWN, UP)], "one": [(DOWN, UP)], "none": []})
    assert found.base_2
    assert found.natural
    assert found.base_2.mean == pytest.approx((0.1 + 1) / 2)
    assert found.base_2.sd == pytest.approx(0.45)  # population standard deviation: half the difference of two values
    assert found.natural.sd == pytest.approx(0.45 * NATURAL_OF_BASE_2)
    assert (found.n_reviews, found.n_pairs, found.n_without_pairs) == (2, 11, 1)
    assert [(each.review, each.n_pairs) for each in found.reviews] == [("many", 10), ("one", 1)]
    assert found.reviews[0].base_2 == pytest.approx(0.1)
    assert found.reviews[0].natural == pytest.approx(0.08326, abs=5e-6)


def test_figures_equal_those_of_scipy() -> None:
    reviews: dict[str, list[Pair]] = {"a": [(SURE_UP, UNSURE), (DOWN, PRIOR)], "b": [(UNSURE, UNSURE)]}
    a = (jensenshannon(SURE_UP, UNSURE, base=2) + jensenshannon(DOWN, PRIOR, base=2)) / 2
    found = delta_ei(reviews).base_2
    assert found
    assert found.mean == pytest.approx(np.mean([a, 0]), abs=1e-12)
    assert found.sd == pytest.approx(np.std([a, 0]), abs=1e-12)
    baseline = delta_ei(against_prior(reviews)).base_2
    assert baseline
    expected_a = (jensenshannon(SURE_UP, PRIOR, base=2) + jensenshannon(DOWN, PRIOR, base=2)) / 2
    assert baseline.mean == pytest.approx(np.mean([expected_a, jensenshannon(UNSURE, PRIOR, base=2)]), abs=1e-12)


def test_without_pairs_delta_ei_and_f1_are_undefined_with_a_reason() -> None:
    empty: list[dict[str, list[Pair]]] = [{}, {"a": []}]
    for reviews in empty:
        found, scores = delta_ei(reviews), direction_f1(reviews)
        assert (found.natural, found.base_2, found.undefined) == (None, None, NO_PAIRS)
        assert found.n_without_pairs == len(reviews)
        assert (scores.macro_f1, scores.micro_f1, scores.undefined) == (None, None, NO_PAIRS)
        assert scores.shares == ((None,) * 3,) * 3


def test_f1_is_pooled_over_the_pairs_of_all_reviews() -> None:
    scores = direction_f1(
        {"a": [(DOWN, DOWN), (DOWN, SAME), (SAME, SAME)], "b": [(SURE_UP, UNSURE), (UP, UP), (SAME, DOWN)]}
    )
    assert scores.table == ((1, 1, 0), (1, 1, 0), (0, 1, 1))
    assert scores.shares == ((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.5, 0.5))
    down, same, up = scores.classes
    assert (down.precision, down.recall, down.f1) == (0.5, 0.5, 0.5)
    assert (same.precision, same.recall, same.f1) == (1 / 3, 0.5, 0.4)
    assert (up.precision, up.recall, up.f1) == (1.0, 0.5, 2 / 3)
    assert scores.macro_f1 == pytest.approx((0.5 + 0.4 + 2 / 3) / 3)
    assert scores.micro_f1 == 0.5
    assert (scores.n_pairs, scores.n_classes, scores.n_ties) == (6, 3, 0)


def test_figures_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is an oracle only")
    rng = np.random.default_rng(3)
    targets, outputs = rng.dirichlet((1, 2, 1), 200), rng.dirichlet((1, 2, 1), 200)
    scores = direction_f1({"a": list(zip(targets.tolist(), outputs.tolist(), strict=True))})
    truth, given = targets.argmax(axis=1), outputs.argmax(axis=1)
    assert scores.macro_f1 == pytest.approx(metrics.f1_score(truth, given, average="macro"), abs=1e-12)
    assert scores.micro_f1 == pytest.approx(metrics.f1_score(truth, given, average="micro"), abs=1e-12)
    assert np.array_equal(np.array(scores.table), metrics.confusion_matrix(truth, given))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(truth, given)
    for i, each in enumerate(scores.classes):
        assert (each.precision, each.recall, each.f1) == pytest.approx((precision[i], recall[i], f1[i]))
        assert (each.label, each.n_gold) == (CLASSES[i], support[i])


def test_a_class_on_neither_side_takes_no_part_in_macro_f1_and_one_never_given_counts_0() -> None:
    scores = direction_f1({"a": [(DOWN, DOWN), (SAME, DOWN)]})
    down, same, up = scores.classes
    assert (same.precision, same.recall, same.f1) == (None, 0, 0)
    assert (up.precision, up.recall, up.f1) == (None, None, None)
    assert scores.macro_f1 == pytest.approx((2 / 3 + 0) / 2)
    assert scores.n_classes == 2
    assert down.n_given == 2


def test_the_later_of_equally_likely_classes_counts_and_ties_are_reported() -> None:
    scores = direction_f1({"a": [((0.4, 0.2, 0.4), UP), (SAME, (0.4, 0.4, 0.2))]})
    assert (scores.micro_f1, scores.n_ties) == (1.0, 2)


@pytest.mark.parametrize(
    "wrong", [(0.5, 0.5), (0.9, 0.9, 0.2), (-0.5, 0.5, 1.0), (math.nan, 0.5, 0.5), (0.0, 0.0, 0.0), ("a", 0, 1)]
)
def test_invalid_distributions_are_refused(wrong: tuple[float, ...]) -> None:
    for measure in (delta_ei, direction_f1):
        with pytest.raises(DirectionError, match="a distribution"):
            measure({"a": [(wrong, UP)]})
    with pytest.raises(DirectionError, match="cannot be paired"):
        js_distances([UP], [UP, UP])
