"""What a judge is worth: figures of a whole round, biases, and the sentence."""

import json
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from measures.agreement import Ratings, gwet_ac, prepare
from measures.judges import EPSILON, Judged, JudgedChoice, JudgedRound, judge_figures
from measures.judges.agreement import agreement_figures
from measures.judges.compared import of_pairs, of_texts
from measures.judges.decision import NO, UNKNOWN, YES, decide
from measures.ratings.judgements import Criterion, Judgement, Preference

LIKERT = Criterion("fluency", "mean", (), ("1", "2", "3", "4", "5"), "higher", (1.0, 5.0))
POINTS = {"fluency": (1.0, 2.0, 3.0, 4.0, 5.0)}
FACTS = {"answers": 100, "failed": 0, "followed": 0}
SYSTEMS = ("alpha", "beta", "gamma", "delta")


def study(
    sources: int = 30,
    others: int = 60,
    *,
    noise: float = 0.5,
    shift: float = 0.0,
    raters: int = 3,
    seed: int = 1,
    longer: float = 0.0,
) -> JudgedRound:
    """Return a round with ``raters`` people, and a judge that adds ``shift`` for alpha and ``longer`` per 10 words."""
    rng = np.random.default_rng(seed)
    people: list[Judgement] = []
    judged: list[Judged] = []
    asked: list[tuple[Hashable, Hashable, str]] = []
    lengths: dict[tuple[Hashable, Hashable, str], int] = {}
    for s in range(sources + others):
        base = rng.normal(0, 0.6)
        for k, system in enumerate(SYSTEMS):
            text, words = 2.8 + 0.25 * k + base + rng.normal(0, 0.5), int(rng.integers(20, 60))
            source, key = f"s{s}", (f"s{s}", "", system)
            asked.append(key)
            lengths[key] = words
            for r in range(raters if s < sources else 0):
                people.append(Judgement(source, system, f"r{r}", "fluency", _point(text + rng.normal(0, 0.7))))
            own = text + rng.normal(0, noise) + shift * (k == 0) + longer * (words - 40) / 10
            judged.append(Judged(Judgement(source, system, "judge", "fluency", _point(own))))
    return JudgedRound(people, judged, [LIKERT], asked=asked, lengths=lengths, points=POINTS)


def _point(value: float) -> str:
    return str(int(np.clip(np.rint(value), 1, 5)))


def figures(data: JudgedRound, **facts: int) -> dict[str, Any]:
    found = judge_figures(data, group="crowd", judge="The judge", names={"fluency": "Fluency"}, facts=FACTS | facts)
    json.dumps(found, allow_nan=False)
    row: dict[str, Any] = found["criteria"][0]
    return row


def test_a_good_judge_may_replace_a_rater() -> None:
    row = figures(study(40))
    assert row["decision"] == YES
    assert row["sentence"] == (
        "The judge may replace a rater for Fluency in these data: it wins against 3 of 3 raters in the alternative"
        " annotator test (winning rate 1.00, epsilon .10) and no bias was found."
    )


def test_a_judge_of_noise_may_not() -> None:
    row = figures(study(40, noise=4))
    assert row["decision"] == NO
    assert "alternative annotator test" in row["sentence"]


def test_the_mean_of_a_system_is_near_the_truth_although_the_judge_is_biased() -> None:
    row = figures(replace(study(40, 200, shift=1.5), own={"alpha"}))
    [alpha, beta, *_] = row["systems"]
    assert alpha["bias"] > 1
    assert alpha["ci"][0] < 2.8 < alpha["ci"][1]
    assert beta["saved"] > 45
    assert row["family"]["ci"][0] > 0.5
    assert row["decision"] == NO
    assert any("own family" in reason for reason in row["reasons"])


def test_a_judge_that_prefers_long_texts_may_not() -> None:
    row = figures(study(40, longer=0.8))
    assert row["length"]["ci"][0] > 0
    assert any("longer texts" in reason for reason in row["reasons"])


def test_two_raters_are_too_few() -> None:
    row = figures(study(40, raters=2))
    assert row["decision"] == UNKNOWN
    assert row["reasons"][0] == "fewer than 3 raters share texts with the judge, and the test needs 3"


def test_a_yes_from_few_sources_says_that_they_show_only_a_strong_bias() -> None:
    row = figures(study(12, noise=0.2))
    assert row["sentence"].endswith("and no bias was found (12 sources show only a strong one).")


def test_a_withheld_bias_does_not_hide_what_the_test_found() -> None:
    row = figures(replace(study(12, noise=0.2), own={"alpha"}))
    assert row["decision"] == UNKNOWN
    assert row["sentence"] == (
        "These data cannot show whether The judge may replace a rater for Fluency: it wins against 3 of 3 raters in the"
        " alternative annotator test (winning rate 1.00, epsilon .10), but an interval of self-preference needs 40"
        " sources, and these are 12: rate 28 more sources."
    )


def test_too_few_sources_for_the_test_say_how_many_are_missing() -> None:
    row = figures(study(8, noise=0.2))
    assert row["decision"] == UNKNOWN
    assert row["reasons"][0] == "the test needs 10 sources of each rater, and one has 8: rate 2 more sources"
    assert "it wins" not in row["sentence"]


def test_a_followed_instruction_and_invalid_answers_speak_against_a_judge() -> None:
    row = figures(study(40), followed=2, failed=8)
    assert row["reasons"] == ["it followed an instruction in the text on 2 pages", "8% of its answers are invalid"]


def test_sources_that_are_no_random_sample_have_no_interval() -> None:
    row = figures(replace(study(), sampled="the rated sources are no random sample: no interval"))
    assert row["systems"][0]["ci"] is None
    assert row["systems"][0]["ci_reason"] == "the rated sources are no random sample: no interval"


def test_a_judge_of_the_rated_sources_only_saves_nothing() -> None:
    row = figures(study(others=0))
    assert row["systems"][0]["value"] is None
    assert row["systems"][0]["undefined"] == "the judge rated no source beyond those that people rated"


def test_missing_values_of_the_judge_are_replaced_by_its_mean() -> None:
    data = study(30, 60)
    short = replace(data, judged=[each for i, each in enumerate(data.judged) if i % 10])
    row = figures(short)
    assert row["imputed"] == 36
    assert row["systems"][0]["n"] == 30


def test_agreement_equals_that_of_the_agreement_page() -> None:
    data = study(25, 0)
    texts = of_texts(data.people, data.judged, LIKERT)
    found = agreement_figures(texts, POINTS["fluency"])
    values: list[Any] = [
        gwet_ac(
            prepare(
                Ratings.from_codes(np.vstack([person, texts.judge]).astype(int) - 1, POINTS["fluency"]), "quadratic"
            )
        ).value
        for person in texts.people
    ]
    assert [each["value"] for each in found["raters"]] == pytest.approx(values, abs=1e-9)
    assert found["judge"]["value"] == pytest.approx(np.mean(values), abs=1e-9)
    assert found["difference"]["value"] == pytest.approx(found["judge"]["value"] - found["own"]["value"], abs=1e-9)


def test_figures_do_not_depend_on_the_order_of_the_rows() -> None:
    data = study(20, 20)
    turned = replace(data, people=data.people[::-1], judged=data.judged[::-1])
    assert figures(data) == figures(turned)


def pairs(flips: int) -> JudgedRound:
    """Return 30 pairs, of which the judge chooses ``flips`` by their position, and three raters."""
    people: list[Preference] = []
    choices: list[JudgedChoice] = []
    for s in range(30):
        for r in range(3):
            people.append(Preference(f"s{s}", "alpha", "beta", f"r{r}", "better", "left"))
        for order in (0, 1):
            left, right = ("alpha", "beta") if order == 0 else ("beta", "alpha")
            choice: Literal["left", "right"] = "left" if s < flips or order == 0 else "right"
            choices.append(JudgedChoice(Preference(f"s{s}", left, right, "judge", "better", choice), order))
    return JudgedRound([], [], [], preferences=people, choices=choices)


def test_choices_by_position_are_counted_and_are_no_value() -> None:
    data = pairs(12)
    row = figures(data)
    assert row["position"]["flips"]["value"] == pytest.approx(0.4)
    assert row["position"]["first"]["value"] == pytest.approx((12 * 2 + 18) / 60)
    assert row["decision"] == NO
    assert any("40% of its choices change" in reason for reason in row["reasons"])
    texts = of_pairs(data.preferences, data.choices, "better")
    assert sum(texts.judge == texts.values.index("inconsistent")) == 12


def test_epsilon_follows_the_group_of_the_raters() -> None:
    assert EPSILON == {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}


def test_a_category_without_order_has_agreement_and_test_only() -> None:
    kind = Criterion("kind", "counts", (), ("a", "b"))
    people = [Judgement(f"s{s}", "x", f"r{r}", "kind", "ab"[s % 2]) for s in range(40) for r in range(3)]
    judged = [Judged(Judgement(f"s{s}", "x", "judge", "kind", "ab"[s % 2])) for s in range(40)]
    [row] = judge_figures(JudgedRound(people, judged, [kind]), group="experts", judge="J", names={}, facts=FACTS)[
        "criteria"
    ]
    assert row["agreement"]["coefficient"] == "AC1"
    assert row["agreement"]["judge"]["value"] == 1
    assert row["undefined"] == "its values have no order and none is called good"
    assert row["alternative"]["winning_rate"] == 1


@pytest.mark.parametrize("field", ["length", "family"])
def test_a_withheld_interval_of_a_bias_is_no_yes(field: str) -> None:
    row = figures(study(40))
    row[field] |= {"value": 0.1, "ci": None, "ci_reason": "no reliable interval"}
    assert decide(row, FACTS, judge="The judge", criterion="Fluency")["decision"] == UNKNOWN
