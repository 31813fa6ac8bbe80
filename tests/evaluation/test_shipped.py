"""The shipped protocols are complete and worded by us."""

import json
import re
from pathlib import Path

import pytest

from evaluation.protocols import shipped
from evaluation.protocols.content import as_json, digest, parse, unready
from evaluation.protocols.parts import SLOTS

KEYS = shipped.KEYS
GUIDELINE = Path(__file__).resolve().parents[3] / "shared" / "data" / "guideline" / "guideline.txt"


def test_every_file_is_offered() -> None:
    assert {path.stem for path in shipped.HERE.glob("*.json")} == set(KEYS)
    assert [template.key for template in shipped.templates()] == list(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_a_round_can_be_opened_with_each_shipped_protocol(key: str) -> None:
    content = shipped.get(key).content
    assert unready(content) == []
    assert parse(json.loads(json.dumps(as_json(content)))) == content
    assert len(digest(content)) == 64


@pytest.mark.parametrize("key", KEYS)
def test_each_shipped_protocol_names_the_source_of_its_wording(key: str) -> None:
    content = shipped.get(key).content
    assert "Concord's own words" in content.instructions
    assert all(criterion.question or criterion.group for criterion in content.criteria)
    assert all(criterion.standard or not criterion.required for criterion in content.criteria)


def test_the_guideline_protocol_has_anchors_at_every_point_and_marked_examples() -> None:
    coherence, relevance, consistency = shipped.get("guideline").content.criteria
    for criterion in (coherence, relevance):
        assert [option.value for option in criterion.scale.options] == list("12345")
        assert all(option.anchor for option in criterion.scale.options)
    assert [option.label for option in consistency.scale.options] == ["Consistent", "Not consistent"]
    assert "misleading omission" in consistency.more
    for criterion in (coherence, relevance, consistency):
        assert [example.good for example in criterion.examples] == [False, True]
        assert any(example.marks for example in criterion.examples)


@pytest.mark.skipif(not GUIDELINE.exists(), reason="the guideline's document is not here")
def test_no_sentence_of_the_guidelines_document_is_among_ours() -> None:
    theirs = set(re.findall(r"\w+(?:\W+\w+){7}", GUIDELINE.read_text(encoding="utf-8").lower()))
    ours = json.dumps(as_json(shipped.get("guideline").content), ensure_ascii=False).lower()
    assert len(theirs) > 50
    assert [words for words in theirs if words in ours] == []


def test_m3_protocols_ask_about_each_element_by_exception() -> None:
    for key in ("m3-table-3", "m3-table-5", "m3-table-5-blind"):
        content = shipped.get(key).content
        assert [c.key for c in content.criteria if c.group == "pico"] == list(SLOTS)
        assert content.groups[0].by_exception
        assert not {"all-correct", "all-wrong"} & {c.key for c in content.criteria}
        assert "polarity" in {c.key for c in content.criteria if c.na}
    [*_, polarity, modality] = shipped.get("m3-table-3").content.criteria
    assert (polarity.beside, modality.beside) == ("polarity", "modality")


def test_texts_without_a_claim_have_no_polarity_and_no_evidence_modality() -> None:
    content = shipped.get("m3-table-5").content
    [polarity] = content.criterion("polarity").prefill
    assert (polarity.when.criterion, polarity.when.values, polarity.na) == ("claim", ("no",), True)
    same, different = content.criterion("modality").prefill
    assert (same.target, same.value, different.target, different.value) == (("no evidence",), "same", (), "different")
    hallucination = content.criterion("hallucination")
    assert (hallucination.scale.type, hallucination.frame) == ("spans", "source")
    assert hallucination.scale.options[0].label == "Content inconsistent with the inputs"
    assert [c.key for c in content.criteria if not c.required] == ["tuple", "comment"]


def test_blind_labels_are_given_without_sight_of_the_targets() -> None:
    content = shipped.get("m3-table-5-blind").content
    assert (content.derives, content.show.target) == ("m3", "tuple")
    assert content.criterion("polarity").beside == content.criterion("modality").beside == ""


def test_directions_are_labelled_one_text_a_page_with_five_definitions() -> None:
    content = shipped.get("ms2-direction").content
    assert (content.texts_per_page, content.show.source, content.show.target) == ("one", False, "none")
    [direction] = content.criteria
    assert [o.value for o in direction.scale.options] == ["increases", "no change", "decreases", "insufficient", "skip"]


def test_the_others_have_the_scales_of_their_publications() -> None:
    facets = {c.key: c for c in shipped.get("mslr-facets").content.criteria}
    for key in ("fluency", "population", "intervention", "outcome"):
        assert [option.value for option in facets[key].scale.options] == list("012")
    for whose in ("target", "generated"):
        assert [option.value for option in facets[f"strength-{whose}"].scale.options] == list("0123")
        assert facets[f"direction-{whose}"].na
    preference = shipped.get("preference").content
    assert (preference.kind, [o.value for o in preference.criteria[0].scale.options]) == (
        "compare",
        ["left", "right", "tie", "neither"],
    )
    errors, score = shipped.get("error-spans").content.criteria
    assert [severity.value for severity in errors.scale.severities] == ["minor", "major"]
    assert (score.scale.minimum, score.scale.maximum) == (0, 100)
