"""Agreement of marked spans."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures import span_agreement
from measures.span_agreement import (
    Unit,
    character_f1,
    exact,
    overlap,
    shared_characters,
    span_f1,
    span_set_f1,
    token_f1,
    tokens_touched,
)
from measures.spans import words

TEXT = "The treatment was not effective, at all."
RANGES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=5)


def test_spans_of_the_same_characters_agree_however_they_are_split() -> None:
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
    # the first span of a could match either of b; only one choice leaves a partner for the second
    a = [[(0, 10)], [(0, 3)]]
    b = [[(0, 2)], [(5, 8)]]
    assert span_set_f1(a, b, "overlap") == 1
    assert span_set_f1(a, b, "exact") == 0
    assert span_set_f1([[(0, 10)]], b, "overlap") == pytest.approx(2 / 3)
    assert span_set_f1([], []) is None


def test_crossing_spans_of_a_set_are_distinguished() -> None:
    assert span_set_f1([[(0, 5)], [(3, 8)]], [[(3, 8)], [(0, 5)]]) == 1


def test_span_f1_is_the_mean_over_items_of_the_mean_over_pairs_that_marked_something() -> None:
    spans: dict[int, dict[str, list[tuple[int, int]]]] = {
        1: {"ann": [(18, 31)], "bob": [(22, 31)], "cy": [(22, 31)]},
        2: {"ann": [], "bob": [], "cy": [(0, 3)]},
        3: {"ann": [], "bob": []},
    }
    found = span_f1(dict.fromkeys(spans, TEXT), spans)
    assert found.value == pytest.approx(((2 / 3 + 2 / 3 + 1) / 3 + 0) / 2)
    assert (found.n_items, found.n_pairs, found.n_both_empty) == (2, 5, 2)


def test_span_f1_without_any_span_or_any_pair_says_why() -> None:
    assert span_f1({1: TEXT}, {1: {"ann": [], "bob": []}}).undefined == "no span marked"
    nothing = span_f1({1: TEXT}, {1: {"ann": [(0, 3)]}})
    assert (nothing.value, nothing.undefined) == (None, "not enough ratings")


def test_spans_of_punctuation_alone_are_compared_by_character() -> None:
    assert span_f1({1: TEXT}, {1: {"ann": [(31, 32)], "bob": [(31, 32)]}}).value == 1


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


def by_pairs(text: str, spans: list[list[tuple[int, int]]], unit: Unit) -> list[float]:
    """Return the mean of the pairwise definitions that `span_f1` computes."""
    found = []
    for a, b in combinations(spans, 2):
        score = character_f1(a, b)
        if score is None:
            continue
        if unit == "token":
            by_word = token_f1(text, a, b)
            score = score if by_word is None else by_word
        elif unit in ("exact", "overlap"):
            score = float(exact(a, b) if unit == "exact" else overlap(a, b))
        found.append(score)
    return found


@given(st.lists(RANGES, min_size=2, max_size=4), st.sampled_from(["token", "character", "exact", "overlap"]))
def test_span_f1_of_one_text_is_the_mean_of_its_pairs(spans: list[list[tuple[int, int]]], unit: Unit) -> None:
    found = span_f1({1: TEXT}, {1: dict(enumerate(spans))}, unit)
    scores = by_pairs(TEXT, spans, unit)
    assert (found.n_pairs, found.n_both_empty) == (len(scores), len(spans) * (len(spans) - 1) // 2 - len(scores))
    assert found.value == (pytest.approx(sum(scores) / len(scores)) if scores else None)


@given(RANGES)
def test_a_span_touches_each_word_that_shares_a_character(ranges: list[tuple[int, int]]) -> None:
    marked = {i for low, high in ranges for i in range(low, high)}
    expected = {n for n, (low, high) in enumerate(words(TEXT)) if marked & set(range(low, high))}
    assert tokens_touched(words(TEXT), ranges) == expected


def test_a_text_is_cut_into_words_once_however_many_marked_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []

    def counted(text: str) -> tuple[tuple[int, int], ...]:
        cut.append(text)
        return words(text)

    monkeypatch.setattr(span_agreement, "words", counted)
    spans: dict[int, dict[int, list[tuple[int, int]]]] = {1: {n: [(0, n)] for n in range(1, 6)}, 2: {1: [], 2: []}}
    span_f1({1: TEXT, 2: TEXT}, spans)
    assert cut == [TEXT]
