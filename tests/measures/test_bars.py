"""Bars on the agreement of a pilot: reading reports, and planning the size of a pilot."""

from typing import Any

import numpy as np
import pytest

from benchmarks.coverage import Layout
from benchmarks.gate import Setting, truth_of
from measures.agreement import RoundAnswers, Scale, all_coefficients, bars, over_reviews, prepare
from measures.agreement.bars import BELOW, Bar, Figures, figures, obstacles, probability, units_needed, widened

SCALE = Scale("polarity", ("a", "b"), "value")


def report(units: int = 80, per_review: int = 1, seed: int = 1, gold: bool = False) -> dict[str, Any]:
    """Return the report of three raters, of whom each guesses in a fifth of the units."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=units)
    answers = RoundAnswers([SCALE], ())
    rows = [
        (f"u{unit}", f"r{rater}", {"value": SCALE.categories[code]})
        for rater in range(3)
        for unit, code in enumerate(np.where(rng.random(units) < 0.2, rng.integers(2, size=units), truth).tolist())
    ]
    answers.add(rows, {}, {f"u{unit}": f"review {unit // per_review}" for unit in range(units)})
    if gold:
        answers.add_gold({"polarity": {f"u{n}": SCALE.categories[code] for n, code in enumerate(truth.tolist())}})
    measure: dict[str, Any] = answers.report(units=units, seed=1, overlap=3)["measures"][0]
    return measure


def test_a_bar_reads_the_printed_interval_and_widens_it() -> None:
    measure = report()
    pilot = figures(measure, "ac1")
    printed = measure["coefficients"]["ac1"]
    assert (pilot.value, list(pilot.ci or ())) == (printed["value"], printed["ci"])
    assert pilot.bound is not None
    assert pilot.ci
    assert pilot.value
    assert pilot.bound < pilot.ci[0] < pilot.value
    assert pilot.bound == pytest.approx(pilot.value - 1.1072 * (pilot.value - pilot.ci[0]), abs=1e-4)
    assert not obstacles(Bar("polarity", "ac1", "lower bound", pilot.bound, 80), pilot)
    assert "lower bound of the 97% interval" in obstacles(Bar("polarity", "ac1", "lower bound", pilot.ci[0]), pilot)[0]


def test_a_withheld_interval_and_an_undefined_value_are_not_met() -> None:
    withheld = figures(report(30), "ac1")
    assert withheld.ci is None
    assert withheld.value is not None
    assert obstacles(Bar("polarity", "ac1", "lower bound", -1.0), withheld) == [
        f"there is no lower bound: {withheld.reason}"
    ]
    absent = figures(None, "ac1")
    assert obstacles(Bar("x", "ac1", "value", -1.0), absent) == [
        "AC1 is undefined: the pilot does not measure this field"
    ]


def test_gold_accuracy_is_that_of_the_lowest_rater() -> None:
    measure = report(200, gold=True)
    pilot = figures(measure, "gold_accuracy")
    rows = measure["gold"]
    assert pilot.value == min(row["accuracy"] for row in rows)
    assert pilot.bound == min(widened(row["accuracy"], row["ci"]) or 0 for row in rows)
    assert figures(report(), "gold_accuracy").reason == "no unit has gold"


def test_the_mean_of_pairs_has_no_bound() -> None:
    measure = report()
    pilot = figures(measure, "cohen_pairs")
    pairs = [pair["value"] for pair in measure["coefficients"]["cohen_pairs"]]
    assert pilot.value == pytest.approx(sum(pairs) / 3)
    assert pilot.bound is None


def test_the_units_needed_grow_as_the_assumed_value_nears_the_bar() -> None:
    spread = bars.spread_of_model("ac1", SCALE, 3, 0.7)
    assert spread is not None
    bar = Bar("polarity", "ac1", "lower bound", 0.6, 0)
    needed = [units_needed(bar, spread, assumed) for assumed in (0.62, 0.65, 0.7, 0.8)]
    assert None not in needed
    assert needed == sorted(needed, key=lambda n: -(n or 0))
    assert units_needed(bar, spread, 0.6) is None
    assert units_needed(bar, spread, 0.5) is None
    first = units_needed(bar, spread, 0.7)
    assert first is not None
    assert probability(bar, spread, 0.7, first) == pytest.approx(0.5, abs=0.15)
    assert probability(bar, spread, 0.6, 400) <= BELOW


def test_the_spread_of_a_pilot_gives_its_own_interval_again() -> None:
    for per_review in (1, 4):
        measure = report(160, per_review)
        for name in ("ac1", "percent_agreement", "fleiss"):
            pilot, spread = figures(measure, name), bars.spread_of_pilot(measure, name)
            assert spread
            assert pilot.ci
            assert pilot.value is not None
            again = spread.interval(pilot.value, 160)
            assert again == pytest.approx(pilot.ci, abs=0.004), name


@pytest.mark.parametrize(
    "setting",
    [
        Setting(0.5, 3, 0.15, Layout(1, 0.0), 100),
        Setting(0.8, 2, 0.4, Layout(1, 0.0), 100),
        Setting(0.8, 3, 0.15, Layout(6, 0.5), 240),
    ],
    ids=str,
)
def test_at_most_a_fortieth_of_pilots_below_their_bar_meet_it(setting: Setting) -> None:
    """400 pilots of which each has a true AC1 just below the bar (`python -m benchmarks gate` simulates more)."""
    truth, rng, met = truth_of(setting, 60_000)["ac1"], np.random.default_rng(5), 0
    for _ in range(400):
        ratings, clusters = setting.pilot(rng, setting.reviews)
        basis = prepare(ratings)
        value = all_coefficients(basis)["ac1"]
        ci = over_reviews(basis, {"ac1": value}, clusters)["ac1"].ci
        pilot = Figures(value.value, ci, "", 100, 100, 3, 300, "", ci and widened(value.value or 0, ci))
        met += not obstacles(Bar("x", "ac1", "lower bound", truth + 1e-9), pilot)
    assert met <= BELOW * 400
