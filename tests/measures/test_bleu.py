"""BLEU and chrF equal sacrebleu's figures, with its signature."""

from __future__ import annotations

import pytest
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

from measures.bleu import EMPTY_OUTPUT, EMPTY_REFERENCE, NO_ITEMS, bleu, chrf, corpus_bleu, corpus_chrf

OUTPUTS = ["Statins lower the risk of death (p < 0.05).", "No effect on pain was found.", "IOP fell", ""]
REFERENCES = [
    "Statins reduce the risk of death in adults.",
    "There was no effect on pain.",
    "\u03b2-blockers lowered intraocular pressure.",
    "Nothing is known.",
]


def test_single_figures_are_those_of_sacrebleu_with_effective_order() -> None:
    metric, characters = BLEU(effective_order=True), CHRF()
    for output, reference in zip(OUTPUTS, REFERENCES, strict=True):
        assert bleu(output, [reference]).score == pytest.approx(
            metric.sentence_score(output, [reference]).score, abs=1e-12
        )
        assert chrf(output, [reference]).score == pytest.approx(
            characters.sentence_score(output, [reference]).score, abs=1e-12
        )
    found = bleu(OUTPUTS[0], REFERENCES[:1])
    assert found.signature == f"nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    assert found.n == 1
    assert found.score is not None
    assert 0 < found.score < 100


def test_several_references_are_used_together() -> None:
    two = [REFERENCES[1], "No effect on pain was found."]
    assert bleu(OUTPUTS[1], two).score == pytest.approx(100)
    assert "nrefs:2" in bleu(OUTPUTS[1], two).signature
    assert chrf(OUTPUTS[1], two).score == pytest.approx(100)


def test_corpus_figures_sum_counts_and_are_no_mean() -> None:
    metric, characters = BLEU(), CHRF()
    found = corpus_bleu(OUTPUTS, REFERENCES)
    assert found.score == pytest.approx(metric.corpus_score(OUTPUTS, [REFERENCES]).score, abs=1e-12)
    assert found.signature == str(metric.get_signature())
    assert "eff:no" in found.signature
    assert (found.n, found.n_empty, found.n_left_out) == (4, 1, 0)
    assert found.note == "1 of 4 outputs are empty"
    assert corpus_chrf(OUTPUTS, REFERENCES).score == pytest.approx(
        characters.corpus_score(OUTPUTS, [REFERENCES]).score, abs=1e-12
    )
    singles = [bleu(o, [r]).score or 0 for o, r in zip(OUTPUTS, REFERENCES, strict=True)]
    assert found.score != pytest.approx(sum(singles) / len(singles), abs=0.1)


def test_an_empty_output_is_0_with_a_note_and_an_empty_reference_is_undefined() -> None:
    for measure in (bleu, chrf):
        assert (measure("", ["Risk fell."]).score, measure("", ["Risk fell."]).note) == (0, EMPTY_OUTPUT)
        assert (measure("Risk", [" "]).score, measure("Risk", [" "]).undefined) == (None, EMPTY_REFERENCE)
        assert measure("Risk", []).undefined == "no reference"
    some = corpus_bleu(["Risk fell.", "x"], ["Risk fell.", " "])
    assert (some.n, some.n_left_out) == (1, 1)
    for corpus in (corpus_bleu, corpus_chrf):
        assert (corpus(["x"], [""]).score, corpus(["x"], [""]).undefined) == (None, NO_ITEMS)
        with pytest.raises(ValueError, match="zip"):
            corpus(["x"], [])
