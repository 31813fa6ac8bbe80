"""Which pilot can meet a bar: figures of a closed pilot, the number of units needed, and the probability."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from measures.agreement import Scale, bars
from measures.agreement.bars import Bar

from .. import kinds
from ..agreement import actions as agreement_actions
from ..agreement.queries import planned_ratings_per_item
from ..models import Round
from . import queries as gates_queries

Json = dict[str, Any]
#: Assumed value where neither the pilot nor the person provides one: the bar plus this.
ABOVE = 0.1
#: Largest number of units whose reviews are read.
MOST_READ = 5_000


def pilot_page(pilot: Round, kind: str | None, bar: Bar | None, assumed: float | None, units: int | None) -> Json:
    """Return the measures of a pilot with the figures of a closed one, and how a bar can be reached."""
    report = _report(pilot)
    scales = gates_queries.scales(pilot, kind or pilot.kind)
    gold = pilot.meaning.held_against_gold
    scale = next((one for one in scales if bar and one.name == bar.measure), None)
    known = scale is not None and bar is not None and bar.coefficient in bars.coefficients_of(scale, gold=gold)
    return {
        "units": pilot.units_count,
        "closed": pilot.status == Round.Status.CLOSED,
        "measures": [
            {
                "name": one.name,
                "coefficients": [_coefficient(report, one, name) for name in bars.coefficients_of(one, gold=gold)],
            }
            for one in scales
        ],
        "reach": reach(pilot, report, scale, bar, assumed, units) if known and bar and scale else None,
    }


def _report(pilot: Round) -> Mapping[str, Any] | None:
    """Return the agreement of a closed pilot, if it is available without a job. Open pilots are not read."""
    if pilot.status != Round.Status.CLOSED:
        return None
    return agreement_actions.available_report(pilot).report


def _coefficient(report: Mapping[str, Any] | None, scale: Scale, name: str) -> Json:
    entry: Json = {"key": name, "name": bars.NAMES[name], "has_interval": name not in bars.WITHOUT_INTERVAL}
    if report is None:
        return entry | {"reads": ""}
    return entry | {"reads": bars.in_words(name, bars.figures(gates_queries.measure_of(report, scale.name), name))}


def reach(
    pilot: Round, report: Mapping[str, Any] | None, scale: Scale, bar: Bar, assumed: float | None, units: int | None
) -> Json:
    """Return the least number of units at which the expected lower bound reaches the bar, and the probability.

    ``units`` is the size of the pilot; by default the n of its figures, or its units while it is open. In a rating
    round, a unit of the figures is a text. The spread is that of the closed pilot, or that of a model with
    equally common values and the pilot's reviews.
    """
    measure = gates_queries.measure_of(report, bar.measure) if report else None
    read = bars.figures(measure, bar.coefficient)
    estimate = read.value
    value = assumed if assumed is not None else estimate if estimate is not None else min(bar.number + ABOVE, 0.99)
    spread = bars.spread_of_pilot(measure, bar.coefficient)
    basis = "pilot" if spread else "model"
    if spread is None:
        raters = round(planned_ratings_per_item(pilot)) or 2
        spread = bars.spread_of_model(bar.coefficient, scale, max(raters, 2), round(value, 3))
        spread = spread and replace(spread, units_per_review=_units_per_review(pilot, units))
    n = units or read.units or pilot.units_count
    page = {"assumed": value, "is_estimate": assumed is None and estimate is not None, "units": n, "basis": basis}
    if spread is None:
        return page | {
            "needed": None,
            "probability": None,
            "says": f"A true value of {value:.2f} has no spread to plan with. Assume another value.",
        }
    needed = bars.units_needed(bar, spread, value)
    return page | {
        "needed": needed,
        "probability": bars.probability(bar, spread, value, n),
        "says": _says(bar, value, needed, spread.units_per_review),
    }


def _units_per_review(pilot: Round, units: int | None) -> float:
    """Return the mean number of units of a review. ``units``: the texts of a rating round, if a person typed them."""
    kind = kinds.get(pilot.kind)
    ids = list(pilot.assignments.order_by().values_list("unit", flat=True).distinct()[:MOST_READ])
    of_unit = kind.reviews(ids)
    reviews = len({of_unit.get(pk, str(pk)) for pk in ids})
    n = units if units and kind.designed else len(ids)
    return max(n / reviews, 1.0) if reviews else 1.0


def _says(bar: Bar, value: float, needed: int | None, units_per_review: float) -> str:
    if needed is None:
        return f"No n reaches it: the assumed value {value:.2f} is not above the bar {bar.number:.2f}."
    if bar.requires == "value":
        return "A bar on the value needs no more units. It opens about half of the rounds whose true value equals it."
    reviews = f" of {math.ceil(needed / units_per_review):,} reviews" if units_per_review > 1 else ""
    return f"From n = {needed:,} units{reviews} the expected {bars.LEVEL:.0%} lower bound reaches {bar.number:.2f}."
