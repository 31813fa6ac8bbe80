"""Functions that read texts take linear time, also for malicious texts."""

import os
from collections.abc import Callable
from contextlib import suppress

import pytest

from measures.abstracts import background_of
from measures.bleu import bleu, chrf
from measures.copying import copying
from measures.counterfactuals import Kind, check
from measures.design import degraded
from measures.lexicon_cues import lexicon_direction
from measures.pio import parse_pio
from measures.repetition import length_of, repetition
from measures.rouge import rouge
from measures.sentences import sentence_ranges, tokens_of
from measures.span_agreement import span_f1
from measures.spans import Range, SpanError, locate, place, words
from measures.word_edits import difference
from tests.growth import assert_near_linear

pytestmark = pytest.mark.row(53)
Work = Callable[[str], object]
Text = Callable[[int], str]
#: Texts of n pieces that are bad cases for a search, pattern or table.
PIECES = (
    "a",
    "a ",
    "e.g. ",
    "A. ",
    "A b. ",
    ". ",
    "(",
    "[1]",
    "x.1",
    "1,1",
    "1.1a",
    "<int> x </int> ",
    "<int>",
    "no ",
    "neither ",
    "risk reduces ",
    "risk but ",
    "pain, no change ; ",
    "\u03b2",
    "\u0130",
    "\u00df",
    "e\u0301",
    "\n",
    " ",
    "a\n",
    "a.-1",
    "a.[1,",
    "-1",
    "/",
    "U.S. ",
    "Dr. A. ",
    "than ",
    "BACKGROUND AND ",
    "Data  ",
    "</int> ",
)
TEXTS: dict[str, Text] = {repr(piece): lambda n, piece=piece: piece * n for piece in PIECES} | {
    "other words throughout": lambda n: " ".join(f"w{i}" for i in range(n)),
    "other sentences throughout": lambda n: " ".join(f"W{i} is." for i in range(n)),
    "other spans throughout": lambda n: " ".join(f"<int> i{i} </int> <out> o{i} </out>" for i in range(n)),
}


def placed(text: str) -> None:
    with suppress(SpanError):
        place(text, [text[: len(text) // 2]])
    with suppress(SpanError):
        place(text, text.split(" "))


def marked(text: str) -> None:
    """Two people who marked every second and every third character."""
    every: Callable[[int], list[Range]] = lambda step: [(i, i + 1) for i in range(0, len(text), step)]  # noqa: E731
    span_f1({"x": text}, {"x": {"ann1": every(2), "ann2": every(3)}})


WORKS: dict[str, tuple[Work, int]] = {
    "a cue of half the text": (lambda text: locate(text, text[: len(text) // 2]), 2000),
    "a cue that is not there": (lambda text: locate(text, f"{text[: len(text) // 2]}q"), 2000),
    "quotes of a sheet": (placed, 1000),
    "agreement on cues": (marked, 500),
    "sentences": (sentence_ranges, 1000),
    "background": (lambda text: background_of(f"BACKGROUND: {text}"), 1000),
    "words": (words, 1000),
    "tokens": (tokens_of, 1000),
    "length": (length_of, 1000),
    "repetition": (repetition, 250),
    "tags": (parse_pio, 1000),
    "changed words": (lambda text: difference(text, f"y {text} z"), 500),
    "a counterfactual of other words": (lambda text: check(Kind.NEGATION, text, text[::-1]), 500),
    "copying": (lambda text: copying(text, [f"y {text}", text[::-1]]), 200),
    "direction": (lambda text: lexicon_direction(text, text[:500], f"risk of pain {text[:500]}"), 500),
    "a degraded text": (lambda text: text.split() and degraded(text, [f"y {text}"], 1), 300),
    "BLEU": (lambda text: bleu(text, [f"y {text}"]), 300),
    "chrF": (lambda text: chrf(text, [f"y {text}"]), 300),
    "ROUGE-1 and -2": (lambda text: rouge(text, f"y {text}", kinds=("rouge1", "rouge2")), 1000),
}


@pytest.mark.parametrize("name", WORKS)
def test_four_times_the_text_takes_not_sixteen_times_as_long(name: str) -> None:
    work, size = WORKS[name]
    # `make test` tries a third of the texts, another third for each function. `make soak` tries all.
    first, step = (0, 1) if os.environ.get("SOAK") else (list(WORKS).index(name) % 3, 3)
    for text in list(TEXTS.values())[first::step]:
        assert_near_linear(work, text, size)


@pytest.mark.parametrize("text", ["A b. " * 20_000, "a " * 50_000, " ".join(f"W{i} is." for i in range(11_000))])
def test_pairwise_comparisons_refuse_long_texts(text: str) -> None:
    found = rouge(text, f"y {text}", kinds=("rougeL", "rougeLsum"))
    assert "too long" in (found["rougeLsum"].undefined or "")
    assert found["rougeL"].f1 is not None or "too long" in (found["rougeL"].undefined or "")
