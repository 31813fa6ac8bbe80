"""Statistics of the probe: sign, strictness, spread, clustered intervals, and reasons for undefined figures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.clustered import ALIKE, TOO_FEW
from measures.counterfactuals import Kind
from measures.means import clustered_mean, clustered_share
from measures.probe import NO_PAIRS, NONE_CHANGED, ONE_PAIR, Basis, Pair, ProbeError, ProbeResult, TextNll, probe_table

KINDS = [kind.value for kind in Kind]
NLL = st.floats(0, 50, allow_nan=False)
TEXTS = st.builds(
    lambda s, extra, n, special: TextNll(s, n, s + extra, n + special), NLL, NLL, st.integers(1, 40), st.integers(1, 2)
)
PAIRS = st.lists(st.builds(Pair, st.integers(0, 4), st.sampled_from(KINDS), TEXTS, TEXTS), max_size=12)


def text(mean: float, tokens: int = 4) -> TextNll:
    return TextNll(mean * tokens, tokens, mean * (tokens + 2), tokens + 2)


def pair(delta: float, review: int = 1, kind: str = "negation") -> Pair:
    return Pair(review, kind, text(1.0), text(1.0 + delta))


def row(pairs: list[Pair], kind: str = "overall", *, basis: Basis = "all") -> ProbeResult:
    rows = probe_table(pairs, KINDS, basis=basis)
    return next(r for r in rows if r.kind == kind)


def test_delta_is_the_mean_difference_and_ties_are_wrong() -> None:
    found = row([pair(0.5, 1), pair(0.25, 2), pair(0.0, 3), pair(-0.25, 4)], "negation")
    assert (found.n, found.reviews, found.right, found.ties) == (4, 4, 2, 1)
    assert found.delta.value == pytest.approx(0.125)
    assert found.sd.value == pytest.approx(math.sqrt((0.375**2 + 0.125**2 + 0.125**2 + 0.375**2) / 3))
    assert found.accuracy.value == 0.5
    assert found.delta_sum.value == pytest.approx(0.125 * 6)


def test_the_mean_is_over_the_tokens_of_the_basis() -> None:
    longer = Pair(1, "no evidence", TextNll(6.0, 3, 10.0, 5), TextNll(12.0, 8, 15.0, 10))
    every, content = row([longer]), row([longer], basis="content")
    assert (every.delta.value, every.delta_sum.value) == (1.5 - 2.0, 5.0)
    assert (content.delta.value, content.delta_sum.value) == (1.5 - 2.0, 6.0)
    assert every.right == 0, "a longer text may be likelier a token and yet less likely as a whole"
    assert TextNll.of_tokens([1.0, 2.0, 4.0], [True, False, True]) == TextNll(2.0, 1, 7.0, 3)


@given(pairs=PAIRS)
def test_swapping_target_and_counterfactual_flips_signs_and_accuracy(pairs: list[Pair]) -> None:
    swapped = [replace(p, target=p.counterfactual, counterfactual=p.target) for p in pairs]
    for one, other in zip(probe_table(pairs, KINDS), probe_table(swapped, KINDS), strict=True):
        assert (one.n, one.reviews, one.ties) == (other.n, other.reviews, other.ties)
        assert one.right + other.right + one.ties == one.n
        for a, b in ((one.delta, other.delta), (one.delta_sum, other.delta_sum)):
            assert (a.value is None) == (b.value is None)
            if a.value is not None and b.value is not None:
                assert a.value == pytest.approx(-b.value, abs=1e-9)
        if one.sd.value is not None:
            assert one.sd.value == pytest.approx(other.sd.value, abs=1e-9)


@given(pairs=PAIRS, order=st.randoms(use_true_random=False))
def test_order_and_names_of_reviews_change_nothing(pairs: list[Pair], order: object) -> None:
    mixed = [replace(p, review=f"review {9 - int(str(p.review))}") for p in pairs]
    order.shuffle(mixed)  # type: ignore[attr-defined]
    assert probe_table(pairs, KINDS) == probe_table(mixed, KINDS)


def test_intervals_are_of_reviews_and_the_accuracys_is_that_of_a_share() -> None:
    rng = np.random.default_rng(5)
    pairs = [pair(float(rng.normal(0.1, 0.3)), int(rng.integers(9))) for _ in range(40)]
    found, reviews = row(pairs, "negation"), [int(str(p.review)) for p in pairs]
    deltas = [p.delta("all") for p in pairs]
    assert found.delta.ci == clustered_mean(deltas, reviews).ci
    assert found.accuracy.ci == clustered_share([delta > 0 for delta in deltas], reviews).ci
    assert "over reviews" in found.method


@pytest.mark.usefixtures("former_rule")
def test_perfect_accuracy_has_an_interval_with_a_width() -> None:
    """12 of 12 in 12 reviews and in three: the more pairs share a review, the less information they have."""
    apart = row([pair(0.5, review) for review in range(12)]).accuracy
    assert (apart.value, apart.flags) == (1.0, ())
    assert apart.ci == pytest.approx((0.025 ** (1 / 12), 1.0))
    assert row([pair(0.5, review % 3) for review in range(12)]).accuracy.ci == pytest.approx((0.025 ** (1 / 3), 1.0))


@pytest.mark.usefixtures("former_rule")
def test_undefined_figures_have_a_reason_and_are_never_zero() -> None:
    nothing = row([], "antonym")
    assert (nothing.n, nothing.delta.value, nothing.accuracy.value) == (0, None, None)
    assert nothing.as_json()["undefined"] == dict.fromkeys(
        ("delta", "sd", "accuracy", "delta_sum", "delta_changed"), NO_PAIRS
    )
    one = row([pair(0.5)], "negation")
    assert one.delta.value == pytest.approx(0.5)
    assert (one.sd.value, one.sd.undefined) == (None, ONE_PAIR)
    assert (one.delta.ci, one.delta.flags) == (None, (TOO_FEW,))
    assert one.as_json()["undefined"] == {"sd": ONE_PAIR, "delta_changed": NONE_CHANGED}
    alike = row([pair(0.5, 1), pair(0.5, 2), pair(0.5, 3)], "negation")
    assert (alike.delta.ci, alike.delta.flags) == (None, (ALIKE,))


@pytest.mark.usefixtures("former_rule")
def test_the_delta_over_changed_tokens_needs_changes_in_both_texts() -> None:
    swapped = replace(pair(0.1, 1), replaced=(6.0, 2), changed=(8.0, 2))
    longer = replace(pair(0.1, 2), replaced=(1.0, 1), changed=(9.0, 3))
    put_in = replace(pair(0.1, 3), replaced=(0.0, 0), changed=(9.0, 3))
    found = row([swapped, longer, put_in], "negation")
    assert (found.n, found.n_changed) == (3, 2)
    assert found.delta_changed.value == pytest.approx((1.0 + 2.0) / 2)
    assert (found.delta_changed.ci, found.delta_changed.flags) == (None, (TOO_FEW,)), "two reviews are left"
    more = row([swapped, longer, put_in, replace(swapped, review=4)], "negation")
    assert more.delta_changed.ci == clustered_mean([1.0, 2.0, 1.0], [1, 2, 4]).ci
    none = row([put_in], "negation")
    assert (none.delta_changed.value, none.delta_changed.undefined) == (None, NONE_CHANGED)


def test_every_kind_has_its_row_and_the_last_is_over_all_pairs() -> None:
    rows = probe_table([pair(1.0, 1, "modality"), pair(-1.0, 2, "negation")], KINDS)
    assert [(r.kind, r.n) for r in rows] == [
        ("negation", 1),
        ("antonym", 0),
        ("no effect", 0),
        ("no evidence", 0),
        ("modality", 1),
        ("overall", 2),
    ]
    with pytest.raises(ValueError, match="unknown kinds: other"):
        probe_table([pair(1.0, 1, "other")], KINDS)


@pytest.mark.parametrize("numbers", [(math.nan, 1, 1.0, 1), (1.0, 1, math.inf, 1), (-0.1, 1, 1.0, 1), (0.0, 0, 1.0, 1)])
def test_likelihoods_that_cannot_be_are_refused(numbers: tuple[float, int, float, int]) -> None:
    with pytest.raises(ProbeError):
        TextNll(*numbers)
