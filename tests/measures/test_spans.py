"""Spans: ranges of code points, exact quotes, and locating quotes in real texts."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.spans import SpanError, check_quotes, check_ranges, covering_range, locate, merged, quotes_of, words

M3_LEVEL3 = Path(__file__).resolve().parents[3] / "shared" / "data" / "m3" / "level3.jsonl"


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([], "at least one"),
        ([(0, 6)], "outside"),
        ([(-1, 2)], "outside"),
        ([(2, 2)], "empty"),
        ([(3, 1)], "empty or reversed"),
        ([(0, 3), (2, 4)], "overlaps"),
        ([(3, 4), (0, 2)], "precedes"),
    ],
)
def test_an_impossible_range_is_refused(ranges: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(SpanError, match=message):
        check_ranges("abcde", ranges)


def test_touching_fragments_and_the_whole_text_are_spans() -> None:
    assert check_ranges("abcde", [(0, 2), (2, 5)]) == ((0, 2), (2, 5))


def test_ranges_count_code_points_not_utf_16_units() -> None:
    text = "\U0001d6fc-blocker \U0001f600 helps"
    assert check_quotes(text, [(12, 17)], ["helps"]) == ((12, 17),)


def test_a_quote_that_differs_from_its_range_is_refused() -> None:
    with pytest.raises(SpanError, match="but its quote is"):
        check_quotes("neither was related", [(0, 7), (12, 19)], ["neither", "relatd "])
    with pytest.raises(SpanError, match="2 fragments have 1 quotes"):
        check_quotes("neither was related", [(0, 7), (12, 19)], ["neither"])


def test_the_covering_range_holds_all_fragments() -> None:
    assert covering_range([(4, 6), (0, 2), (9, 12)]) == (0, 12)
    with pytest.raises(SpanError):
        covering_range([])


def test_words_are_runs_without_white_space_trimmed_of_outer_punctuation() -> None:
    text = "(The) VEGF-A, p<.05 \u2014 didn't   rise\u201d."
    assert [text[a:b] for a, b in words(text)] == ["The", "VEGF-A", "p<.05", "didn't", "rise"]


def test_an_exact_hit_comes_before_an_earlier_one_in_other_case() -> None:
    found = locate("Both failed, both stopped", "both")
    assert (found.status, found.ranges) == ("exact", ((13, 17),))
    assert found.occurrences == 2
    assert found.ambiguous


def test_a_quote_in_other_case_is_found_and_marked() -> None:
    found = locate("Significant rise", "significant")
    assert (found.status, found.ranges, found.ambiguous) == ("case", ((0, 11),), False)


def test_overlapping_hits_are_counted() -> None:
    assert locate("aaaa", "aa").occurrences == 3
    assert locate("AAAA", "aa").occurrences == 3


def test_texts_are_not_repaired_so_a_trailing_space_must_match() -> None:
    assert locate("an association was", "association ").ranges == ((3, 15),)
    assert locate("an association.", "association ").status == "absent"
    assert locate("a  b", "a b").status == "absent"
    assert locate("any text", "").status == "empty"


def test_offsets_stay_right_where_folding_changes_the_length() -> None:
    text = "\u0130\u0130\u0130 Stra\u00dfe \ufb01rst"  # İ lowers to two characters, ß folds to ss, the ligature to fi
    street = locate(text, "STRASSE")
    assert street.status == "case"
    assert quotes_of(text, street.ranges) == ("Stra\u00dfe",)
    first = locate(text, "FIRST")
    assert quotes_of(text, first.ranges) == ("\ufb01rst",)


def test_a_hit_never_begins_or_ends_inside_a_character() -> None:
    assert locate("Stra\u00dfe", "stras").status == "absent"
    assert locate("\u00df", "S").status == "absent"
    assert locate("\u00df", "SS").ranges == ((0, 1),)


@given(st.text(max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_any_slice_of_a_text_is_located_exactly(text: str, a: int, b: int) -> None:
    quote = text[min(a, b) : max(a, b)]
    found = locate(text, quote)
    if not quote:
        assert found.status == "empty"
        return
    assert found.status == "exact"
    assert check_quotes(text, found.ranges, [quote]) == found.ranges
    assert found.occurrences >= 1


@given(
    st.text(alphabet="aAbB\u00df\u0130\u03c3\u03c2\u03a3 ", max_size=30),
    st.text(alphabet="aAbBsS\u03c3\u03a3", min_size=1, max_size=3),
)
def test_a_hit_in_other_case_folds_to_the_quote(text: str, quote: str) -> None:
    found = locate(text, quote)
    for start, end in found.ranges:
        assert text[start:end].casefold() == quote.casefold()
    if found.status == "absent":
        assert not any(
            text[i:j].casefold() == quote.casefold() for i in range(len(text)) for j in range(i + 1, len(text) + 1)
        )


RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6)


@given(RANGES)
def test_merging_keeps_the_characters_and_leaves_gaps_between_ranges(ranges: list[tuple[int, int]]) -> None:
    joined = merged(ranges)
    assert {i for a, b in joined for i in range(a, b)} == {i for a, b in ranges for i in range(a, b)}
    assert all(left[1] < right[0] for left, right in itertools.pairwise(joined))


@given(st.text(max_size=60))
def test_words_lie_in_order_inside_the_text_without_white_space(text: str) -> None:
    found = words(text)
    assert all(left[1] < right[0] for left, right in itertools.pairwise(found))
    assert all(not any(c.isspace() for c in text[a:b]) and a < b for a, b in found)


def test_any_white_space_separates_words() -> None:
    spaces = [chr(n) for n in range(0x110000) if chr(n).isspace()]
    assert len(spaces) > 20
    assert all(words(f"a{space}b") == ((0, 1), (2, 3)) for space in spaces)
    others = (chr(n) for n in range(0x3000) if not chr(n).isspace())
    assert all(words(f"a{other}b") == ((0, 3),) for other in others)


@pytest.mark.skipif(not M3_LEVEL3.exists(), reason="M3 level 3 is not beside the project: ../shared/data/m3")
def test_the_cues_of_m3_level_3_are_located_as_counted_in_the_published_file() -> None:
    counts: dict[str, Counter[str]] = {}

    def count(field: str, text: str, quote: str) -> None:
        found = locate(text, quote)
        per_field = counts.setdefault(field, Counter())
        per_field[found.status] += 1
        per_field["ambiguous"] += found.ambiguous

    for line in M3_LEVEL3.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        for kind in ("modality", "direction"):
            count(f"target_{kind}", item["target_text"], item[f"target_{kind}_span"])
            for study in item["input_studies"]:
                count(f"source_{kind}", study["source_text"], study[f"source_{kind}_span"])
    columns = ("empty", "exact", "case", "absent", "ambiguous")
    assert {field: tuple(found[c] for c in columns) for field, found in counts.items()} == {
        "target_modality": (214, 161, 6, 0, 5),
        "target_direction": (27, 346, 6, 2, 11),
        "source_modality": (1259, 607, 31, 14, 15),
        "source_direction": (4, 1794, 91, 22, 45),
    }
