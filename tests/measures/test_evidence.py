"""Evidence mapping: word similarity, the position baseline, and how often a ranking finds people's choices."""

import math

import pytest

from measures.evidence import Pair, Section, by_position, chance, lexical_similarities, located, ranked, report, words

ABSTRACT = [
    "Nepralin is a drug for migraine.",
    "We randomised 120 adults to nepralin or placebo.",
    "Nepralin reduced attacks by 40% compared with placebo.",
    "Nausea was common.",
]


def test_the_sentence_that_shares_most_of_the_rarest_words_is_nearest() -> None:
    found = lexical_similarities("Nepralin reduced migraine attacks.", ABSTRACT)
    assert ranked(found)[0] == 2
    assert found[3] == 0
    # By hand: df of "nausea" 1 of 4, tf 1, 3 words of a mean of 27 / 4.
    idf = math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    mean = sum(len(words(sentence)) for sentence in ABSTRACT) / 4
    alone = lexical_similarities("nausea NAUSEA", ABSTRACT)
    assert alone[3] == pytest.approx(idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / mean)))
    assert alone[:3] == [0, 0, 0]


def test_sentences_without_shared_words_keep_the_order_of_the_abstract() -> None:
    assert ranked(lexical_similarities("Zzz", ABSTRACT)) == [0, 1, 2, 3]
    assert ranked([0.3, 0.3 + 1e-12, 0.1]) == [0, 1, 2]
    assert lexical_similarities("Zzz", []) == []
    assert lexical_similarities("zzz", ["...", "!"]) == [0, 0]


def test_the_position_baseline_looks_where_findings_begin_or_an_abstract_ends() -> None:
    headed = [Section("AIM", "OBJECTIVE"), Section("Main outcomes", ""), Section("Main outcomes", "")]
    assert by_position(headed) == (1,)
    assert by_position([Section("", "METHODS"), Section("What we saw", "RESULTS")]) == (1,)
    assert by_position([Section()] * 5) == (4, 3)
    assert by_position([Section()]) == (0,)
    assert by_position([]) == ()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("nausea  was COMMON.", {3}),
        (f"{ABSTRACT[1]} {ABSTRACT[2]}", {1, 2}),
        ("nepralin reduced attacks by 40%", {2}),
        ("Nausea", set()),
        ("Another text of another abstract.", set()),
    ],
)
def test_a_text_is_found_where_it_stands_whole_or_in_part(text: str, where: set[int]) -> None:
    assert located(text, ABSTRACT) == where


def test_the_chance_level_is_that_of_random_draws() -> None:
    assert chance(10, 1, 1) == 0.1
    assert chance(10, 1, 3) == pytest.approx(0.3)
    assert chance(4, 2, 3) == 1.0
    assert chance(5, 2, 3) == pytest.approx(1 - 1 / 10)
    assert chance(2, 1, 3) == 1.0
    with pytest.raises(ValueError, match="part of the sentences"):
        chance(2, 3, 1)


@pytest.mark.usefixtures("former_rule")
def test_accuracy_counts_pairs_that_are_both_ranked_and_mapped() -> None:
    def pair(review: int, gold: set[int], order: tuple[int, ...]) -> Pair:
        return Pair(review, 4, frozenset(gold), order, position=(3, 2))

    found = report(
        [
            pair(1, {0}, (0, 1, 2, 3)),
            pair(1, {2}, (0, 1, 2, 3)),
            pair(2, {3}, (0, 1, 2, 3)),
            pair(3, {1, 3}, (1, 0, 2, 3)),
            pair(3, {1}, ()),
            pair(3, set(), (0, 1, 2, 3)),
        ]
    )
    assert (found.top_1.value, found.top_1.n, found.top_1.clusters) == (0.5, 4, 3)
    assert (found.top_3.value, found.position.value) == (0.75, 0.75)
    assert found.chance_1 == pytest.approx((0.25 * 3 + 0.5) / 4)
    assert found.chance_3 == pytest.approx((0.75 * 3 + 1) / 4)
    assert found.sentences == 4
    assert found.top_1.ci is not None
    low, high = found.top_1.ci
    assert 0 <= low < 0.5 < high <= 1


def test_without_pairs_every_figure_is_undefined() -> None:
    found = report([])
    assert found.top_1.value is None
    assert found.top_1.undefined
    assert (found.chance_1, found.chance_3, found.sentences) == (None, None, None)
