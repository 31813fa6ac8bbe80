"""Simulate pilots whose true agreement is just below the bar, and count how often a round opens.

A bar on the lower bound must open at most 2.5% of such rounds. A withheld interval never opens one. The printed 95%
interval and a bar on the value are counted for comparison. `Plan.more` pilots are added where the first ones exceed
2.5%, because that can be chance.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from measures.agreement import Clusters, Ratings, all_coefficients, over_reviews, prepare
from measures.agreement.bars import BELOW, LEVEL, widened

from .coverage import LAYOUTS, Layout, Places, Rng, _levels
from .report import Found, say

#: Coefficients that are simulated together.
NAMES = ("percent_agreement", "ac1", "fleiss", "alpha")


@dataclass(frozen=True)
class Plan:
    """``drawn`` pilots per setting, and ``more`` if too many rounds open. ``many`` reviews determine the truth."""

    units: tuple[int, ...] = (40, 60, 100, 200, 400)
    prevalences: tuple[float, ...] = (0.5, 0.8, 0.95)
    raters: tuple[int, ...] = (2, 3, 5)
    blind: tuple[float, ...] = (0.05, 0.15, 0.4)
    layouts: tuple[Layout, ...] = LAYOUTS
    drawn: int = 1_000
    more: int = 9_000
    many: int = 200_000

    @classmethod
    def quick(cls) -> Plan:
        return cls(units=(60,), prevalences=(0.8,), raters=(3,), blind=(0.15,), drawn=200, more=0, many=20_000)


@dataclass(frozen=True)
class Setting:
    """``guesses`` is the share of items that a rater does not see and guesses by ``prevalence``."""

    prevalence: float
    raters: int
    guesses: float
    layout: Layout
    units: int
    values: int = 2

    def pilot(self, rng: Rng, reviews: int) -> tuple[Ratings, Clusters]:
        place = self.layout.of_items(rng, reviews)
        codes = rate(rng, place, self)
        ratings = Ratings.from_codes(codes, list(range(self.values)))
        return ratings, Clusters(ratings, place, reviews)

    @property
    def reviews(self) -> int:
        return max(2, round(self.units / self.layout.units))

    def __str__(self) -> str:
        return (
            f"{self.units} units, {self.raters} raters, {self.values} values, prevalence {self.prevalence:g}, "
            f"{self.guesses:.0%} guessed, {self.layout}"
        )


def rate(rng: Rng, place: Places, setting: Setting) -> npt.NDArray[np.int8]:
    """Return ratings (raters, items). The last value is the commonest; the others are equally common."""
    size, last = (setting.raters, len(place)), setting.values - 1
    rarer = rng.integers(max(last, 1), size=len(place))
    truth = np.where(
        rng.random(len(place)) < _levels(rng, place, setting.prevalence, setting.layout.alike), last, rarer
    )
    guess = np.where(rng.random(size) < setting.prevalence, last, rng.integers(max(last, 1), size=size))
    return np.where(rng.random(size) < setting.guesses, guess, truth).astype(np.int8)


def settings(plan: Plan) -> Iterator[Setting]:
    for layout in plan.layouts:
        for units in plan.units:
            for i, prevalence in enumerate(plan.prevalences):
                for j, guesses in enumerate(plan.blind):
                    yield Setting(prevalence, plan.raters[(i + j) % len(plan.raters)], guesses, layout, units)
            yield Setting(0.5, plan.raters[0], plan.blind[0], layout, units, values=4)


def truth_of(setting: Setting, many: int) -> dict[str, float]:
    """Return the true coefficients, from many reviews."""
    ratings, _ = setting.pilot(np.random.default_rng(0), many // setting.layout.units)
    coefficients = all_coefficients(prepare(ratings))
    return {name: value for name in NAMES if (value := coefficients[name].value) is not None}


@dataclass
class Cell:
    """Counts of pilots: with an interval, and those that open a round by each rule."""

    drawn: int = 0
    printed: int = 0
    opened: int = 0
    by_95: int = 0
    by_value: int = 0


def simulate(plan: Plan, number: int) -> tuple[Setting, dict[str, float], dict[str, Cell]]:
    """Simulate one setting. The bar of each coefficient is its true value."""
    setting = list(settings(plan))[number]
    truth, rng = truth_of(setting, plan.many), np.random.default_rng(number)
    cells = {name: Cell() for name in truth}

    def draw(times: int) -> None:
        for _ in range(times):
            ratings, clusters = setting.pilot(rng, setting.reviews)
            basis = prepare(ratings)
            coefficients = all_coefficients(basis)
            for name, over in over_reviews(basis, coefficients, clusters).items():
                if (cell := cells.get(name)) is None:
                    continue
                value = coefficients[name].value or 0.0
                bound = widened(value, over.ci)
                cell.drawn += 1
                cell.printed += over.ci is not None
                cell.opened += bound is not None and bound > truth[name]
                cell.by_95 += over.ci is not None and over.ci[0] > truth[name]
                cell.by_value += value > truth[name]

    draw(plan.drawn)
    if any(cell.opened > BELOW * cell.drawn for cell in cells.values()):
        draw(plan.more)
    return setting, truth, cells


def run(plan: Plan) -> Found:
    """Simulate every setting, and print a row for each number of units."""
    found = Found()
    worst: dict[tuple[str, int], list[float]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for setting, truth, cells in pool.map(partial(simulate, plan), range(len(list(settings(plan))))):
            for name, cell in cells.items():
                if not cell.drawn:
                    continue
                shares = [each / cell.drawn for each in (cell.opened, cell.by_95, cell.by_value, cell.printed)]
                most = worst.setdefault((name, setting.units), [0.0] * 4)
                worst[name, setting.units] = [max(a, b) for a, b in zip(most, shares, strict=True)]
                what = f"{name} {truth[name]:.2f}: {setting}"
                found.figures[what] = {"drawn": cell.drawn, "opened": cell.opened, "printed": cell.printed}
                if shares[0] > BELOW:
                    found.at_most(f"rounds opened below their bar, {what}", shares[0], BELOW)
            say(f"    {setting}")
    say(f"highest share of rounds opened, over the settings; bound of the {LEVEL:.0%} interval, of 95%, value; printed")
    for (name, units), shares in sorted(worst.items()):
        say(f"| {name} | {units} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    return found
