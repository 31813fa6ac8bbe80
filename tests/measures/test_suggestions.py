"""Figures of suggestions against values computed by hand, and against simulated annotators."""

import math
import random

import numpy as np
import pytest

from measures.suggestions import WHOLE, SuggestedAnswer, compared, report, working_time

FIELDS = ("polarity", "modality")


def given(review: int, shown: bool, *same: bool, rejected: bool = False, **more: object) -> SuggestedAnswer:
    return SuggestedAnswer(review, shown, rejected, dict(zip(FIELDS, same, strict=True)), **more)  # type: ignore[arg-type]


def test_accepted_edited_and_rejected_are_counted_by_field_and_for_the_whole_answer() -> None:
    answers = [
        given(1, True, True, True),
        given(1, True, True, False),
        given(2, True, False, False, rejected=True),
        given(2, True, True, False, rejected=True),
        given(3, False, True, True),
    ]
    figures = report(answers, FIELDS, seed=1)
    assert (figures["shown"], figures["blind"], figures["rejected"], figures["reviews"]) == (4, 1, 2, 3)
    counts = {f["field"]: (f["accepted"], f["edited"], f["rejected"]) for f in figures["fields"]}
    assert counts == {WHOLE: (1, 1, 2), "polarity": (3, 0, 1), "modality": (1, 1, 2)}


def test_anchoring_is_the_difference_of_the_shares_that_equal_the_suggestion() -> None:
    rows = [(n, True, n < 30) for n in range(40)] + [(n, False, n < 20) for n in range(40)]
    figures = compared(rows)
    assert (figures["shown"]["share"], figures["blind"]["share"]) == (0.75, 0.5)
    assert figures["difference"] == pytest.approx(0.25)
    low, high = figures["ci"]
    assert low < 0.25 < high


def test_the_jackknife_over_reviews_is_that_of_the_definition() -> None:
    rng = random.Random(3)
    rows = [(review, rng.random() < 0.5, rng.random() < 0.6) for review in range(30) for _ in range(rng.randint(2, 6))]

    def difference(left: list[tuple[int, bool, bool]]) -> float:
        parts = [[hit for _, shown, hit in left if shown == part] for part in (True, False)]
        return sum(parts[0]) / len(parts[0]) - sum(parts[1]) / len(parts[1])

    whole = difference(rows)
    without = [difference([row for row in rows if row[0] != review]) for review in range(30)]
    se = math.sqrt(29 / 30 * sum((one - whole) ** 2 for one in without))
    figures = compared(rows)
    assert figures["difference"] == pytest.approx(whole)
    low, high = figures["ci"]
    # Wilson's interval of (difference + 1) / 2 on share (1 - share) / se^2 effective items is about +- t se.
    assert (high - low) / 2 == pytest.approx(2.05 * se, rel=0.06)


def test_an_interval_is_withheld_with_few_reviews_and_a_difference_without_blind_answers() -> None:
    few = compared([(n % 5, n % 2 == 0, n % 3 == 0) for n in range(60)])
    assert few["ci"] is None
    assert "few reviews" in few["ci_reason"]
    none = compared([(n, True, True) for n in range(60)])
    assert none["difference"] is None
    assert none["ci_reason"] == "no blind answers"
    assert compared([])["shown"] == {"hits": 0, "n": 0, "share": None}


def test_wrong_suggestions_that_were_kept_are_those_that_differ_from_gold_and_equal_the_answer() -> None:
    right, wrong = {"polarity": True, "modality": True}, {"polarity": False, "modality": True}
    answers = [
        given(1, True, True, True, right=wrong, model_right=wrong),  # kept a wrong suggestion
        given(1, True, False, True, right=right, model_right=wrong),  # corrected one
        given(2, True, True, True, right=right, model_right=right),  # kept a right one
        given(2, False, False, True, right=right, model_right=wrong),  # right without it
        given(3, False, True, True),  # without gold
    ]
    whole = report(answers, FIELDS, seed=1)["fields"][0]
    assert (whole["wrong_kept"]["shown"]["hits"], whole["wrong_kept"]["shown"]["n"]) == (1, 2)
    assert (whole["wrong_kept"]["blind"]["hits"], whole["wrong_kept"]["blind"]["n"]) == (0, 1)
    assert (whole["right"]["shown"]["hits"], whole["right"]["shown"]["n"]) == (2, 3)
    assert (whole["right"]["blind"]["hits"], whole["right"]["blind"]["n"]) == (1, 1)


def test_times_are_medians_of_timed_answers_and_an_interval_needs_enough_reviews() -> None:
    answers = [given(n, True, True, True, seconds=s) for n, s in enumerate((10.0, 12.0, 50.0))]
    answers += [given(n, False, True, True, seconds=s) for n, s in enumerate((20.0, 30.0))]
    answers += [given(9, False, True, True)]
    time = working_time(answers, seed=1)
    assert time["shown"] == {"n": 3, "median": 12.0}
    assert time["blind"] == {"n": 2, "median": 25.0}
    assert time["difference"] == -13.0
    assert time["ci"] is None
    assert "few reviews" in time["ci_reason"]


def test_the_bootstrap_of_medians_equals_numpy_on_the_resampled_answers() -> None:
    rng = np.random.default_rng(5)
    reviews = rng.integers(0, 40, 240)
    shown = rng.random(240) < 0.5
    seconds = np.round(rng.lognormal(3, 0.5, 240), 1)
    rows = zip(reviews, shown, seconds, strict=True)
    answers = [given(int(r), bool(s), True, True, seconds=float(t)) for r, s, t in rows]
    time = working_time(answers, seed=11)
    numbers = {review: n for n, review in enumerate(sorted(set(reviews.tolist()), key=str))}
    place = np.array([numbers[review] for review in reviews.tolist()])
    draws, again = [], np.random.default_rng(11)
    for _ in range(20):
        for counts in again.multinomial(len(numbers), np.full(len(numbers), 1 / len(numbers)), size=100):
            times = counts[place]
            parts = [np.repeat(seconds[part], times[part]) for part in (shown, ~shown)]
            draws.append(np.median(parts[0]) - np.median(parts[1]))
    assert time["ci"] == pytest.approx(list(np.quantile(draws, (0.025, 0.975))), abs=1e-9)


def simulated(seed: int, *, anchored: float, reviews: int = 60, faster: float = 1.0) -> list[SuggestedAnswer]:
    """Answers of people who are right in .85, by a model that is right in .7. Where a suggestion is shown, people take
    it over without reading in a share ``anchored`` of the units."""
    rng = random.Random(seed)
    answers = []
    for review in range(reviews):
        for _ in range(4):
            model_right, own_right, shown = rng.random() < 0.7, rng.random() < 0.85, rng.random() < 0.5
            takes = shown and rng.random() < anchored
            right = model_right if takes else own_right
            # Two values: a wrong answer equals a wrong suggestion.
            same = right == model_right
            seconds = rng.lognormvariate(3, 0.4) * (faster if shown else 1)
            answers.append(
                SuggestedAnswer(
                    review, shown, False, {"polarity": same}, seconds, {"polarity": right}, {"polarity": model_right}
                )
            )
    return answers


def test_an_anchored_annotator_is_reported_and_an_independent_one_is_not() -> None:
    anchored = report(simulated(1, anchored=0.8, faster=0.5), ("polarity",), seed=1)
    polarity = anchored["fields"][0]
    # Blind: .85 x .7 + .15 x .3 = .64 equal the suggestion; shown: .8 + .2 x .64 = .928.
    assert polarity["same"]["difference"] == pytest.approx(0.288, abs=0.12)
    assert polarity["same"]["ci"][0] > 0
    assert polarity["wrong_kept"]["shown"]["share"] > 0.6 > polarity["wrong_kept"]["blind"]["share"]
    assert polarity["right"]["difference"] < 0
    assert "people are anchored" in anchored["conclusion"]
    assert "less time" in anchored["conclusion"]
    independent = report(simulated(2, anchored=0.0), ("polarity",), seed=1)
    assert "no anchoring is shown" in independent["conclusion"]
    assert "No difference in time is shown" in independent["conclusion"]


def test_intervals_hold_the_true_effect_in_95_of_100_simulated_rounds() -> None:
    truth, held, printed = 0.4 * (1 - 0.64), 0, 0
    for seed in range(150):
        figures = compared([(a.review, a.shown, a.same["polarity"]) for a in simulated(seed, anchored=0.4)])
        if figures["ci"]:
            printed += 1
            held += figures["ci"][0] <= truth <= figures["ci"][1]
    assert printed == 150
    assert 0.90 <= held / printed <= 0.99
