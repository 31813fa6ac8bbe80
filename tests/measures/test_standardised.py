"""Standard scores of raters, as by scipy and statsmodels."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from scipy.stats import zscore  # type: ignore[import-untyped]
from statsmodels.stats.weightstats import DescrStatsW

from measures.ratings import Criterion, Exclusions, Judgement, figures, standardised_figures, with_and_without

SLIDER = Criterion("score", "mean", (), (), "higher", (0.0, 100.0))
SYSTEMS = {"a": 12.0, "b": 4.0, "c": -8.0}


def drawn(seed: int, sources: int = 45) -> list[Judgement]:
    random = Random(seed)
    wide = {"r1": 1.0, "r2": 0.3, "r3": 2.0}
    made = []
    for q in range(sources):
        for rater in random.sample(sorted(wide), 2):
            for system, better in SYSTEMS.items():
                value = 50 + wide[rater] * (better + random.gauss(0, 10))
                made.append(
                    Judgement(f"q{q}", system, rater, "score", str(round(min(max(value, 0), 100))), text=system)
                )
    return made


@pytest.mark.parametrize("seed", range(3))
def test_standard_scores_are_those_of_a_reference(seed: int) -> None:
    judgements = drawn(seed)
    [made] = standardised_figures(judgements, [SLIDER])
    z: dict[tuple[str, str], list[float]] = {}
    for rater in ("r1", "r2", "r3"):
        own = [each for each in judgements if each.rater == rater]
        numbers = np.array([float(each.value or 0) for each in own])
        of = DescrStatsW(numbers, ddof=1)
        assert zscore(numbers, ddof=1) == pytest.approx((numbers - of.mean) / of.std)
        for each, score in zip(own, zscore(numbers, ddof=1), strict=True):
            z.setdefault((each.system, str(each.source)), []).append(float(score))
    assert [row["system"] for row in made["systems"]] == [*SYSTEMS]
    for row in made["systems"]:
        texts = [float(np.mean(values)) for (system, _), values in z.items() if system == row["system"]]
        assert row["value"] == pytest.approx(np.mean(texts), abs=1e-6)
        assert row["sd"] == pytest.approx(DescrStatsW(texts, ddof=1).std, abs=1e-6)
        low, high = row["ci"]
        assert (low, high) == pytest.approx(DescrStatsW(texts).tconfint_mean(0.05), abs=1e-6)
    assert made["letters"]["a"] == "a"
    assert made["raters"] == 3
    assert made["left_out"] == []


def test_repeats_do_not_count_and_raters_without_variance_are_named() -> None:
    judgements = drawn(1)
    flat = [Judgement(f"q{n}", s, "flat", "score", "50", text=s) for n in range(3) for s in SYSTEMS]
    once = [Judgement("q1", "a", "once", "score", "90", text="a")]
    again = [Judgement("q1", "a", "r1", "score", "0", repeat=1, text="a")]
    na = [Judgement("q1", "b", "r1", "score", None, text="b")]
    [made] = standardised_figures([*judgements, *flat, *once, *again, *na], [SLIDER])
    [alone] = standardised_figures(judgements, [SLIDER])
    assert made.pop("left_out") == ["flat", "once"]
    assert made == {key: value for key, value in alone.items() if key != "left_out"}


def test_a_text_of_two_systems_counts_once_for_its_rater() -> None:
    shared = [Judgement("q1", system, "r", "score", "90", text="same") for system in ("a", "b")]
    other = Judgement("q2", "a", "r", "score", "10", text="other")
    [made] = standardised_figures([*shared, other], [SLIDER])
    # Of 90 and 10: mean 50, standard deviation 56.57.
    assert {row["system"]: row["value"] for row in made["systems"]} == pytest.approx({"a": 0.0, "b": 40 / 3200**0.5})


def test_exclusions_come_before_standard_scores() -> None:
    judgements = drawn(2)
    made = with_and_without(judgements, [SLIDER], Exclusions(raters=frozenset({"r3"})))
    assert made["kept"]["standardised"] == standardised_figures([j for j in judgements if j.rater != "r3"], [SLIDER])
    assert made["kept"]["standardised"] != made["all"]["standardised"]
    points = Criterion("points", "mean", (), ("1", "2"), "higher", (1.0, 2.0))
    assert figures([Judgement("q", "a", "r", "points", "1")], [points])["standardised"] == []
