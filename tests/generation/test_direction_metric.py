"""Delta-EI and direction F1 of summaries, by lexicon and by a tiny classifier."""

import ast
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings, settings

from api.problems import Refused
from generation import metrics
from generation.metrics.direction import DirectionScorer, compare_directions, find_pairs
from generation.metrics.protocol import Judged, MetricError, Row
from generation.scoring.actions import checked
from measures.direction import CLASSES, MS2_CLASSES
from tests.generation.test_metrics import judged
from tests.generation.tiny_encoders import build

direction = metrics.get("direction")
BACKGROUND = "Does <int> nepralin </int> prevent <out> relapse </out> or <out> pain </out> in adults?"
NAMED = {"decreases": "down", "no_change": "same", "increases": "up"}


def params(**given: Any) -> dict[str, Any]:
    return checked(direction, given)


def scored(*items: Judged, **given: Any) -> tuple[list[list[Row]], dict[str, Any]]:
    scorer = direction.load(params(**given))
    rows = scorer.score(items)
    return rows, scorer.corpus(zip(items, rows, strict=True))


def test_equal_statements_have_distance_0_and_opposite_ones_nearly_the_maximum() -> None:
    same = judged("Nepralin reduced relapse.", "Nepralin reduced relapse.", pico={"i": "nepralin", "o": "relapse"})
    other = replace(same, summary=2, text="Nepralin increased relapse.")
    (((agreeing,), (opposed,)), corpus) = scored(same, other)
    assert agreeing.values["delta_ei"] == pytest.approx(0.0)
    assert agreeing.values["decreases/decreases"] == 1
    natural = opposed.values["delta_ei"]
    assert natural is not None
    assert 0.4 < natural < math.sqrt(math.log(2))
    assert opposed.values["delta_ei_base2"] == pytest.approx(natural / math.sqrt(math.log(2)))
    assert opposed.values["decreases/increases"] == 1
    # Two pairs with a falling target; one summary says falling, one rising: F1 2/3 and 0.
    assert corpus["macro_f1"] == pytest.approx(1 / 3)
    assert (corpus["micro_f1"], corpus["n_pairs"], corpus["n"]) == (0.5, 2, 2)


def test_the_distance_is_that_of_jensen_and_shannon() -> None:
    values = compare_directions([(1.0, 0.0, 0.0)], [(0.0, 1.0, 0.0)])
    assert values["delta_ei"] == pytest.approx(math.sqrt(math.log(2)))
    assert values["delta_ei_base2"] == pytest.approx(1.0)
    assert values["decreases/no change"] == 1


def test_pairs_come_from_the_tagged_background_or_else_from_the_tuple() -> None:
    item = judged("It helps.", "It helps.", background=BACKGROUND, pico={"i": "nepralin", "o": "death"})
    assert [scored(item, pairs=where)[0][0][0].values["pairs"] for where in ("auto", "background", "pico")] == [2, 2, 1]
    implied = judged("It helps.", "It helps.", pico={"i": "[nepralin]", "o": ""})
    ((row,),), corpus = scored(implied)
    assert (row.values["pairs"], row.values["delta_ei"]) == (0, None)
    assert "no pair" in row.undefined["delta_ei"]
    assert (corpus["macro_f1"], corpus["n_pairs"], corpus["n"]) == (None, 0, 0)
    assert corpus["undefined"]


def test_repeated_tags_can_be_counted_repeatedly() -> None:
    """As in MS^2's scorer: a question of two of three pairs counts twice."""
    tagged = "<int> nepralin </int>: <out> relapse </out>, <out> pain </out> or <out> relapse </out>?"
    item = judged("Nepralin reduced relapse.", "Nepralin reduced relapse and pain.", background=tagged)
    found = {tags: scored(item, tags=tags)[0][0][0].values for tags in ("distinct", "every tag")}
    assert [found[tags]["pairs"] for tags in found] == [2, 3]
    distinct, every = (found[tags]["delta_ei"] for tags in found)
    assert distinct
    assert every is not None
    # Both agree on relapse: all distance is from pain, one pair of two, or of three.
    assert every == pytest.approx(distinct * 2 / 3)


def test_implied_words_of_an_element_are_read_without_brackets() -> None:
    source = judged("", pico={"i": "[anti-VEGF] agents", "o": "visual acuity [at 3 months]"}).material.source
    assert find_pairs(source, "pico") == (("anti-vegf agents", "visual acuity at 3 months"),)


@pytest.mark.row(53)
def test_a_unit_with_pairs_without_end_has_no_figure_and_says_why() -> None:
    tagged = " ".join(f"<int> drug{n}x </int> <out> pain{n}x </out>" for n in range(30))
    ((row,),), corpus = scored(judged("It helps.", "It helps.", background=tagged))
    assert (row.values["pairs"], row.values["delta_ei"]) == (900, None)
    assert "more than 500 pairs" in row.undefined["delta_ei"]
    assert corpus["n_pairs"] == 0


def test_the_direction_metric_ignores_tags_in_texts() -> None:
    pico = {"i": "nepralin", "o": "relapse"}
    tagged = judged("<int> Nepralin </int> reduced <out> relapse . </out>", "Nepralin reduced relapse .", pico=pico)
    ((row,),), _ = scored(tagged)
    assert row.values["delta_ei"] == pytest.approx(0.0)


def test_polarity_is_never_taken_for_direction() -> None:
    """M3's polarity is benefit or harm; a classifier of polarity is refused."""
    for labels in (
        ("negative", "no effect", "positive"),
        ("Harm", "same", "up"),
        ("down", "same", "benefit"),
        ("down", "NO_EFFECT", "up"),
        ("harmful_effect", "same", "up"),
        ("down", "same", " Positive "),
    ):
        given = dict(zip(NAMED, labels, strict=True))
        with pytest.raises(Refused, match="never compared with polarity"):
            params(classifier="model", model="m", **given)


def test_direction_classes_can_have_any_names() -> None:
    for labels in (MS2_CLASSES, ("LABEL_0", "LABEL_1", "LABEL_2"), ("lower", "no difference", "higher")):
        assert params(classifier="model", model="m", **dict(zip(NAMED, labels, strict=True)))["model"] == "m"


def test_no_metric_reads_labels_of_a_target() -> None:
    """Labels are polarity: neither metrics nor their imports use them."""
    looked_at = [
        *(settings.ROOT / "generation" / "metrics").glob("*.py"),
        settings.ROOT / "generation/scoring/actions.py",
    ]
    assert len(looked_at) > 8
    for path in looked_at:
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert not names & {"Label", "Polarity", "Modality", "Decision", "gold"}, path.name


@pytest.fixture
def tiny(tmp_path: Path, settings: LazySettings) -> Path:
    settings.MODELS_DIR = tmp_path
    # The classes have another order than ours.
    return build("bert", tmp_path / "tiny", labels=("up", "down", "same"))


def test_a_classifier_is_read_by_the_names_of_its_classes(tiny: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(tiny).to(device).eval(),
        AutoTokenizer.from_pretrained(tiny),
    )
    asked = [("Nepralin reduced relapse.", "nepralin", "relapse"), ("Long " * 60, "nepralin", "pain"), ("", "a", "b")]
    scorer = direction.load(params(classifier="model", model="tiny", **NAMED))
    assert isinstance(scorer, DirectionScorer)
    found = scorer.classifier.directions(asked)
    for (text, one, other), distribution in zip(asked, found, strict=True):
        ids = tokenizer([f"{one} {other}"], [text], truncation="only_second", max_length=40, return_tensors="pt")
        with torch.no_grad():
            up, down, same = model(**ids.to(device)).logits.softmax(-1)[0].tolist()
        assert distribution == pytest.approx((down, same, up), abs=1e-5)
    assert CLASSES == ("decreases", "no change", "increases")


@pytest.mark.parametrize(
    ("given", "said"),
    [({"increases": "more"}, "classes are down, same, up"), ({"model": "nowhere"}, "no folder 'nowhere'")],
)
def test_a_classifier_that_does_not_fit_is_refused(tiny: Path, given: dict[str, str], said: str) -> None:
    with pytest.raises(MetricError, match=said):
        direction.load(params(**{"classifier": "model", "model": "tiny", **NAMED, **given}))


def test_a_classifier_with_an_untrained_head_is_refused(tiny: Path) -> None:
    from safetensors.torch import load_file, save_file

    kept = load_file(tiny / "model.safetensors")
    save_file(
        {k: v for k, v in kept.items() if not k.startswith("classifier")},
        tiny / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(MetricError, match="The weights lack classifier"):
        direction.load(params(classifier="model", model="tiny", **NAMED))


def test_the_word_list_says_what_it_is(tiny: Path) -> None:
    assert "lexicon" in direction.libraries(params())["classifier"]
    said = direction.libraries(params(classifier="model", model="tiny", **NAMED))
    assert len(said["weights"]) == 64
    assert not direction.needs_torch(params())
    assert direction.needs_torch(params(classifier="model", model="tiny", **NAMED))


def test_repetition_is_counted() -> None:
    (row,) = metrics.get("repetition").load({}).score([judged("It helps. It helps. It is safe.", "x")])[0]
    # Seven words, four of them new; six bigrams, two of them twice.
    assert row.values["repeated_1"] == pytest.approx(3 / 7)
    assert row.values["repeated_2"] == pytest.approx(2 / 6)
    assert row.values["repeated_sentences"] == 1
    (empty,) = metrics.get("repetition").load({}).score([judged("", "x")])[0]
    assert empty.values["repeated_2"] is None
    assert empty.undefined["repeated_2"]
