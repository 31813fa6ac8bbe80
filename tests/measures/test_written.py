"""Words and sentences of written texts. The cases are shared with ``frontend/src/kinds/write/written.test.ts``."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.written import passage_ranges, sentence_count, title_end, word_count, written_ranges

CASES = json.loads(Path(__file__).with_name("written.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:30] or "empty")
def test_counts_words_and_sentences(case: dict) -> None:  # type: ignore[type-arg]
    assert word_count(case["text"]) == case["words"]
    assert [case["text"][start:end] for start, end in written_ranges(case["text"])] == case["sentences"]
    assert sentence_count(case["text"]) == len(case["sentences"])


def test_the_title_of_a_passage_is_chosen_by_itself() -> None:
    text = "Dehydration (Symptoms): Signs of severe dehydration:  - Thirst - Headache"
    assert title_end(text) == 23
    assert [text[start:end] for start, end in passage_ranges(text)] == [
        "Dehydration (Symptoms):",
        "Signs of severe dehydration:",
        "- Thirst",
        "- Headache",
    ]
    assert title_end("No title here. Only: sentences.") == 0


@given(st.text("Aa. :?-\n\t\u2022(2)", max_size=60))
def test_ranges_cover_all_characters_once(text: str) -> None:
    for ranges in (written_ranges(text), passage_ranges(text)):
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
        assert "".join("".join(text[start:end] for start, end in ranges).split()) == "".join(text.split())
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in ranges)
