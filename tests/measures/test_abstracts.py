"""The background of a structured abstract."""

import json
from pathlib import Path

import pytest

from measures.abstracts import background_of
from measures.pio import every_pair_of, pairs_of, parse_pio

MS2_SAMPLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "ms2" / "sample.json"


@pytest.mark.parametrize(
    ("abstract", "background"),
    [
        ("BACKGROUND: It is rare. METHODS: We searched. RESULTS: It helps.", "BACKGROUND: It is rare."),
        (" Background: It is rare. Aims: To see. Search strategy: All.", "Background: It is rare. Aims: To see."),
        ("OBJECTIVE To see. DATA SOURCES MEDLINE. CONCLUSIONS It helps.", "OBJECTIVE To see."),
        ("AIMS AND OBJECTIVES\nTo see.\nMETHODS\nWe searched.", "AIMS AND OBJECTIVES\nTo see."),
        # Results and methods follow, under words that are no headings.
        (
            "PURPOSE To compare the results of two methods. RESULTS None.",
            "PURPOSE To compare the results of two methods.",
        ),
        ("OBJECTIVE <int> Iron </int> or not? METHODS: We searched.", "OBJECTIVE <int> Iron </int> or not?"),
    ],
)
def test_the_background_ends_at_the_first_other_section(abstract: str, background: str) -> None:
    assert background_of(abstract) == background


@pytest.mark.parametrize(
    "abstract",
    [
        "",
        "It is rare. We searched. It helps.",
        "METHODS: We searched. BACKGROUND: It is rare. RESULTS: None.",
        # Its end is unknown: results could be in it.
        "BACKGROUND: It is rare. We searched, and it helps.",
        "Background music helps. METHODS: We searched.",
    ],
)
def test_an_abstract_without_section_boundaries_has_no_background(abstract: str) -> None:
    assert background_of(abstract) == ""


def test_a_tag_closed_after_the_last_full_stop_belongs_to_the_next_section() -> None:
    abstract = "AIM Does <int> iron </int> prevent <out> falls </out> or <out> death . </out> METHODS We searched ."
    assert background_of(abstract).endswith("<out> death .")
    assert parse_pio(background_of(abstract)).outcomes == ("falls",)


@pytest.mark.skipif(not MS2_SAMPLE.exists(), reason="MS^2's sample is not beside the project: ../shared/data/ms2")
def test_the_background_of_ms2s_sample_is_its_classifiers_background_and_goal() -> None:
    review = json.loads(MS2_SAMPLE.read_text("utf-8"))
    named = [sentence for label, sentence, _ in review["structured_abstract"] if label in ("BACKGROUND", "GOAL")]
    assert background_of(review["abstract"]) == " ".join(named)
    tagged = parse_pio(background_of(review["abstract"]))
    assert len(pairs_of(tagged.interventions, tagged.outcomes)) == 2
    assert len(every_pair_of(tagged.interventions, tagged.outcomes)) == 4
