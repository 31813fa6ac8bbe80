"""ROUGE equals rouge-score on any text, and undefined figures have a reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer, tokenize

from measures.rouge import (
    EMPTY_OUTPUT,
    EMPTY_REFERENCE,
    NO_REFERENCE,
    ROUGE_KINDS,
    ROUGE_LIBRARY,
    RougeText,
    lcs_indices,
    lcs_length,
    rouge,
    rouge_best,
    rouge_parameters,
    rouge_tokens,
)
from measures.sentences import sentences

ROOT = Path(__file__).resolve().parents[2]
M3_LEVEL3 = ROOT.parent / "shared" / "data" / "m3" / "level3.jsonl"
SCORERS = {stem: rouge_scorer.RougeScorer(list(ROUGE_KINDS), use_stemmer=stem) for stem in (False, True)}

#: Few words for many matches, and characters that the tokenizer drops or splits at.
WORDS = st.sampled_from(
    [
        "risk",
        "Risks",
        "of",
        "the",
        "death",
        "deaths",
        "0.05",
        "\u03b2",
        "vs.",
        "fell",
        "falling",
        "A.",
        "Died.",
        "\n",
        "(",
        "\u0130",
    ]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=40).map(" ".join), st.text(max_size=30))


def by_hand(output: str, reference: str, stemmer: bool) -> dict[str, tuple[float, float, float]]:
    lines = ["\n".join(sentences(text)) for text in (reference, output)]
    found = SCORERS[stemmer].score(*lines)
    return {kind: (score.precision, score.recall, score.fmeasure) for kind, score in found.items()}


def check_equal(output: str, reference: str, stemmer: bool) -> None:
    expected = by_hand(output, reference, stemmer)
    for kind, got in rouge(output, reference, stemmer=stemmer).items():
        if got.undefined:
            assert expected[kind] == (0, 0, 0)
            assert (got.precision, got.recall, got.f1) == (None, None, None)
        else:
            assert (got.precision, got.recall, got.f1) == expected[kind], kind


@given(TEXTS, TEXTS, st.booleans())
def test_every_figure_is_that_of_rouge_score(output: str, reference: str, stemmer: bool) -> None:
    check_equal(output, reference, stemmer)


@given(TEXTS, st.booleans())
def test_tokens_are_those_of_rouge_score(text: str, stemmer: bool) -> None:
    from nltk.stem.porter import PorterStemmer

    assert rouge_tokens(text, stemmer=stemmer) == tokenize.tokenize(text, PorterStemmer() if stemmer else None)


LETTERS = st.lists(st.sampled_from("abcd"), max_size=90)


@given(LETTERS, LETTERS)
def test_the_subsequence_is_the_one_that_rouge_score_reads(a: list[str], b: list[str]) -> None:
    assert sorted(lcs_indices(a, b)) == rouge_scorer.lcs_ind(a, b)
    assert lcs_length(a, b) == lcs_length(b, a) == rouge_scorer._lcs_table(a, b)[-1][-1]


@pytest.mark.skipif(not M3_LEVEL3.exists(), reason="M3 level 3 is not beside the project: ../shared/data/m3")
@pytest.mark.parametrize("stemmer", [False, True])
def test_targets_and_inputs_of_m3_score_as_rouge_score_says(stemmer: bool) -> None:
    lines = M3_LEVEL3.read_text("utf-8").splitlines()[::19]
    assert len(lines) == 21
    for line in lines:
        item = json.loads(line)
        inputs = [study["source_text"] for study in item["input_studies"]]
        check_equal(inputs[0], item["target_text"], stemmer)
        check_equal(item["target_text"], "\n".join(inputs), stemmer)


def test_rouge_of_an_example_equals_the_counts_by_hand() -> None:
    scores = rouge("the cat sat on the mat", "the cat lay on a mat")
    # common unigrams: the, cat, on, mat of 6 and 6; bigram: the cat of 5 and 5; subsequence: the cat on mat
    assert scores["rouge1"].f1 == pytest.approx(4 / 6, abs=1e-15)
    assert scores["rouge2"].recall == 1 / 5
    assert scores["rougeL"].precision == 4 / 6
    two = rouge("A died. B fell.", "B fell. A died.")
    assert (two["rougeL"].f1, two["rougeLsum"].f1) == (0.5, 1.0)


def test_precision_is_of_the_output_and_recall_of_the_reference() -> None:
    score = rouge("risk fell", "the risk of death fell in both groups")["rouge1"]
    assert (score.precision, score.recall) == (1.0, 2 / 8)


def test_an_empty_output_scores_0_with_a_note_about_rouge_score() -> None:
    for empty in ("", " \n", "\u03b2 \u2265 <"):
        for kind, score in rouge(empty, "risk of death fell").items():
            assert (score.precision, score.recall, score.f1, score.undefined) == (0, 0, 0, None), kind
            assert score.note == EMPTY_OUTPUT
    one = rouge("risk", "risk of death")
    assert one["rouge1"].note == ""
    assert (one["rouge2"].f1, one["rouge2"].note) == (0, EMPTY_OUTPUT)


def test_a_reference_without_anything_to_compare_leaves_the_figure_undefined() -> None:
    for score in rouge("risk fell", " \u03b2 ").values():
        assert (score.f1, score.undefined) == (None, EMPTY_REFERENCE)
    one = rouge("risk fell", "risk")
    assert one["rouge1"].recall == 1
    assert one["rouge2"].undefined == EMPTY_REFERENCE


def test_the_best_reference_is_chosen_per_rouge_type_like_score_multi() -> None:
    references = ["the risk of death fell", "deaths fell in both", "death of the risk"]
    output = "the risk of deaths fell"
    expected = SCORERS[False].score_multi(references, output)
    for kind, score in rouge_best(output, references).items():
        assert (score.precision, score.recall, score.f1) == tuple(expected[kind])
    assert rouge_best(output, ["", references[0]])["rouge1"].f1 == rouge(output, references[0])["rouge1"].f1
    assert rouge_best(output, [""])["rouge1"].undefined == EMPTY_REFERENCE
    assert rouge_best(output, [])["rouge1"].undefined == NO_REFERENCE


def test_a_prepared_text_gives_the_same_figures_and_keeps_its_stemmer() -> None:
    reference = RougeText("deaths were falling", stemmer=True)
    assert rouge("death fall", reference) == rouge("death fall", "deaths were falling", stemmer=True)
    assert rouge(RougeText("death fall", stemmer=True), reference)["rouge1"].precision == 1
    with pytest.raises(ValueError, match="stemmed"):
        rouge(RougeText("death fall"), reference)
    with pytest.raises(ValueError, match="rouge9"):
        rouge("a", "b", kinds=["rouge9"])  # type: ignore[list-item]


def test_the_parameters_name_library_stemmer_and_sentence_split() -> None:
    from importlib.metadata import version

    assert f"rouge-score {version('rouge-score')}" == ROUGE_LIBRARY
    plain = rouge_parameters(stemmer=False)
    assert plain == {
        "library": ROUGE_LIBRARY,
        "stemmer": False,
        "tokenizer": "rouge-score default",
        "lsum": "concord-sentences 1",
    }
    assert rouge_parameters(stemmer=True) == {**plain, "stemmer": True, "stems": f"nltk {version('nltk')}, Porter"}


def test_importing_and_scoring_without_the_stemmer_loads_no_slow_library() -> None:
    code = (
        "import sys; from measures import bleu, copying, rouge; rouge.rouge('a b', 'a c');"
        "print([m for m in ('nltk', 'rouge_score', 'sacrebleu', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
