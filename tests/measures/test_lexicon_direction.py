"""The lexicon classifier on sentences of reviews: results, evidence words, and limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.direction import CLASSES, PRIOR, delta_ei, direction_f1
from measures.lexicon import LEXICON, plays
from measures.lexicon_cues import (
    NO_CUE,
    NOT_NAMED,
    NOTHING,
    content_words,
    lexicon_direction,
    lexicon_directions,
    lexicon_parameters,
    singular,
)

DOWN, SAME, UP = CLASSES

SENTENCES = [
    ("Statins reduce the risk of death in adults.", "statins", "death", DOWN),
    ("Vitamin K supplementation did not reduce hip fractures.", "vitamin K", "hip fracture", SAME),
    ("There was no significant difference in mortality between aspirin and placebo.", "aspirin", "mortality", SAME),
    ("Patients on metformin had a lower risk of cancer.", "metformin", "cancer", DOWN),
    ("Smoking increases the risk of age-related macular degeneration.", "smoking", "macular degeneration", UP),
    (
        "This meta-analysis suggests that phytonadione and menaquinone-4 reduces bone loss.",
        "phytonadione",
        "bone loss",
        DOWN,
    ),
    ("Serum osteocalcin levels were significantly higher in the vitamin D group.", "vitamin D", "osteocalcin", UP),
    ("Exercise improved quality of life.", "exercise", "quality of life", UP),
    ("Acupuncture improved pain at 12 weeks.", "acupuncture", "pain", DOWN),
    (
        "Treatment with ranibizumab led to a greater reduction in central macular thickness.",
        "ranibizumab",
        "central macular thickness",
        DOWN,
    ),
    ("H. pylori infection is associated with open-angle glaucoma.", "H. pylori infection", "glaucoma", UP),
    ("H. pylori infection is not associated with an increased risk of glaucoma.", "H. pylori", "glaucoma", SAME),
    ("Physical activity was inversely associated with depression.", "physical activity", "depression", DOWN),
    ("Low intake of vitamin K is associated with an increased risk of fracture.", "vitamin K", "fracture", DOWN),
    ("Zinc had no effect on visual acuity, but increased nausea.", "zinc", "visual acuity", SAME),
    ("Zinc had no effect on visual acuity, but increased nausea.", "zinc", "nausea", UP),
    ("The drug reduced pain and increased fatigue.", "drug", "fatigue", UP),
    ("The drug reduced pain and increased fatigue.", "drug", "pain", DOWN),
    ("Blood pressure was reduced, but not significantly.", "drug", "blood pressure", SAME),
    (
        "The reduction in bleeding with tranexamic acid was not significant (P > 0.05).",
        "tranexamic acid",
        "bleeding",
        SAME,
    ),
    ("Complications were similar in both groups.", "laser", "complications", SAME),
    ("There is no evidence that antioxidant supplements prevent cataract.", "antioxidant", "cataract", SAME),
    ("It is unclear whether omega-3 lowers the incidence of dementia.", "omega-3", "dementia", SAME),
    ("Neither lutein nor zeaxanthin slowed progression to advanced disease.", "lutein", "progression", SAME),
    ("Bisphosphonates prevent the decrease in bone mineral density.", "bisphosphonates", "bone mineral density", UP),
    ("Mortality was higher with placebo than with dexamethasone.", "dexamethasone", "mortality", DOWN),
    ("Fewer relapses occurred with fingolimod.", "fingolimod", "relapses", DOWN),
    (
        "Children on steroids were less likely to be hospitalised; mean length of stay was shorter.",
        "steroids",
        "length of stay",
        DOWN,
    ),
    ("High doses of vitamin E increased all-cause mortality.", "vitamin E", "mortality", UP),
    (
        "Travoprost was more effective than timolol in lowering intraocular pressure.",
        "travoprost",
        "intraocular pressure",
        DOWN,
    ),
    ("IOP remained unchanged after surgery.", "surgery", "IOP", SAME),
    ("Probiotics failed to shorten the duration of diarrhoea.", "probiotics", "duration of diarrhoea", SAME),
    ("The trials didn't show any improvement in cognition with ginkgo.", "ginkgo", "cognition", SAME),
    ("Not only did statins lower cholesterol, they were safe.", "statins", "cholesterol", DOWN),
    ("Withdrawal of statins raised cholesterol.", "statins", "cholesterol", DOWN),
    ("Myopia and age were risk factors for glaucoma.", "myopia", "glaucoma", UP),
    ("Timolol was less effective than latanoprost in lowering IOP.", "timolol", "IOP", UP),
    ("Lower limb pain was not affected by massage.", "massage", "pain", SAME),
    ("Surgery was a risk factor for endophthalmitis.", "surgery", "endophthalmitis", UP),
]


@pytest.mark.parametrize(("text", "intervention", "outcome", "expected"), SENTENCES)
def test_directions_of_sentences_are_read_as_a_reader_would(
    text: str, intervention: str, outcome: str, expected: str
) -> None:
    found = lexicon_direction(text, intervention, outcome)
    assert found.likeliest == expected, found
    assert found.cues
    assert sum(found.distribution) == pytest.approx(1)


def test_the_sentence_that_names_the_outcome_best_is_the_evidence() -> None:
    text = (
        "Low vitamin K may be harmful. Vitamin K increased bone mineral density. "
        "Vitamin K did not reduce hip fractures. Funding was public."
    )
    hip, density = lexicon_directions(text, [("vitamin K", "hip fractures"), ("vitamin K", "bone mineral density")])
    assert (hip.sentence, hip.likeliest) == ("Vitamin K did not reduce hip fractures.", SAME)
    assert (density.sentence, density.likeliest) == ("Vitamin K increased bone mineral density.", UP)
    assert hip.evidence
    assert text[slice(*hip.evidence)] == hip.sentence
    assert (hip.outcome_named, hip.intervention_named) == (1.0, 1.0)
    assert hip == lexicon_direction(text, "vitamin K", "hip fractures")


def test_a_sentence_that_asks_is_read_only_when_no_other_names_the_outcome() -> None:
    text = "To determine whether vitamin K can reduce hip fractures. Hip fractures were not reduced."
    assert lexicon_direction(text, "vitamin K", "hip fractures").sentence == "Hip fractures were not reduced."
    assert lexicon_direction(text[:56], "vitamin K", "hip fractures").evidence == (0, 56)


def test_the_answer_shows_the_words_it_rests_on_with_ranges_in_the_text() -> None:
    text = "We searched.\nThe \U0001d6fc-blocker did not reduce pain."
    (cue,) = lexicon_direction(text, "\U0001d6fc-blocker", "pain").cues
    assert (cue.says, cue.quote, cue.rule) == ("no change", "reduce", "falls, negated")
    assert text[slice(*cue.range)] == "reduce"


def test_without_direction_words_the_prior_is_returned_and_named() -> None:
    empty = lexicon_direction("", "aspirin", "pain")
    assert (empty.distribution, empty.evidence, empty.note) == (PRIOR, None, NOTHING)
    silent = lexicon_direction("Aspirin and pain were studied.", "aspirin", "pain")
    assert silent.distribution == pytest.approx(PRIOR)
    assert silent.note == NO_CUE
    other = lexicon_direction("Aspirin reduced fever.", "aspirin", "mortality")
    assert other.note == NOT_NAMED
    assert other.outcome_named == 0
    near = lexicon_direction("Aspirin reduced fever.", "aspirin", "fever")
    assert near.distribution[0] > other.distribution[0]


def test_the_later_of_equally_likely_classes_counts_as_in_f1() -> None:
    even = replace(lexicon_direction("", "x", "y"), distribution=(0.4, 0.2, 0.4))
    assert even.likeliest == UP


def test_one_cue_beside_the_outcome_weighs_what_the_docstring_says() -> None:
    down = lexicon_direction("Statins reduce mortality.", "statins", "mortality").distribution
    assert down == pytest.approx([(1 + 0.5 * PRIOR[0]) / 1.5, 0.5 * PRIOR[1] / 1.5, 0.5 * PRIOR[2] / 1.5])
    assert 0.7 < down[0] < 0.86


def test_content_words_leave_out_general_words_unless_nothing_else_is_left() -> None:
    assert content_words("risk of hip fractures .") == {"hip", "fracture"}
    assert content_words("odds ratio ( OR )") == {"odd", "ratio", "or"}
    for plural, expected in (("injuries", "injury"), ("loss", "loss"), ("doses", "dose"), ("pus", "pus")):
        assert singular(plural) == expected


def test_answers_feed_delta_ei_and_f1() -> None:
    pairs = [("statins", "mortality"), ("statins", "pain")]
    target = [each.distribution for each in lexicon_directions("Statins reduce mortality. Pain was unchanged.", pairs)]
    same = [
        each.distribution for each in lexicon_directions("Mortality fell with statins; pain did not change.", pairs)
    ]
    other = [each.distribution for each in lexicon_directions("Statins raised mortality and pain.", pairs)]
    good = {"review": list(zip(target, same, strict=True))}
    bad = {"review": list(zip(target, other, strict=True))}
    assert direction_f1(good).micro_f1 == 1
    assert direction_f1(bad).micro_f1 == 0
    near, far = delta_ei(good).base_2, delta_ei(bad).base_2
    assert near
    assert far
    assert near.mean < 0.2 < 0.5 < far.mean


def test_the_table_is_plain_words_and_the_parameters_name_its_version() -> None:
    assert all(word == word.lower() and word.rstrip("*") for ws in LEXICON.values() for word in ws)
    assert plays("falls", "reducing")
    assert not plays("falls", "lowermost")
    assert lexicon_parameters()["classifier"] == "concord-lexicon-direction 1"


PIECES = st.sampled_from(
    [
        "not",
        "reduced",
        "increase",
        "the",
        "pain",
        "aspirin",
        ",",
        "but",
        "significant",
        "(",
        "p > 0.05",
        ".",
        "\n",
        "no",
        "than",
        "low",
        "of",
        "evidence",
        "associated",
        "\U0001d6fc",
        "factor",
        "less",
        "effective",
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=30).map(" ".join)))
def test_every_text_has_one_stable_distribution_with_cues_in_its_evidence(text: str) -> None:
    found = lexicon_direction(text, "aspirin", "pain")
    assert found == lexicon_direction(text, "aspirin", "pain")
    assert sum(found.distribution) == pytest.approx(1)
    assert min(found.distribution) > 0
    for cue in found.cues:
        assert found.evidence
        assert found.evidence[0] <= cue.range[0] < cue.range[1] <= found.evidence[1]
        assert text[slice(*cue.range)].casefold() == cue.quote
        assert 0 < cue.weight <= 1
