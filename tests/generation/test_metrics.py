"""Metrics compared with results by hand or by the libraries themselves."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from rouge_score import rouge_scorer

from generation import metrics
from generation.backends.protocol import InputText, Source
from generation.metrics.protocol import Judged, Row
from generation.scoring.actions import checked
from generation.sources import Material, Reference
from tests.annotation.m3_files import LEVEL3, published

INPUTS = ("Nepralin reduced relapse in adults.", "There was no effect of nepralin on pain at all.")


def judged(text: str, *targets: str, inputs: tuple[str, ...] = INPUTS, **source: Any) -> Judged:
    references = tuple(Reference(100 + i, f"111_{i}", target) for i, target in enumerate(targets))
    own = references[0] if references else None
    return Judged(
        1, text, Material(Source(1, "111_0", tuple(map(InputText, inputs)), **source), own, references[1:], 7)
    )


def rows_of(metric: str, item: Judged, **params: Any) -> list[Row]:
    chosen = metrics.get(metric)
    (rows,) = chosen.load(checked(chosen, params)).score([item])
    declared = {figure.key for figure in chosen.figures}
    assert {name for row in rows for name in row.values} <= declared, "a figure that nothing declares is never shown"
    return rows


@published
@pytest.mark.parametrize("stemmer", [False, True])
def test_rouge_is_that_of_rouge_score_on_published_items(stemmer: bool) -> None:
    """Twenty items of M3's level 3: the first three inputs as a summary, against the target."""
    lines = Path(LEVEL3).read_text(encoding="utf-8").splitlines()
    by_hand = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmer)
    for record in map(json.loads, random.Random(20).sample(lines, 20)):
        texts = tuple(study["source_text"] for study in record["input_studies"])
        output, target = " ".join(texts[:3]), record["target_text"]
        (row,) = rows_of("rouge", judged(output, target, inputs=texts), stemmer=stemmer)
        for kind, score in by_hand.score(target, output).items():
            assert row.values[f"{kind}_precision"] == pytest.approx(score.precision, abs=1e-9)
            assert row.values[f"{kind}_recall"] == pytest.approx(score.recall, abs=1e-9)
            assert row.values[f"{kind}_f1"] == pytest.approx(score.fmeasure, abs=1e-9)


def test_rouge_against_two_targets_is_two_rows() -> None:
    rows = rows_of("rouge", judged("it helps", "it helps", "it harms"))
    assert [(row.reference, row.values["rouge1_f1"]) for row in rows] == [(100, 1.0), (101, 0.5)]


def test_an_empty_target_makes_rouge_undefined_with_a_reason() -> None:
    (row,) = rows_of("rouge", judged("it helps", "\u2265 \u03b2"))
    assert row.values["rouge1_f1"] is None
    assert "nothing to compare" in row.undefined["rouge1_f1"]


@published
def test_lead_3_is_copied_completely() -> None:
    for line in Path(LEVEL3).read_text(encoding="utf-8").splitlines()[:40]:
        texts = tuple(study["source_text"] for study in json.loads(line)["input_studies"])
        (row,) = rows_of("copying", judged(" ".join(texts[:3]), inputs=texts))
        assert row.values["coverage"] == 1.0
        assert row.values["inputs_rouge1_precision"] == 1.0


def test_copying_is_rouge_against_all_inputs_and_less_that_against_the_target() -> None:
    own, difference = rows_of("copying", judged(INPUTS[0], "Nepralin reduced pain."))
    # Five tokens, all among the fifteen of the inputs.
    recall = 5 / 15
    assert own.values["inputs_rouge1_precision"] == 1.0
    assert own.values["inputs_rouge1_recall"] == pytest.approx(recall)
    against = 2 * recall / (1 + recall)
    target = 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)
    assert difference.values["difference_rouge1_f1"] == pytest.approx(against - target)
    assert (own.reference, difference.reference) == (None, 100)
    # Six tokens including the full stop, one fragment of six.
    assert (own.values["coverage"], own.values["density"], own.values["longest"]) == (1.0, 6.0, 6)
    assert own.values["compression"] == pytest.approx(17 / 6)


def test_an_empty_summary_has_no_coverage_and_says_why() -> None:
    own = rows_of("copying", judged("", "It helps."))[0]
    assert own.values["coverage"] is None
    assert own.values["longest"] is None
    assert own.undefined["coverage"] == own.undefined["longest"] == "the output is empty"


def test_bleu_of_the_corpus_is_sacrebleus_and_no_mean() -> None:
    import sacrebleu

    pairs = [("it helps the heart very much", "it helps the heart so very much"), ("it harms", "it has no effect")]
    chosen = metrics.get("bleu")
    scorer = chosen.load({})
    items = [judged(output, target) for output, target in pairs]
    rows = scorer.score(items)
    found = scorer.corpus(zip(items, rows, strict=True))["bleu"]
    by_hand = sacrebleu.corpus_bleu([o for o, _ in pairs], [[t for _, t in pairs]])
    assert found["score"] == pytest.approx(by_hand.score)
    assert found["n"] == 2
    single = [row.values["bleu"] or 0.0 for (row,) in rows]
    one_by_one = [sacrebleu.sentence_bleu(o, [t], use_effective_order=True).score for o, t in pairs]
    assert single == pytest.approx(one_by_one)
    assert found["score"] != pytest.approx(sum(single) / 2)


def test_chrf_says_its_signature() -> None:
    said = metrics.get("chrf").libraries({})
    assert "nc:6" in said["signature"]
    assert said["sacrebleu"] in said["signature"]
    (row,) = rows_of("chrf", judged("it helps", "it helps"))
    assert row.values["chrf"] == pytest.approx(100)


def test_lengths_are_counted() -> None:
    own, ratio = rows_of("length", judged("It helps. It is safe.", "It may help."))
    assert own.values == {"words": 5, "sentences": 2, "characters": 21}
    assert ratio.values["words_ratio"] == pytest.approx(5 / 3)
    assert rows_of("length", judged("It helps.", ""))[1].undefined["words_ratio"] == "the reference has no words"


def test_every_metric_declares_figures_with_names_of_their_own() -> None:
    for metric in metrics.every():
        keys = [figure.key for figure in metric.figures]
        assert len(keys) == len(set(keys)) > 0, metric.key
        assert metric.description
        assert checked(metric, {}) is not None or metric.needs_torch({})
