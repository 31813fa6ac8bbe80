"""Consistency rules: each finds its errors and ignores intended values."""

from dataclasses import replace

import pytest

from measures.consistency import RULES, Claim, Cluster, Finding, Rewriting, Slot, check
from measures.consistency.wording import CUT, contradiction
from measures.spans import locate

TARGET = Claim(
    "a/0", "Vitamin X reduced falls in older adults.", "", "positive", "moderate", "reduced", "", ((10, 17),)
)
INPUT = Claim("a/1", "Vitamin X reduced falls by a third.", "11", "positive", "moderate", "reduced", "", ((10, 17),))
SLOTS = (
    Slot("population", "older adults", "older adults", "older adults"),
    Slot("intervention", "Vitamin X", "Vitamin X", "Vitamin X"),
    Slot("outcome", "falls", "falls", "falls"),
)
SOUND = Cluster("a", "1", TARGET, (INPUT,), SLOTS, "agreement")


def found(*clusters: Cluster, rule: str = "") -> list[Finding]:
    return [finding for finding in check(clusters) if rule in ("", finding.rule)]


def labelled(text: str, polarity: str, cue: str = "") -> Claim:
    return Claim("u", text, "", polarity, "moderate", cue, "", locate(text, cue).ranges)


def test_a_consistent_cluster_has_no_findings() -> None:
    assert found(SOUND) == []


def test_every_rule_has_a_key_and_a_reason_of_its_own() -> None:
    assert len({rule.key for rule in RULES}) == len({rule.why for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("n/a without no evidence", {"polarity": "n/a", "polarity_cue": "", "polarity_at": ()}),
        ("missing modality cue", {"modality": "weak"}),
        ("missing polarity cue", {"polarity_cue": "", "polarity_at": ()}),
        ("needless polarity cue", {"polarity": "n/a", "modality": "no evidence", "modality_cue": "x"}),
    ],
)
def test_one_label_that_is_odd_is_found_by_its_rule_alone(rule: str, change: dict[str, object]) -> None:
    [finding] = found(replace(SOUND, target=replace(TARGET, **change)))  # type: ignore[arg-type]
    assert (finding.rule, finding.unit) == (rule, "a/0")


@pytest.mark.parametrize(
    ("rule", "marked"),
    [
        ("needless polarity cue", ["reduced"]),
        ("differing labels", ["reduced"]),
        ("wording", ["not reduce"]),
        ("missing modality cue", []),
        ("relation", []),
    ],
)
def test_the_words_in_doubt_are_those_that_the_rule_is_about(rule: str, marked: list[str]) -> None:
    """For missing words nothing is highlighted, even if there is a cue of another field."""
    claim = labelled("Vitamin X did not reduce falls.", "positive", "reduce") if rule == "wording" else TARGET
    [words] = [known.in_doubt(claim) for known in RULES if known.key == rule]
    assert [claim.text[start:end] for start, end in words] == marked


def test_a_relation_is_checked_only_if_all_inputs_are_labelled() -> None:
    other = replace(
        INPUT,
        unit="a/2",
        study="12",
        text="Falls were as frequent.",
        polarity="no effect",
        polarity_cue="as frequent",
        polarity_at=((11, 22),),
    )
    [finding] = found(replace(SOUND, inputs=(INPUT, other)))
    assert (finding.rule, finding.units) == ("relation", ("a",))
    assert "1 positive, 1 no effect" in finding.reason
    assert not found(replace(SOUND, inputs=(INPUT, replace(other, polarity="", modality=""))), rule="relation")


def test_equal_sentences_with_other_modality_come_before_similar_claims() -> None:
    elsewhere = (Slot("outcome", "fractures", "fractures", "fractures"),)
    weak = replace(INPUT, unit="b/1", modality="weak", modality_cue="x")
    claim = replace(INPUT, text="It helped.", polarity_cue="helped", polarity_at=((3, 9),))
    other = replace(claim, unit="c/1", polarity="no effect")
    clusters = (
        replace(SOUND, inputs=(INPUT, replace(claim, unit="a/2", study="12"))),
        Cluster("c", "3", None, (replace(other, study="12"),), elsewhere),
        Cluster("b", "2", None, (weak,), elsewhere),
    )
    first, second = found(*clusters, rule="differing labels")
    assert (first.units, first.is_information) == (("a/1", "b/1"), False)
    assert (second.units, second.is_information) == (("a/2", "c/1"), True)
    assert "different claim" in second.reason


def test_another_study_with_the_same_words_is_another_sentence() -> None:
    other = Cluster("b", "2", None, (replace(INPUT, unit="b/1", study="12", modality="weak", modality_cue="x"),))
    assert not found(SOUND, other, rule="differing labels")


def test_near_sentences_of_opposite_polarity_are_found_among_many() -> None:
    text = "Drug {} lowered the rate of falls and of fractures in frail adults over {} years"
    many = [labelled(text.format(f"d{n}", n), "positive") for n in range(60)]
    near = labelled("Drug d7 lowered the rate of falls and of fractures in frail adults over 7 long years", "negative")
    claims = [replace(claim, unit=str(n)) for n, claim in enumerate([*many, near])]
    [finding] = found(*(Cluster(claim.unit, "1", claim) for claim in claims), rule="near duplicate")
    assert finding.units == ("7", "60")
    assert finding.weight == pytest.approx(15 / 16)


@pytest.mark.parametrize(
    ("text", "polarity", "cue", "says"),
    [
        ("Neither A nor B showed a significant association with falls.", "negative", "significant association", "no"),
        ("The drug is not better than placebo.", "negative", "not better", "no effect"),
        ("Outcomes were comparable in both arms.", "positive", "comparable", "no effect"),
        ("Drug A was non-inferior to B.", "positive", "non-inferior", "no effect"),
        ("Pressure was significantly higher with A.", "no effect", "higher", "an effect"),
        ("A was less effective than B.", "positive", "less effective", "a harm"),
        ("A provides superior control.", "negative", "superior", "a benefit"),
    ],
)
def test_wording_that_contradicts_a_polarity_is_found(text: str, polarity: str, cue: str, says: str) -> None:
    result = contradiction(labelled(text, polarity, cue))
    assert result is not None
    assert result.says.startswith(says)
    assert text[slice(*result.at)] == result.quote
    assert 0 < result.weight <= 1


@pytest.mark.parametrize(
    ("text", "polarity", "cue"),
    [
        ("Neither A nor B showed a significant association with falls.", "no effect", "significant association"),
        ("Rates were higher without medication, and with A higher still.", "positive", "higher"),
        ("A non-mydriatic camera is an effective option.", "positive", "effective"),
        ("Patients who do not respond are less likely to fall.", "positive", "less likely"),
        ("A was as safe and effective as B.", "no effect", "as safe and effective as"),
        ("Both A and B significantly reduced falls.", "no effect", "Both"),
        ("A was associated with falls but not with fractures.", "no effect", "but not"),
        ("Risk of falls rose.", "negative", "rose"),
        ("Evidence is lacking.", "n/a", ""),
    ],
)
def test_wording_that_fits_a_polarity_is_no_finding(text: str, polarity: str, cue: str) -> None:
    assert contradiction(labelled(text, polarity, cue)) is None


def test_weak_evidence_against_a_polarity_is_not_reported() -> None:
    claim = labelled("Pressure was higher with A.", "no effect", "higher")
    evidence = contradiction(claim)
    assert evidence is not None
    assert 0 < evidence.weight < CUT
    assert not found(replace(SOUND, inputs=(claim,)), rule="wording")
    stressed = labelled("Pressure was significantly higher with A.", "no effect", "higher")
    assert found(replace(SOUND, inputs=(stressed,)), rule="wording")


def test_a_split_published_negation_means_no_effect() -> None:
    text = "Neither the drug nor its vehicle was found, in this small and early terminated trial, to be tied to a rise."
    assert contradiction(replace(labelled(text, "no effect"), polarity_cue="Neither tied")) is None
    assert contradiction(labelled(text, "no effect")) is not None


def test_an_element_can_be_reworded_or_bracketed_but_not_invented() -> None:
    def told(text: str, explicit: str) -> list[Finding]:
        slot = Slot("outcome", text, text, explicit, is_reworded=True)
        return found(replace(SOUND, slots=(slot,)), rule="tuple text")

    assert told("fall of an adult", "fall of an adult") == []
    assert told("falls by frail adults", "falls by frail adults") == []
    assert told("[hip] falls", "falls") == []
    [finding] = told("hip fracture", "hip fracture")
    assert "“hip”, “fracture”" in finding.reason


def test_duplicate_inputs_and_tuples_name_all_affected_units() -> None:
    twice = replace(SOUND, inputs=(INPUT, replace(INPUT, unit="a/2")))
    [finding] = found(twice)
    assert (finding.rule, finding.units) == ("repeated input", ("a/2", "a/1"))
    shouted = tuple(replace(slot, named=f" {slot.named.upper()} ") for slot in SLOTS)
    again = replace(SOUND, unit="b", target=replace(TARGET, unit="b/0"), inputs=(), slots=shouted)
    assert [f.units for f in found(SOUND, again, rule="repeated tuple")] == [("a", "b")]
    assert not found(SOUND, replace(again, review="2"), rule="repeated tuple")


def test_a_counterfactual_is_checked_by_the_rule_of_its_kind() -> None:
    sound = Rewriting("negation", "Vitamin X did not reduce falls in older adults.")
    same = Rewriting("antonym", TARGET.text)
    [finding] = found(replace(SOUND, rewritings=(sound, same)))
    assert (finding.rule, finding.units) == ("counterfactual", ("a",))
    assert finding.reason.startswith("The antonym counterfactual")
