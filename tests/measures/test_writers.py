"""Agreement of writers, against counts by hand and the libraries themselves."""

import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from measures.writers import Written, agreement

A = "drink water and rest for two days"
B = "rest for two days and drink water"


def texts(*rows: tuple[str, str, str, str, str]) -> list[Written]:
    return [Written(*row) for row in rows]


def test_two_writers_equal_a_hand_count() -> None:
    report = agreement(
        texts(
            ("1", "1_Answer1", "extractive", "ann", A),
            ("1", "1_Answer1", "extractive", "bob", B),
            ("2", "2_Answer1", "extractive", "ann", "one two three"),
            ("2", "2_Answer1", "extractive", "bob", "one two four five"),
        )
    )
    [figures] = [row for row in report["types"] if row["type"] == "passage extractive"]
    assert (figures["pairs"], figures["questions"], figures["left_out"]) == (2, 2, 0)
    # First pair: 4 of 6 bigrams (drink water, rest for, for two, two days); LCS "rest for two days" 4 of 7.
    # Second pair: 1 of 2 and 1 of 3 bigrams; LCS "one two" 2 of 3 and 2 of 4.
    rouge2 = (4 / 6 + 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)) / 2
    rouge_l = (4 / 7 + 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4)) / 2
    assert figures["measures"]["rouge2"]["value"] == pytest.approx(rouge2, abs=1e-9)
    assert figures["measures"]["rouge_l"]["value"] == pytest.approx(rouge_l, abs=1e-9)
    scorer, bleu = RougeScorer(["rouge2", "rougeL"]), BLEU(effective_order=True)
    pairs = [(A, B), ("one two three", "one two four five")]
    both = [bleu.sentence_score(a, [b]).score for one, other in pairs for a, b in ((one, other), (other, one))]
    assert figures["measures"]["bleu"]["value"] == pytest.approx(sum(both) / 4, abs=1e-9)
    for name, kind in (("rouge2", "rouge2"), ("rouge_l", "rougeL")):
        by_library = sum(scorer.score(a, b)[kind].fmeasure for a, b in pairs) / 2
        assert figures["measures"][name]["value"] == pytest.approx(by_library, abs=1e-9)


def test_forms_are_compared_in_one_direction_and_by_writer() -> None:
    report = agreement(
        texts(
            ("1", "all", "abstractive", "ann", "water helps"),
            ("1", "all", "extractive", "ann", A),
            ("1", "all", "abstractive", "bob", "something else"),
        )
    )
    [figures] = [row for row in report["forms"] if row["type"] == "all"]
    assert (figures["pairs"], figures["left_out"]) == (1, 0)
    expected = BLEU(effective_order=True).sentence_score(A, ["water helps"]).score
    assert figures["measures"]["bleu"]["value"] == pytest.approx(expected, abs=1e-9)


def test_empty_texts_are_left_out_and_the_most_different_pairs_are_listed() -> None:
    report = agreement(
        texts(
            ("1", "1_Answer1", "extractive", "ann", A),
            ("1", "1_Answer1", "extractive", "bob", ""),
            ("1", "1_Answer1", "extractive", "eve", B),
            ("1", "1_Answer2", "extractive", "ann", A),
            ("1", "1_Answer2", "extractive", "eve", "nothing alike"),
        )
    )
    [figures] = [row for row in report["types"] if row["type"] == "passage extractive"]
    assert (figures["pairs"], figures["questions"], figures["left_out"]) == (2, 1, 2)
    assert "question" in figures["measures"]["rouge2"]["ci_reason"]
    assert [(row["passage"], row["writers"], row["value"] == 0) for row in report["lowest"]] == [
        ("1_Answer2", ["ann", "eve"], True),
        ("1_Answer1", ["ann", "eve"], False),
    ]


def test_the_order_of_texts_changes_nothing() -> None:
    rows = texts(*((str(q), "all", "extractive", w, f"{t} {q}") for q in range(9) for w, t in (("a", A), ("b", B))))
    assert agreement(rows) == agreement(rows[::-1])
