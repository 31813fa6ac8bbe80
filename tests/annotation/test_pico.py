"""Parsing typed PICO elements: M3's brackets, and offsets of their words in the target."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.clusters.pico import find_range, form_of, in_words, without_implied
from annotation.models import PicoForm

WORDS = st.text(alphabet="abAB éß-,", min_size=1, max_size=12).filter(str.strip)
ANY = st.text(alphabet="ab []é\t", max_size=30)


@given(ANY, ANY)
def test_every_text_has_a_form_and_only_an_explicit_one_has_places(text: str, target: str) -> None:
    form, ranges = form_of(text, target)
    assert bool(ranges) == (form == PicoForm.EXPLICIT)
    assert all(0 <= start < end <= len(target) for start, end in ranges)
    assert (form == PicoForm.BLANK) == (not text.strip())


BOUNDS = st.sampled_from([" ", "-", "/", "(", ", ", "\u2013"])


@given(WORDS, ANY, ANY, BOUNDS, BOUNDS)
def test_words_of_the_target_are_explicit_where_they_stand(
    words: str, before: str, after: str, left: str, right: str
) -> None:
    target = before + left + words + right + after
    form, ranges = form_of(f" {words} ", target)
    assert form == PicoForm.EXPLICIT
    [(start, end)] = ranges
    assert target[start:end].casefold() == words.strip().casefold()


@pytest.mark.parametrize(
    ("slot", "text"),
    [
        ("VA", "elevating the pressure"),
        ("DR", "mydriatic agents"),
        ("Asian populations", "in Caucasian populations"),
        ("NPFS", "the NPFSI score"),
        ("caf\u0065", "cafe\u0301s"),
        ("s", "Straße"),
    ],
)
def test_part_of_a_word_is_not_located_in_the_text(slot: str, text: str) -> None:
    assert find_range(text, slot) is None
    assert form_of(slot, text) == (PicoForm.REWORDED, ())


def test_the_first_whole_word_match_is_used_exact_case_preferred() -> None:
    text = "Elevating va, VA-related NPFSI and NPFS."
    assert [text[start:end] for start, end in filter(None, (find_range(text, s) for s in ("VA", "NPFS", "npfs")))] == [
        "VA",
        "NPFS",
        "NPFS",
    ]
    assert find_range(text, "VA") == (14, 16)
    assert find_range("Those With Glaucoma", "[adults] with glaucoma") == (6, 19)
    assert find_range("implied", "[implied]") is None


@given(WORDS, WORDS)
def test_bracketed_text_is_implied_wholly_or_in_part_whatever_the_target_says(implied: str, rest: str) -> None:
    target = f"[{implied}] {rest} {implied}"
    assert form_of(f"[{implied}]", target) == (PicoForm.IMPLIED, ())
    assert form_of(f"[{implied}] {rest}", target) == (PicoForm.PARTLY_IMPLIED, ())
    assert form_of(f"{rest} [{implied}]", target) == (PicoForm.PARTLY_IMPLIED, ())
    assert without_implied(f"[{implied}] {rest}").strip() == rest.strip()


@given(WORDS.map(lambda w: w.replace(" ", "x")), st.text(alphabet="abAB", min_size=1, max_size=3))
def test_brackets_inside_a_word_are_part_of_it(word: str, allele: str) -> None:
    name = f"{word}[{allele}]"
    assert without_implied(name) == name
    assert form_of(name, f"about {name}.")[0] == PicoForm.EXPLICIT
    assert form_of(name, "about nothing")[0] == PicoForm.REWORDED


@given(ANY)
def test_reading_a_text_again_without_its_implied_parts_implies_nothing_more_at_its_ends(text: str) -> None:
    rest = without_implied(text)
    assert len(rest) <= len(text)
    assert form_of(text, "")[0] != PicoForm.EXPLICIT


@pytest.mark.parametrize(
    ("slot", "named"),
    [
        ("[anti-VEGF] agents", "anti-VEGF agents"),
        ("[H. pylori infection] ", "H. pylori infection"),
        ("VA [at 3 months]", "VA at 3 months"),
        ("rs4236601[A]", "rs4236601[A]"),
        ("", ""),
        ("[]", ""),
    ],
)
def test_names_of_elements_have_implied_words_without_brackets(slot: str, named: str) -> None:
    assert in_words(slot) == named
