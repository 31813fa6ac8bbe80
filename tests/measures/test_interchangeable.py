"""Agreement on pairs does not depend on which text is called the first."""

import random
from typing import Any

import pytest

from measures.agreement.rounds import RoundAnswers, Scale

PAIR = Scale("best", ("first", "second", "tie"), "choice", interchangeable=("first", "second"))
SWAPPED = {"first": "second", "second": "first", "tie": "tie"}


def report(said: list[tuple[str, str, str]]) -> dict[str, Any]:
    found = RoundAnswers([PAIR], ())
    found.add([(unit, rater, {"choice": value}) for unit, rater, value in said], {}, {u: u for u, _, _ in said})
    measure: dict[str, Any] = found.report(units=found.units, seed=1, overlap=2)["measures"][0]
    return measure


def judged(seed: int) -> list[tuple[str, str, str]]:
    """Sixty pairs judged by two raters, in which the first text is mostly better."""
    rng = random.Random(seed)
    values = ["first"] * 6 + ["second"] + ["tie"]
    said = []
    for n in range(60):
        truth = rng.choice(values)
        said += [(f"q{n}", rater, truth if rng.random() < 0.8 else rng.choice(values)) for rater in ("ada", "ben")]
    return said


@pytest.mark.parametrize("seed", range(5))
def test_every_figure_is_the_same_whichever_text_is_called_the_first(seed: int) -> None:
    said = judged(seed)
    rng = random.Random(seed + 100)
    turned = {unit: rng.random() < 0.5 for unit, _, _ in said}
    other = report([(u, r, SWAPPED[value] if turned[u] else value) for u, r, value in said])
    one = report(said)
    assert one["coefficients"].keys() == other["coefficients"].keys()
    for name, figure in one["coefficients"].items():
        if name != "cohen_pairs":
            assert figure["value"] == pytest.approx(other["coefficients"][name]["value"]), name
            assert figure["ci"] == pytest.approx(other["coefficients"][name]["ci"]), name
    [mine], [theirs] = one["coefficients"]["cohen_pairs"], other["coefficients"]["cohen_pairs"]
    assert mine["value"] == pytest.approx(theirs["value"])
    assert (one["units"], mine["units"]) == (60, 60), "images do not count"


def test_raters_who_always_chose_the_better_text_agree_although_it_was_always_the_first() -> None:
    found = report([(f"q{n}", rater, "first") for n in range(30) for rater in ("ada", "ben")])
    assert found["coefficients"]["alpha"]["value"] == pytest.approx(1.0)


def test_the_scale_is_kept_with_a_release_and_read_from_one_without_it() -> None:
    assert Scale.from_json(PAIR.as_json()) == PAIR
    stored = {name: value for name, value in PAIR.as_json().items() if name != "interchangeable"}
    assert Scale.from_json(stored).interchangeable == ()
