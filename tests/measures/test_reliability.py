"""Unanimity and accuracy in a reliability study."""

import pytest

from measures.reliability import accuracy, all_agree, pairwise

SAID = [("a", "1"), ("a", "1"), ("a", "1"), ("b", "1"), ("b", "2"), ("c", "3"), ("d", "2"), ("d", "2")]
REVIEWS = {"a": 0, "b": 1, "c": 2, "d": 3}


def test_all_agree_is_of_items_with_two_ratings() -> None:
    found = all_agree(SAID, REVIEWS)
    assert found.value == pytest.approx(2 / 3)
    assert found.n == 3
    assert all_agree([("c", "3")], REVIEWS).undefined


def test_pairs_are_counted_within_items() -> None:
    found = pairwise([*SAID, ("b", "2")], REVIEWS)
    assert found.value == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert found.n == 3
    assert pairwise([], REVIEWS).value is None


def test_an_item_counts_once_in_accuracy_and_one_without_gold_not_at_all() -> None:
    found = accuracy(SAID, {"a": "1", "b": "2", "c": "1"}, REVIEWS)
    assert found.value == pytest.approx(0.5)
    assert found.n == 3
    assert accuracy(SAID, {}, REVIEWS).value is None
