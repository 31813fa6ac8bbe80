"""Distractors of matching items: three similar sentences that are no evidence elsewhere."""

import pytest

from measures.evidence import as_evidence, nearest_others

SENTENCES = [
    "Nepralin is a drug for migraine in adults.",
    "Adults were randomised to nepralin or placebo.",
    "Nepralin reduced attacks of migraine.",
    "NEPRALIN  reduced attacks of migraine.",
    "Nausea was common in adults.",
    "Nepralin was well tolerated by most adults.",
]


def test_the_three_nearest_are_no_evidence_and_say_something_else() -> None:
    # The fourth has the gold sentence's words.
    assert nearest_others(SENTENCES, {2}, [3, 2, 5, 0, 1, 4], 2) == (5, 0, 1)
    assert nearest_others(SENTENCES, {2, 5}, [3, 2, 5, 0, 1, 4], 2) == (0, 1, 4)
    assert nearest_others(SENTENCES, {0, 1, 2}, [3, 2, 5, 0, 1, 4], 2) == (5, 4)


def test_sentences_that_are_evidence_are_found_by_their_words() -> None:
    assert as_evidence(["nausea was common in adults."], SENTENCES) == {4}
    assert as_evidence(["Nausea was common in adults. Nepralin was well tolerated by most adults."], SENTENCES) == {
        4,
        5,
    }
    assert as_evidence(["Something else altogether."], SENTENCES) == frozenset()
    assert as_evidence([], SENTENCES) == frozenset()


def test_an_order_of_other_sentences_is_refused() -> None:
    with pytest.raises(ValueError, match="each sentence once"):
        nearest_others(SENTENCES, {2}, [0, 1, 2], 2)
