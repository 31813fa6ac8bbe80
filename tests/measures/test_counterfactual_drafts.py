"""Drafts of counterfactuals: the result of each rule, which are offered, and their order."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from measures import spans
from measures.counterfactual_drafts import MOST_DRAFTS, Target, drafts
from measures.counterfactual_rules import Rule
from measures.counterfactuals import Kind, Labels, allowed, check

M3_LEVEL3 = Path(__file__).resolve().parents[3] / "shared" / "data" / "m3" / "level3.jsonl"


POSITIVE, NEGATIVE = Labels("positive", "moderate"), Labels("negative", "moderate")
SAME, NOTHING = Labels("no effect", "moderate"), Labels("n/a", "no evidence")
WEAK, STRONG = Labels("positive", "weak"), Labels("positive", "strong")


@pytest.mark.parametrize(
    ("kind", "labels", "text", "rule", "made"),
    [
        (Kind.NEGATION, POSITIVE, "Nepralin reduces relapse.", Rule.NOT_ADDED, "Nepralin does not reduce relapse."),
        (Kind.NEGATION, POSITIVE, "Nepralin can reduce relapse.", Rule.NOT_ADDED, "Nepralin cannot reduce relapse."),
        (Kind.NEGATION, POSITIVE, "It was found in some trials.", Rule.NOT_ADDED, "It was not found in any trials."),
        (Kind.NEGATION, SAME, "Sleep did not improve.", Rule.NOT_DROPPED, "Sleep did improve."),
        (Kind.NEGATION, SAME, "It had no effect on sleep.", Rule.NO_DROPPED, "It had an effect on sleep."),
        (Kind.NEGATION, SAME, "No differences came up.", Rule.NO_DROPPED, "Differences came up."),
        (Kind.NEGATION, SAME, "Neither dose nor age mattered.", Rule.BOTH, "Both dose and age mattered."),
        (Kind.ANTONYM, POSITIVE, "It led to lower scores.", Rule.ANTONYM, "It led to higher scores."),
        (Kind.ANTONYM, POSITIVE, "There is a reduced risk.", Rule.ANTONYM, "There is an increased risk."),
        (Kind.ANTONYM, NEGATIVE, "It is a risk factor.", Rule.ANTONYM, "It is a protective factor."),
        (Kind.NO_EFFECT, POSITIVE, "It is more effective than rest.", Rule.NO_EFFECT, "It is as effective as rest."),
        (Kind.NO_EFFECT, POSITIVE, "Scores were lower.", Rule.NO_EFFECT, "Scores were no lower."),
        (Kind.NO_EFFECT, NEGATIVE, "Dust worsens asthma.", Rule.NO_EFFECT, "Dust has no effect on asthma."),
        (Kind.NO_EFFECT, SAME, "Both are similar.", Rule.EFFECT, "Both are better."),
        (Kind.NO_EVIDENCE, POSITIVE, "Nepralin works.", Rule.NO_EVIDENCE, "There is no evidence that nepralin works."),
        (Kind.NO_EVIDENCE, POSITIVE, "IOP fell.", Rule.NO_EVIDENCE, "There is no evidence that IOP fell."),
        (
            Kind.NO_EVIDENCE,
            POSITIVE,
            "This review shows that it works.",
            Rule.NO_EVIDENCE,
            "There is no evidence that it works.",
        ),
        (
            Kind.NO_EVIDENCE,
            POSITIVE,
            "However, it works.",
            Rule.NO_EVIDENCE,
            "However, there is no evidence that it works.",
        ),
        (Kind.NO_EVIDENCE, NOTHING, "Data are insufficient.", Rule.EVIDENCE, "Data are sufficient."),
        (Kind.MODALITY, POSITIVE, "Nepralin reduces relapse.", Rule.HEDGED, "Nepralin may reduce relapse."),
        (Kind.MODALITY, POSITIVE, "It is safe.", Rule.HEDGED, "It may be safe."),
        (Kind.MODALITY, SAME, "It did not improve sleep.", Rule.HEDGED, "It may not have improved sleep."),
        (Kind.MODALITY, WEAK, "Nepralin may reduce relapse.", Rule.UNHEDGED, "Nepralin reduces relapse."),
        (Kind.MODALITY, WEAK, "Drops may potentially be safe.", Rule.UNHEDGED, "Drops are potentially safe."),
        (Kind.MODALITY, WEAK, "It possibly helps.", Rule.UNHEDGED, "It helps."),
        (Kind.MODALITY, STRONG, "It clearly helps.", Rule.TONED_DOWN, "It helps."),
    ],
)
def test_a_rule_changes_few_words_and_is_named(kind: Kind, labels: Labels, text: str, rule: Rule, made: str) -> None:
    found = drafts(kind, Target(text, labels))
    assert (found[0].rule, found[0].text) == (rule, made)


def test_drafts_nearest_to_the_cue_come_first_and_none_touches_pico_elements() -> None:
    text = "Nepralin reduces pain and improves sleep."
    cue = [(text.index("improves"), text.index(" sleep"))]
    first = drafts(Kind.ANTONYM, Target(text, POSITIVE, polarity_cue=cue))
    assert [d.text for d in first] == [text.replace("improves", "worsens"), text.replace("reduces", "increases")]
    touched = drafts(Kind.ANTONYM, Target(text, POSITIVE, polarity_cue=cue, pico={"outcome": cue}))
    assert [d.text for d in touched] == [first[1].text]


def test_the_second_of_two_findings_is_denied_by_but() -> None:
    found = drafts(Kind.NEGATION, Target("Nepralin reduces pain and improves sleep.", POSITIVE))
    assert (Rule.BUT_NOT, "Nepralin reduces pain but does not improve sleep.") in [(d.rule, d.text) for d in found]


def test_drafts_that_fail_checks_or_contradict_the_label_are_not_offered() -> None:
    assert drafts(Kind.MODALITY, Target("There is no evidence.", NOTHING)) == []
    assert drafts(Kind.ANTONYM, Target("Glaucoma is a disease.", POSITIVE)) == []
    assert drafts(Kind.NEGATION, Target("", None)) == []


@pytest.mark.skipif(not M3_LEVEL3.exists(), reason="M3 level 3 is not beside the project: ../shared/data/m3")
def test_most_targets_of_m3_get_a_draft_of_each_kind_that_passes_the_checks() -> None:
    """On the targets of level 3; only people can judge whether a draft makes sense. M3's own texts were not
    published."""
    offered: Counter[Kind] = Counter()
    asked: Counter[Kind] = Counter()
    for line in M3_LEVEL3.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        target = _target(row)
        for kind in Kind:
            if target.labels and allowed(kind, target.labels):
                found = drafts(kind, target)
                assert len(found) <= MOST_DRAFTS
                checked = [check(kind, target.text, d.text, pico=target.pico) for d in found]
                assert not any(one.errors or one.warnings for one in checked)
                asked[kind] += 1
                offered[kind] += bool(found)
    assert sum(offered.values()) / sum(asked.values()) > 0.93
    assert all(offered[kind] / asked[kind] > 0.85 for kind in Kind)


def _target(row: dict[str, Any]) -> Target:
    text = row["target_text"]
    slots = {name: place for name, slot in row["pico"].items() if (place := spans.locate_words(text, slot))}
    return Target(
        text,
        Labels(row["target_direction"], row["target_modality"]),
        _place(text, row["target_direction_span"]),
        _place(text, row["target_modality_span"]),
        {name: [place] for name, place in slots.items()},
    )


def _place(text: str, cue: str) -> spans.Ranges:
    try:
        return spans.place(text, [cue]) if cue else ()
    except spans.SpanError:
        return ()
