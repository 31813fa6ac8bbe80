"""Bars on the agreement of a pilot: whether its figures meet a bar, and which size of pilot can meet it.

A bar on the lower bound uses the printed interval, widened from 95% to `LEVEL`. The printed interval contains the truth
in .93 to .975 of studies, so its lower bound alone would exceed the truth in up to 3.5% of them. The widened one does
so in at most 2.5% (`python -m benchmarks gate`). A bar whose interval is withheld is not met.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from ..clustered import Interval, planned_interval
from .basis import prepare
from .clusters import ROBUST
from .gold import z_quantile
from .ratings import Ratings
from .report import all_coefficients
from .rounds import Scale

Requires = Literal["lower bound", "value"]
REQUIRES: tuple[Requires, ...] = get_args(Requires)
#: Level of the interval whose lower bound must reach the bar.
LEVEL = 0.97
#: Factor by which the distance between value and lower bound of the printed 95% interval grows.
WIDER = z_quantile(LEVEL) / z_quantile(0.95)
#: Largest share of pilots below their bar that may meet it.
BELOW = 0.025
COHEN, GOLD = "cohen_pairs", "gold_accuracy"
NAMES = {
    "ac1": "AC1",
    "ac2": "AC2",
    "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "alpha_weighted": "weighted alpha",
    "conger": "Conger's kappa",
    "brennan_prediger": "Brennan-Prediger",
    "percent_agreement": "pairwise agreement",
    COHEN: "Cohen's kappa (mean of pairs)",
    GOLD: "accuracy against gold (lowest rater)",
}
#: Coefficients without an interval.
WITHOUT_INTERVAL = frozenset({COHEN})
#: Largest number of units that `units_needed` tries.
MOST_UNITS = 1_000_000


@dataclass(frozen=True, slots=True)
class Bar:
    """A condition on one measure of an agreement report.

    ``number`` is the least value, or the least lower bound. ``least_units`` is the least number of units with two
    ratings or more.
    """

    measure: str
    coefficient: str
    requires: Requires
    number: float
    least_units: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def words(self) -> str:
        """The bar in words: "97% lower bound 0.60 with n 50"."""
        least = f" with n {self.least_units:,}" if self.least_units else ""
        level = f"{LEVEL:.0%} " if self.requires == "lower bound" else ""
        return f"{level}{self.requires} {self.number:.2f}{least}"


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a pilot that a bar can concern. ``value`` and ``ci`` are None if ``reason`` says why.

    ``bound`` is the lower bound of the interval at `LEVEL`.
    """

    value: float | None
    ci: Interval | None
    reason: str
    units: int
    reviews: int | None
    raters: int
    ratings: int
    method: str
    bound: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"ci": list(self.ci) if self.ci else None}


def widened(value: float, ci: Interval | None) -> float | None:
    """Return the lower bound of a printed 95% interval after it was widened to `LEVEL`."""
    return None if ci is None else value - WIDER * (value - ci[0])


def coefficients_of(scale: Scale, *, gold: bool = False) -> list[str]:
    """Return the coefficients on which a measure of this scale can have a bar. ``gold``: answers have gold."""
    chance = ["ac1"] if scale.weights == "identity" else ["ac2"]
    weighted = [] if scale.weights == "identity" else ["alpha_weighted"]
    names = [*chance, "fleiss", "alpha", *weighted, "conger", "brennan_prediger", "percent_agreement", COHEN]
    return names + [GOLD] * gold


def figures(measure: Mapping[str, Any] | None, coefficient: str) -> Figures:
    """Return the figures of a coefficient from an element of "measures" of an agreement report."""
    if measure is None:
        return Figures(None, None, "the pilot does not measure this field", 0, None, 0, 0, "")
    counts = (measure["all_agree"]["of"], measure["reviews"], measure["raters"], measure["ratings"])
    if coefficient == GOLD:
        return _gold(measure)
    if coefficient == COHEN:
        pairs = measure["coefficients"]["cohen_pairs"]
        why = "" if pairs else "fewer than two raters"
        why = next((f"{' and '.join(p['raters'])}: {p.get('undefined')}" for p in pairs if p["value"] is None), why)
        value = None if why else math.fsum(p["value"] for p in pairs) / len(pairs)
        return Figures(value, None, why or "a mean of pairs has no interval", *counts, "mean of Cohen's kappa")
    entry = measure["coefficients"].get(coefficient)
    if entry is None:
        return Figures(None, None, measure["undefined"].get(coefficient, "not reported"), *counts, "")
    ci = (entry["ci"][0], entry["ci"][1]) if entry["ci"] else None
    method = f"{entry['method']}; {measure['interval_method']}" if "interval_method" in measure else entry["method"]
    value, why = entry["value"], entry["ci_reason"] or ""
    return Figures(value, ci, why, *counts, method, widened(value, ci))


def _gold(measure: Mapping[str, Any]) -> Figures:
    """Return the lowest accuracy and the lowest bound of the raters, so that every rater meets the bar."""
    rows = measure.get("gold") or []
    counts = (min((row["n"] for row in rows), default=0), measure["reviews"], len(rows), sum(r["n"] for r in rows))
    undefined = next((row["undefined"] for row in rows if row["accuracy"] is None), "" if rows else "no unit has gold")
    if undefined:
        return Figures(None, None, undefined, *counts, "")
    withheld = next((row["ci_reason"] or "no interval" for row in rows if not row["ci"]), "")
    lowest = min(rows, key=lambda row: row["accuracy"])
    bounds = [] if withheld else [widened(row["accuracy"], row["ci"]) or 0.0 for row in rows]
    return Figures(
        lowest["accuracy"],
        (lowest["ci"][0], lowest["ci"][1]) if bounds else None,
        withheld,
        *counts,
        f"lowest of {len(rows)} raters; {lowest['method']}",
        min(bounds, default=None),
    )


def obstacles(bar: Bar, pilot: Figures) -> list[str]:
    """Return why the figures do not meet the bar; an empty list if they do."""
    found = []
    if pilot.units < bar.least_units:
        found.append(f"n = {pilot.units:,} is below {bar.least_units:,}")
    if pilot.value is None:
        found.append(f"{NAMES[bar.coefficient]} is undefined: {pilot.reason}")
    elif bar.requires == "value":
        if pilot.value < bar.number:
            found.append(f"{pilot.value:.3f} is below {bar.number:.2f}")
    elif pilot.bound is None:
        found.append(f"there is no lower bound: {pilot.reason}")
    elif pilot.bound < bar.number:
        found.append(f"the lower bound of the {LEVEL:.0%} interval, {pilot.bound:.3f}, is below {bar.number:.2f}")
    return found


def in_words(coefficient: str, pilot: Figures, *, bound: bool = True) -> str:
    """Return figures in words: "AC1 0.61 [0.48, 0.74], 97% lower bound 0.464, n = 40". ``bound``: with the bound."""
    name = NAMES.get(coefficient, coefficient)
    if pilot.value is None:
        return f"{name} undefined ({pilot.reason}), n = {pilot.units:,}"
    interval = f" [{pilot.ci[0]:.2f}, {pilot.ci[1]:.2f}]" if pilot.ci else f", {pilot.reason}" if pilot.reason else ""
    lower = f", {LEVEL:.0%} lower bound {pilot.bound:.3f}" if bound and pilot.bound is not None else ""
    return f"{name} {pilot.value:.2f}{interval}{lower}, n = {pilot.units:,}"


@dataclass(frozen=True, slots=True)
class Spread:
    """How much a coefficient varies: effective items per unit on its scale from ``low`` to 1, and units per review."""

    low: float
    effective: float
    units_per_review: float
    kappa: bool

    def interval(self, value: float, units: float) -> Interval | None:
        reviews = units / self.units_per_review
        return planned_interval(value, self.effective * units, units, reviews, (self.low, 1.0), kappa=self.kappa)


def spread_of_pilot(measure: Mapping[str, Any] | None, coefficient: str) -> Spread | None:
    """Return the spread that the figures of a closed pilot have. None if they are undefined or do not vary."""
    pilot = figures(measure, coefficient)
    if measure is None or pilot.value is None or pilot.units < 2:
        return None
    per_review = pilot.units / pilot.reviews if pilot.reviews else 1.0
    if coefficient == GOLD:
        return Spread(0.0, 1.0, max(per_review, 1.0), False)
    entry = measure["coefficients"].get(coefficient)
    se = entry and (entry["ci_se"] or entry["se"])
    low = _low(measure, coefficient, pilot.value)
    share = (pilot.value - low) / (1 - low)
    if not se or not 0 < share < 1:
        return None
    effective = share * (1 - share) / (se / (1 - low)) ** 2 / pilot.units
    return Spread(low, effective, max(per_review, 1.0), coefficient not in ROBUST)


def _low(measure: Mapping[str, Any], coefficient: str, value: float) -> float:
    """Return the value of a coefficient at zero agreement (see `clusters`), from the figures of a report."""
    observed = measure["coefficients"].get("percent_agreement", {}).get("value", measure["pairwise"])
    if coefficient == "percent_agreement" or observed is None or observed >= 1:
        return 0.0
    low = 0.0 if coefficient.startswith("alpha") else min(1 - (1 - value) / (1 - observed), 0.0)
    if coefficient in ROBUST:
        return low
    counts = [category["n"] for category in measure["categories"]]
    rarer = min(1 - max(counts) / sum(counts), 0.5) if sum(counts) else 0.5
    return min(max(low, -rarer / (1 - rarer)), value)


#: Items of the model pilot.
_MODEL_ITEMS = 20_000


@lru_cache(maxsize=512)
def spread_of_model(coefficient: str, scale: Scale, raters: int, assumed: float) -> Spread | None:
    """Return the spread for an assumed value: equally common values, alike raters, independent units.

    Each rater sees the right value or guesses. Every coefficient that corrects for chance is then the share of pairs
    that both see.
    """
    if coefficient == GOLD:
        return Spread(0.0, 1.0, 1.0, False)
    q = len(scale.categories)
    seen = (assumed - 1 / q) / (1 - 1 / q) if coefficient == "percent_agreement" else assumed
    if q < 2 or not 0 < seen < 1:
        return None
    rng = np.random.default_rng(q)
    size = (max(raters, 2), _MODEL_ITEMS)
    codes = np.where(rng.random(size) < math.sqrt(seen), rng.integers(q, size=_MODEL_ITEMS), rng.integers(q, size=size))
    ratings = Ratings.from_codes(codes.astype(np.int8), list(scale.categories))
    name = "fleiss" if coefficient == COHEN else coefficient
    model = all_coefficients(prepare(ratings, scale.weights), scale.metric)[name]
    if model.value is None or not model.se:
        return None
    low = 0.0 if model.pe is None else -model.pe / (1 - model.pe)
    if name not in ROBUST:
        low = max(low, -1.0)
    share = (model.value - low) / (1 - low)
    return Spread(low, share * (1 - share) / (model.se / (1 - low)) ** 2 / model.n_items, 1.0, name not in ROBUST)


def _meets(bar: Bar, spread: Spread, value: float, units: float) -> bool:
    if units < bar.least_units:
        return False
    if bar.requires == "value":
        return value >= bar.number
    ci = spread.interval(value, units)
    bound = widened(value, ci)
    return bound is not None and bound >= bar.number


def units_needed(bar: Bar, spread: Spread, assumed: float) -> int | None:
    """Return the least number of units at which the expected lower bound reaches the bar. None if no number does."""
    if assumed < bar.number or (bar.requires == "lower bound" and assumed == bar.number):
        return None
    least = max(bar.least_units, 2)
    if _meets(bar, spread, assumed, least):
        return least
    high = least
    while not _meets(bar, spread, assumed, high):
        high *= 2
        if high > MOST_UNITS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _meets(bar, spread, assumed, middle) else (middle, high)
    return high


def probability(bar: Bar, spread: Spread, assumed: float, units: int, *, points: int = 400) -> float:
    """Return the probability that a pilot of ``units`` units meets the bar.

    The pilot's share on the scale of the coefficient has a beta distribution with the effective number of items.
    """
    share, effective = (assumed - spread.low) / (1 - spread.low), spread.effective * units
    if not 0 < share < 1 or effective <= 0:
        return float(_meets(bar, spread, assumed, units))
    quantiles: Sequence[float] = special.betaincinv(
        share * effective, (1 - share) * effective, (np.arange(points) + 0.5) / points
    ).tolist()
    met = sum(_meets(bar, spread, spread.low + (1 - spread.low) * each, units) for each in quantiles)
    return met / points
