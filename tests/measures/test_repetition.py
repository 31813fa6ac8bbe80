"""Length and repetition, counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.repetition import Length, distinct_over, length_of, repetition

LOOP = "Risk fell. Risk fell. It was safe. Risk FELL!"


def test_length_is_counted_in_words_sentences_and_code_points() -> None:
    assert length_of("Risk fell (p < 0.05). \U0001d6fc-blockers \u2014 no.") == Length(7, 2, 38)  # "<" is a word there
    assert length_of("") == Length(0, 0, 0)


def test_repeated_and_distinct_ngrams_are_counted_without_punctuation_or_case() -> None:
    found = repetition(LOOP)
    # risk fell risk fell it was safe risk fell: 9 words, 5 of them distinct; 8 bigrams, of which "risk fell" thrice
    one, two, three, four = found.ngrams
    assert (one.total, one.distinct, one.distinct_share) == (9, 5, 5 / 9)
    assert (two.total, two.distinct) == (8, 6)
    assert two.repeated_share == pytest.approx(2 / 8)
    assert (three.repeated_share, four.repeated_share) == (0.0, 0.0)
    assert (found.sentences, found.repeated_sentences) == (4, 2)


def test_a_text_too_short_for_an_ngram_leaves_it_undefined() -> None:
    one, two = repetition("Risk.", sizes=(1, 2)).ngrams
    assert one.distinct_share == 1
    assert (two.distinct_share, two.repeated_share, two.undefined) == (None, None, "no text has 2 words")
    assert repetition("?!").ngrams[0].undefined == "no text has a word"
    assert repetition("").repeated_sentences == 0
    with pytest.raises(ValueError, match="at least one"):
        repetition("a", sizes=(0,))


def test_a_systems_variety_is_that_of_all_its_outputs_together() -> None:
    outputs = ["No effect was found.", "No effect was found.", "Pain fell."]
    found = distinct_over(outputs, 2)
    assert (found.total, found.distinct, found.distinct_share) == (7, 4, 4 / 7)  # "found No" crosses the end of a text
    assert distinct_over([], 1).undefined == "no text has a word"


@given(st.text(alphabet="ab .", max_size=40), st.integers(1, 4))
def test_both_shares_are_complements_and_no_ngram_is_lost(text: str, n: int) -> None:
    found = distinct_over([text], n)
    words = text.replace(".", " ").split()
    assert found.total == max(0, len(words) - n + 1)
    if found.distinct_share is not None and found.repeated_share is not None:
        assert found.distinct_share + found.repeated_share == pytest.approx(1)
        assert 1 / found.total <= found.distinct_share <= 1
