"""How far two people marked the same text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.span_agreement import (
    character_f1,
    cue_f1,
    exact,
    overlap,
    shared_characters,
    span_set_f1,
    token_f1,
)

TEXT = "The treatment was not effective, at all."
RANGES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=5)


def test_the_same_characters_agree_exactly_however_they_are_cut() -> None:
    assert exact([(0, 3), (3, 6)], [(0, 6)])
    assert not exact([(0, 3)], [(0, 4)])


def test_touching_spans_do_not_overlap() -> None:
    assert not overlap([(0, 3)], [(3, 6)])
    assert overlap([(0, 3)], [(2, 6)])


def test_character_f1_counts_shared_characters() -> None:
    assert character_f1([(0, 4)], [(2, 6)]) == pytest.approx(0.5)
    assert character_f1([(0, 4)], []) == 0
    assert character_f1([], []) is None


def test_token_f1_counts_words_touched_and_ignores_punctuation_at_their_ends() -> None:
    not_effective, effective = [(18, 31)], [(22, 32)]
    assert token_f1(TEXT, not_effective, effective) == pytest.approx(2 / 3)
    assert token_f1(TEXT, [(22, 31)], [(22, 32)]) == 1


def test_spans_are_matched_one_to_one_and_as_many_as_possible() -> None:
    # the first span of a could take either of b; only one choice leaves a partner for the second
    a = [[(0, 10)], [(0, 3)]]
    b = [[(0, 2)], [(5, 8)]]
    assert span_set_f1(a, b, "overlap") == 1
    assert span_set_f1(a, b, "exact") == 0
    assert span_set_f1([[(0, 10)]], b, "overlap") == pytest.approx(2 / 3)
    assert span_set_f1([], []) is None


def test_crossing_spans_of_a_set_are_told_apart() -> None:
    assert span_set_f1([[(0, 5)], [(3, 8)]], [[(3, 8)], [(0, 5)]]) == 1


def test_cue_f1_is_the_mean_over_items_of_the_mean_over_pairs_that_marked_something() -> None:
    cues: dict[int, dict[str, list[tuple[int, int]]]] = {
        1: {"ann": [(18, 31)], "bob": [(22, 31)], "cy": [(22, 31)]},
        2: {"ann": [], "bob": [], "cy": [(0, 3)]},
        3: {"ann": [], "bob": []},
    }
    found = cue_f1(dict.fromkeys(cues, TEXT), cues)
    assert found.value == pytest.approx(((2 / 3 + 2 / 3 + 1) / 3 + 0) / 2)
    assert (found.n_items, found.n_pairs, found.n_both_empty) == (2, 5, 2)


def test_cue_f1_without_any_cue_or_any_pair_says_why() -> None:
    assert cue_f1({1: TEXT}, {1: {"ann": [], "bob": []}}).undefined == "no cue marked"
    nothing = cue_f1({1: TEXT}, {1: {"ann": [(0, 3)]}})
    assert (nothing.value, nothing.undefined) == (None, "not enough ratings")


def test_cues_of_punctuation_alone_are_compared_by_character() -> None:
    assert cue_f1({1: TEXT}, {1: {"ann": [(31, 32)], "bob": [(31, 32)]}}).value == 1


@given(RANGES, RANGES)
def test_f1_is_symmetric_within_bounds_and_1_only_for_the_same_characters(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    both = {i for low, high in a for i in range(low, high)} & {i for low, high in b for i in range(low, high)}
    assert shared_characters(a, b) == len(both)
    score = character_f1(a, b)
    assert score == character_f1(b, a)
    if score is None:
        assert exact(a, b)
    else:
        assert 0 <= score <= 1
        assert (score == 1) == exact(a, b)
        assert (score > 0) == overlap(a, b)
