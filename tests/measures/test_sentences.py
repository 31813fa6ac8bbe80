"""Sentence splitting: what ends a sentence, and that no character is lost."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.sentences import sentence_ranges, sentences

ONE = [
    "Statins (e.g. Simvastatin) reduce LDL, i.e. The low-density fraction, vs. Placebo.",
    "See Fig. 2 and Refs. 3-5 for Dr. Smith's data, cf. Table 1.",
    "Colonies of E. coli and S. aureus grew; J. Smith et al. 2010 saw the same.",
    "The patients of E. Coli and J. R. Smith improved.",
    "p < 0.05 and p <.05 at 12.5 mg were found in 3.2% (95% CI 0.1-0.3).",
    "The effect was small (see below. It vanished. Then it came back) in all groups.",
    "Patients in the U.S. National registry took 5 mg i.v. or p.o. b.i.d. for 6 wk.",
    "We measured approx. 30 mmHg in St. Mary's hospital, No. 5 in the list.",
    "1. Background of the trial",
    "p = 0. 05 was not reached.",
    "Was it reduced... or not?",
    "improved.The space is missing",
    "no stop at all",
]


@pytest.mark.parametrize("text", ONE)
def test_a_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert sentences(text) == (text,)


SEVERAL = [
    ("IOP fell (p < 0.05). It rose again in 2005. 25 patients left.", 3),
    ("Is it safe? Yes! All agreed.", 3),
    ("All had hepatitis B. Vaccination helped. None lacked vitamin D. Patients recovered.", 4),
    ("It decreased in group A, but rose in groups A and B. BMD was stable.", 2),
    ("This was shown by Smith et al. The effect was small.", 2),
    ("They lived in the U.S. The others did not.", 2),
    ("\u201cIt works.\u201d The others were silent. (This was funded.) [The end.]", 4),
    ("Pain improved.[12, 13] The dose was low. [4] Nobody died.12,13 The rest is silence.", 4),
    ("It was inhibited. mTOR was not. p53 was lost. \u03b2-blockers were not. pH fell.", 5),
    ("Risk of death .\nAnother line\r\n\r\nA third", 3),
    ("In the tokenised text , risk fell ( P < 0.001 ) . No other change was seen in group B. TRAP rose .", 3),
    ("It may prevent <out> bone loss . </out> METHODS We searched . <int> Vitamin K </int> helped .", 3),
    ("One (with a bracket. Two is next. Three.", 3),
    ("Ref.\u2028New line", 2),
]


@pytest.mark.parametrize(("text", "n"), SEVERAL)
def test_sentences_end_where_a_reader_ends_them(text: str, n: int) -> None:
    assert len(sentences(text)) == n, sentences(text)


def test_quotes_brackets_and_citations_stay_with_the_sentence_they_close() -> None:
    assert sentences("He said \u201cno.\u201d (Then he left.) The end [3].") == (
        "He said \u201cno.\u201d",
        "(Then he left.)",
        "The end [3].",
    )
    assert sentences("Pain improved. [4] Nobody died.") == ("Pain improved. [4]", "Nobody died.")
    assert sentences("bone loss . </out> METHODS We") == ("bone loss . </out>", "METHODS We")


def test_a_text_without_characters_has_no_sentence() -> None:
    assert sentences("") == ()
    assert sentences(" \n\t \u2003") == ()


PIECES = st.sampled_from(
    [
        "e.g.",
        "E.",
        "coli",
        "The",
        "p",
        "<",
        "0.05",
        ".",
        "?",
        "!",
        "(",
        ")",
        "[1]",
        "\u201d",
        "\n",
        " ",
        "\u2028",
        "</out>",
        "\u03b2",
        "\U0001d6fc",
        "et al.",
        "B.",
        "\u0130",
        "1.",
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map(" ".join), st.lists(PIECES).map("".join)))
def test_the_slices_hold_all_that_is_no_white_space_once_and_in_order(text: str) -> None:
    found = sentence_ranges(text)
    assert "".join("".join(s.split()) for s in sentences(text)) == "".join(text.split())
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(found))
    for start, end in found:
        piece = text[start:end]
        assert piece
        assert piece == piece.strip()
        assert len(piece.splitlines()) == 1


@pytest.mark.parametrize("piece", [".", "(a). ", "E. ", "((", "[1]", "a. ", ".1,", "e.g", "</a>"])
def test_a_long_text_of_one_piece_is_split_in_time_that_grows_with_its_length(piece: str) -> None:
    text = piece * 20_000 + "]" * 20_000
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
