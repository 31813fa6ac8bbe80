"""Intervals of means that generalise to other raters."""

import math

import numpy as np
import pytest

from measures.ratings import per_system
from measures.ratings.per_system import random_raters

LIKERT = (1.0, 5.0)


def simulated(rng: np.random.Generator, texts: int, raters: int, of_texts: float, of_raters: float) -> np.ndarray:
    parts = [rng.normal(0, math.sqrt(of_texts), (texts, 1)), rng.normal(0, math.sqrt(of_raters), (1, raters))]
    return np.asarray(3 + parts[0] + parts[1] + rng.normal(0, math.sqrt(0.5), (texts, raters)))


def test_variances_are_those_of_the_analysis_of_variance() -> None:
    """Ten texts that rater j rates i + j: no residual, and the variances of 0..9 and 0..4."""
    ratings = np.add.outer(np.arange(10.0), np.arange(5.0))
    found = random_raters(ratings, (-math.inf, math.inf))
    assert found.texts == pytest.approx(np.var(np.arange(10), ddof=1))
    assert found.raters == pytest.approx(np.var(np.arange(5), ddof=1))
    assert found.residual == pytest.approx(0)
    assert found.ci
    assert sum(found.ci) / 2 == pytest.approx(ratings.mean())


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (np.full((20, 4), 3.0), per_system.TOO_FEW_RATERS),
        (np.full((9, 5), 3.0), per_system.TOO_FEW_TEXTS),
        (np.where(np.eye(10, 5) > 0, np.nan, 3.0), per_system.NOT_CROSSED),
        (np.full((10, 5), 3.0), per_system.NO_VARIATION),
    ],
)
def test_too_few_data_give_a_reason_instead_of_an_interval(ratings: np.ndarray, reason: str) -> None:
    found = random_raters(ratings, LIKERT)
    assert (found.ci, found.ci_reason) == (None, reason)


def test_a_text_and_a_rater_without_any_rating_do_not_count() -> None:
    rng = np.random.default_rng(1)
    ratings = simulated(rng, 12, 6, 0.5, 0.2)
    padded = np.full((13, 7), np.nan)
    padded[:12, :6] = ratings
    assert random_raters(padded, LIKERT) == random_raters(ratings, LIKERT)


@pytest.mark.parametrize(("texts", "raters", "of_raters"), [(10, 5, 0.1), (20, 5, 0.4), (40, 10, 0.1)])
def test_the_interval_holds_the_mean_of_all_raters_and_texts(texts: int, raters: int, of_raters: float) -> None:
    rng = np.random.default_rng(20221207)
    rounds = [
        random_raters(simulated(rng, texts, raters, 0.5, of_raters), (-math.inf, math.inf)).ci for _ in range(2000)
    ]
    covered = [low <= 3 <= high for low, high in filter(None, rounds)]
    assert len(covered) == 2000
    assert 0.925 <= np.mean(covered) <= 0.975
