"""Copying, compared with a brute-force search, and with ROUGE by rouge-score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from measures.copying import (
    EMPTY_INPUTS,
    EMPTY_OUTPUT,
    NO_INPUTS,
    CopyInputs,
    SuffixAutomaton,
    copying,
    copying_difference,
    rouge_against_inputs,
)
from measures.rouge import EMPTY_REFERENCE, RougeText, rouge
from measures.sentences import ngrams, sentences, tokens_of

M3_LEVEL3 = Path(__file__).resolve().parents[3] / "shared" / "data" / "m3" / "level3.jsonl"

LETTERS = st.lists(st.sampled_from("ab"), max_size=14)
SOURCES = st.lists(LETTERS, max_size=4)


def runs_from(tokens: Sequence[str], sources: Sequence[Sequence[str]]) -> list[tuple[int, int, int]]:
    """Return (length, source, start) of the longest run from each token, the first of equal ones, by brute force."""
    found = []
    for i in range(len(tokens)):
        best = (0, -1, -1)
        for number, source in enumerate(sources):
            for j in range(len(source)):
                n = 0
                while i + n < len(tokens) and j + n < len(source) and tokens[i + n] == source[j + n]:
                    n += 1
                if n > best[0]:
                    best = (n, number, j)
        found.append(best)
    return found


@given(LETTERS, SOURCES)
def test_the_automaton_finds_what_looking_everywhere_finds(tokens: list[str], sources: list[list[str]]) -> None:
    assert [tuple(match) for match in SuffixAutomaton(sources).longest_from(tokens)] == runs_from(tokens, sources)


@given(LETTERS, SOURCES, st.integers(1, 4))
def test_all_copying_figures_equal_counts_by_hand(output: list[str], sources: list[list[str]], least: int) -> None:
    found = copying(" ".join(output), [" ".join(source) for source in sources], least=least)
    if found.undefined:
        assert not output or not any(sources)
        assert (found.coverage, found.density, found.compression, found.longest) == (None, None, None, None)
        return
    by_hand = runs_from(output, sources)
    fragments, i = [], 0
    while i < len(output):
        fragments.append(by_hand[i][0])
        i += max(1, by_hand[i][0])
    n = len(output)
    assert found.coverage == sum(fragments) / n == sum(t in {u for s in sources for u in s} for t in output) / n
    assert found.density == sum(f * f for f in fragments) / n
    assert found.compression == sum(map(len, sources)) / n
    for size, share in found.copied_ngrams.items():
        there = {gram for source in sources for gram in ngrams(source, size)}
        mine = ngrams(output, size)
        assert share == (sum(gram in there for gram in mine) / len(mine) if mine else None)
    longest = max(length for length, _, _ in by_hand)
    assert (found.longest.n_tokens if found.longest else 0) == longest
    marked = {i for run in found.runs for i in range(run.range[0] // 2, run.range[0] // 2 + run.n_tokens)}
    assert marked == {j for i, (length, _, _) in enumerate(by_hand) if length >= least for j in range(i, i + length)}


@given(
    st.lists(st.sampled_from(["Risk", "fell", "(p", "<", "0.05)", "\u03b2", "\U0001d6fc-2", "\n"]), max_size=20),
    st.data(),
)
def test_ranges_show_the_same_tokens_in_output_and_input(words: list[str], data: st.DataObject) -> None:
    inputs = [data.draw(st.permutations(words).map(" ".join)), " ".join(words).upper()]
    output = " ".join(words)
    for run in copying(output, inputs, least=1).runs:
        here, there = output[slice(*run.range)], inputs[run.input][slice(*run.input_range)]
        assert tokens_of(here).keys == tokens_of(there).keys
        assert len(tokens_of(here)) == run.n_tokens


def test_a_copied_run_never_spans_two_inputs() -> None:
    found = copying("risk of death fell", ["the risk of", "death fell in both"], least=2)
    assert found.longest
    assert found.longest.n_tokens == 2
    assert [(run.range, run.input, run.input_range) for run in found.runs] == [
        ((0, 7), 0, (4, 11)),
        ((8, 18), 1, (0, 10)),
    ]
    assert (found.coverage, found.density, found.compression) == (1.0, 2.0, 7 / 4)


def test_case_is_ignored_and_signs_count_as_tokens() -> None:
    found = copying("\u03b2-Blockers: p \u2265 0.05.", ["We gave \u03b2-blockers; p \u2265 0.05 was seen."], least=3)
    assert tokens_of("\u03b2-Blockers: p \u2265 0.05.").keys == (
        "\u03b2",
        "-",
        "blockers",
        ":",
        "p",
        "\u2265",
        "0.05",
        ".",
    )
    assert found.coverage == 7 / 8  # all but the colon
    assert found.density == (9 + 9 + 1) / 8
    assert [run.range for run in found.runs] == [(0, 10), (12, 20)]


def test_a_longer_run_inside_an_earlier_match_is_found() -> None:
    # Newsroom's pseudo-code skips after "a a" in the input and misses "a a b", which begins inside it.
    assert copying("a a b", ["a a a b"]).density == 3


def newsroom(output: list[str], source: list[str]) -> list[int]:
    """Return lengths of fragments as in Newsroom's ``analyze/fragments.py``."""
    lengths = []
    i = 0
    while i < len(output):
        best = j = 0
        while j < len(source):
            n = 0
            while i + n < len(output) and j + n < len(source) and output[i + n] == source[j + n]:
                n += 1
            best, j = max(best, n), j + max(n, 1)
        lengths += [best] * bool(best)
        i += max(best, 1)
    return lengths


@given(LETTERS.filter(bool), LETTERS.filter(bool))
def test_coverage_is_newsrooms_and_so_is_density_where_no_run_begins_inside_a_match(
    output: list[str], source: list[str]
) -> None:
    found, theirs = copying(" ".join(output), [" ".join(source)]), newsroom(output, source)
    assert found.coverage == sum(theirs) / len(output)
    assert found.density is not None
    assert found.coverage <= found.density <= len(output)
    apart = [
        f"{letter}{i}" for i, letter in enumerate(source)
    ]  # every token occurs once: no run can begin inside another
    mixed = [*apart[::2], *output, *apart]
    whole = copying(" ".join(mixed), [" ".join(apart)])
    assert whole.density == sum(n * n for n in newsroom(mixed, apart)) / len(mixed)


def test_lead_k_is_copied_completely() -> None:
    inputs = ["Risk fell (p < 0.05). Nobody died. It was safe.", "Pain improved. \u03b2-blockers did not help."]
    output = " ".join(sentences(inputs[0])[:2])
    found = copying(output, inputs)
    assert (found.coverage, found.copied_ngrams) == (1.0, {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0})
    assert found.longest
    assert found.density == found.longest.n_tokens == found.n_tokens
    assert found.longest.range == (0, len(output)) == found.longest.input_range
    assert {score.precision for score in rouge_against_inputs(output, inputs).values()} == {1.0}


@pytest.mark.skipif(not M3_LEVEL3.exists(), reason="M3 level 3 is not beside the project: ../shared/data/m3")
def test_lead_3_over_m3_is_copied_completely() -> None:
    items = [json.loads(line) for line in M3_LEVEL3.read_text("utf-8").splitlines()]
    assert len(items) == 381
    for item in items:
        inputs = [study["source_text"] for study in item["input_studies"]]
        output = " ".join(inputs[:3])
        assert copying(output, inputs).coverage == 1.0
        for score in rouge_against_inputs(output, inputs, kinds=["rouge1", "rouge2", "rougeL"]).values():
            assert score.precision == 1.0


def test_the_difference_is_rouge_against_inputs_minus_rouge_against_the_target() -> None:
    inputs, target = ["Risk of death fell in both groups.", "Pain was not reduced."], "Treatment reduces risk of death."
    output = "Risk of death fell."
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
    near, right = scorer.score("\n".join(inputs), output), scorer.score(target, output)
    for kind, found in copying_difference(output, inputs, target).items():
        assert found.difference.f1 == pytest.approx(near[kind].fmeasure - right[kind].fmeasure, abs=1e-12)
        assert found.difference.precision == pytest.approx(near[kind].precision - right[kind].precision, abs=1e-12)
        assert found.inputs.recall == near[kind].recall
        assert found.target.recall == right[kind].recall


def test_the_best_single_input_can_be_the_reference() -> None:
    inputs = ["Risk fell.", "Pain was reduced in both groups."]
    best = rouge_against_inputs("Risk fell", inputs, pooling="best")
    assert best["rougeL"].f1 == 1.0
    assert rouge_against_inputs("Risk fell", inputs)["rougeL"].recall == 2 / 8


def test_inputs_are_made_ready_once_and_give_the_same_figures() -> None:
    inputs = ["Deaths were falling in both groups.", "Pain was not reduced."]
    ready = CopyInputs(inputs)
    for output in ("Deaths fell in both groups", "Pain was not", ""):
        assert copying(output, ready) == copying(output, inputs)
        for stemmer in (False, True):
            assert copying_difference(output, ready, "Death falls", stemmer=stemmer) == copying_difference(
                output, inputs, "Death falls", stemmer=stemmer
            )
    assert rouge_against_inputs(RougeText("death fall", stemmer=True), ready)["rouge1"].precision == 1.0
    assert rouge_against_inputs("death fall", ready)["rouge1"].precision == 0.0


def test_copying_is_undefined_with_a_reason_for_empty_texts() -> None:
    assert copying("", ["a"]).undefined == EMPTY_OUTPUT
    assert copying("a", []).undefined == NO_INPUTS
    assert copying("a", ["", " \n"]).undefined == EMPTY_INPUTS
    none = copying("x y", ["a b"])
    assert (none.coverage, none.density, none.longest, none.undefined) == (0.0, 0.0, None, None)
    assert none.copied_ngrams == {1: 0.0, 2: 0.0, 3: None, 4: None}
    with pytest.raises(ValueError, match="at least one"):
        copying("a", ["a"], least=0)


def test_an_undefined_side_leaves_the_difference_undefined_by_name() -> None:
    assert copying_difference("a b", [], "a b")["rouge1"].difference.undefined == f"against the inputs: {NO_INPUTS}"
    no_target = copying_difference("a b", ["a b"], "")["rouge2"]
    assert no_target.difference.undefined == f"against the target: {EMPTY_REFERENCE}"
    assert no_target.inputs == rouge("a b", "a b")["rouge2"]
    empty = copying_difference("", ["a b"], "a b")["rouge1"].difference
    assert empty.f1 == 0
    assert "0 by rouge-score" in empty.note


@pytest.mark.parametrize("word", ["a ", "a b ", ". "])
def test_a_text_that_repeats_itself_endlessly_takes_no_longer(word: str) -> None:
    found = copying(word * 4_000, [word * 4_000, word * 2_000])
    assert found.coverage == 1.0
    assert found.longest
    assert found.longest.n_tokens == found.n_tokens


def test_the_figures_can_be_stored_as_json() -> None:
    stored = json.loads(json.dumps(copying("risk fell now", ["risk fell then"], least=2).as_json()))
    assert stored["runs"] == [{"n_tokens": 2, "range": [0, 9], "input": 0, "input_range": [0, 9]}]
    difference = copying_difference("risk fell", ["risk fell"], "risk")["rouge1"].as_json()
    assert json.loads(json.dumps(difference))["difference"]["precision"] == 0.5
