"""How often the intervals hold the truth: simulated, for as many reviews as projects have.

Every row is a design whose truth is known: items come in reviews of uneven size and are alike within them. Its
interval is computed as Concord computes it, and beside it the ones that are not cited: the percentile bootstrap that
draws reviews, and that over items, which takes them for independent.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import special, stats  # type: ignore[import-untyped]

from measures.agreement import (
    Clusters,
    Ratings,
    all_coefficients,
    bootstrap_over_reviews,
    over_reviews,
    prepare,
)
from measures.clustered import FloatArray, Interval
from measures.means import FROM_0_TO_1, clustered_mean, clustered_share
from measures.probe import OVERALL, Pair, TextNll, probe_table

from .report import Found, say

AIM = 0.93
#: From so many reviews on the aim is meant.
ENOUGH = 20
#: Reviews whose figure is taken for the truth where no formula gives it.
MANY = 100_000
Rng = np.random.Generator
Places = npt.NDArray[np.intp]
KINDS = ("cited", "bootstrap", "items")
TITLES = ("as cited", "percentile bootstrap over reviews", "items taken for independent")
#: One draw: an interval of each of `KINDS`, or None, for every figure of the design.
Intervals = dict[str, tuple[Interval | None, Interval | None, Interval | None]]


@dataclass(frozen=True)
class Plan:
    """``drawn`` simulated projects a cell, of which every ``every``-th is bootstrapped too, ``replicates`` times."""

    reviews: tuple[int, ...] = (3, 5, 8, 12, 20, 30, 60, 229)
    drawn: int = 2_000
    every: int = 5
    replicates: int = 1_000
    many: int = MANY

    @classmethod
    def quick(cls) -> "Plan":
        return cls(reviews=(5, 20, 60), drawn=200, replicates=200, many=20_000)


@dataclass(frozen=True)
class Design:
    """``draw``: the intervals of one project of so many reviews, bootstrapped so often (0: not at all).

    ``aimed``: whether the aim is meant for it; it is told of the others how far they are from it.
    """

    name: str
    truth: Callable[[Plan], dict[str, float]]
    draw: Callable[[Rng, int, int], Intervals]
    aimed: bool = True


@dataclass
class Cell:
    """What was held of the draws that had an interval, by interval: cited, bootstrap, items."""

    held: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    widths: list[float] = field(default_factory=list)
    none: int = 0

    def add(self, found: Sequence[Interval | None], truth: float) -> None:
        self.none += found[0] is None
        for name, ci in zip(KINDS, found, strict=True):
            if ci is not None:
                self.held[name].append(ci[0] - 1e-12 <= truth <= ci[1] + 1e-12)
        if found[0] is not None:
            self.widths.append(found[0][1] - found[0][0])

    def share(self, name: str) -> float | None:
        held = self.held[name]
        return sum(held) / len(held) if held else None


def places(rng: Rng, reviews: int) -> Places:
    """(n,): the review of each item. A review has one to sixty items; half have two or fewer, a tenth seven or more."""
    sizes = 1 + np.floor(np.exp(rng.normal(0.6, 1.0, reviews)) - 0.4).clip(0, 59).astype(np.int64)
    return np.repeat(np.arange(reviews), sizes)


def _mean_of(draw: Callable[[Rng, Places, int], FloatArray], bounds: tuple[float, float]) -> Callable[..., Intervals]:
    def drawn(rng: Rng, reviews: int, replicates: int) -> Intervals:
        place = places(rng, reviews)
        values = draw(rng, place, reviews)
        cited = clustered_mean(values.tolist(), place.tolist(), bounds=bounds).ci
        return {"mean": (cited, _bootstrap(rng, values, place, replicates), _of_items(values) if replicates else None)}

    return drawn


def scores(mean: float, alike: float, precision: float) -> Callable[[Rng, Places, int], FloatArray]:
    """Beta scores of variance mean (1 - mean) / (precision + 1), of which the share ``alike`` lies between reviews."""
    between, within = (precision + 1) / alike - 1, (precision + 1 - alike) / (1 - alike) - 1

    def draw(rng: Rng, place: Places, reviews: int) -> FloatArray:
        level = rng.beta(between * mean, between * (1 - mean), reviews).clip(1e-9, 1 - 1e-9)[place]
        return rng.beta(within * level, within * (1 - level))

    return draw


def normal(rng: Rng, place: Places, reviews: int) -> FloatArray:
    """As differences of scores are: a third of the variance between reviews."""
    return rng.normal(0, 1, reviews)[place] + rng.normal(0, math.sqrt(2), len(place))


def tailed(rng: Rng, place: Places, reviews: int) -> FloatArray:
    """As the longest copied run is: one review may be ten times another."""
    return np.exp(rng.normal(0, 0.8, reviews))[place] * rng.exponential(size=len(place))


def _share_of(share: float, alike: float = 0.2) -> Callable[..., Intervals]:
    def drawn(rng: Rng, reviews: int, replicates: int) -> Intervals:
        place = places(rng, reviews)
        level = rng.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), reviews)[place]
        hits = rng.random(len(place)) < level
        cited = clustered_share(hits.tolist(), place.tolist()).ci
        values = hits.astype(np.float64)
        return {"share": (cited, _bootstrap(rng, values, place, replicates), _of_items(values) if replicates else None)}

    return drawn


def _probe(mean: float) -> Callable[..., Intervals]:
    """Deltas of pairs, normal, a third of their variance between reviews; right where they are above 0."""

    def drawn(rng: Rng, reviews: int, replicates: int) -> Intervals:
        place = places(rng, reviews)
        deltas = mean + normal(rng, place, reviews)
        target = TextNll(100.0, 10, 100.0, 10)
        pairs = [
            Pair(review, "negation", target, TextNll(*(100.0 + 10 * delta, 10) * 2))
            for review, delta in zip(place.tolist(), deltas.tolist(), strict=True)
        ]
        row = next(row for row in probe_table(pairs, ["negation"]) if row.kind == OVERALL)
        right = (deltas > 0).astype(np.float64)
        return {
            name: (ci, _bootstrap(rng, values, place, replicates), _of_items(values) if replicates else None)
            for name, ci, values in (("accuracy", row.accuracy.ci, right), ("delta", row.delta.ci, deltas))
        }

    return drawn


def _probe_truth(mean: float) -> dict[str, float]:
    return {"accuracy": float(special.ndtr(mean / math.sqrt(3))), "delta": mean}


def ratings(rng: Rng, place: Places, reviews: int, hard: float, shares: Sequence[float]) -> Ratings:
    """Three raters and three values. A review has its own shares of the values, and its own chance (``hard`` in the
    mean) that a rater does not see the value and says any."""
    mix = rng.dirichlet(3 * np.array(shares), reviews)[place]
    blind = rng.beta(3 * hard, 3 * (1 - hard), reviews)[place]
    value = (rng.random((len(place), 1)) > mix.cumsum(axis=1)[:, :2]).sum(axis=1)
    said = np.where(rng.random((3, len(place))) < blind, rng.choice(3, p=shares, size=(3, len(place))), value)
    return Ratings.from_codes(said.astype(np.int8), ["a", "b", "c"])


def _agreement(
    hard: float, shares: Sequence[float]
) -> tuple[Callable[..., dict[str, float]], Callable[..., Intervals]]:
    def truth(plan: Plan) -> dict[str, float]:
        rng = np.random.default_rng(0)
        found = all_coefficients(prepare(ratings(rng, places(rng, plan.many), plan.many, hard, shares)))
        return {name: each.value for name, each in found.items() if each.value is not None}

    def drawn(rng: Rng, reviews: int, replicates: int) -> Intervals:
        place = places(rng, reviews)
        basis = prepare(ratings(rng, place, reviews, hard, shares))
        found = all_coefficients(basis)
        clusters = Clusters.of(basis.ratings, dict(enumerate(place.tolist())))
        over = over_reviews(basis, found, clusters)
        names = [name for name, each in found.items() if each.value is not None]
        seed = int(rng.integers(2**31))
        boot = bootstrap_over_reviews(basis, names, clusters, replicates=replicates, seed=seed) if replicates else {}
        return {
            name: (over[name].ci, boot[name].ci if boot else None, found[name].ci if boot else None) for name in names
        }

    return truth, drawn


def _bootstrap(rng: Rng, values: FloatArray, place: Places, replicates: int) -> Interval | None:
    """Percentiles of means over reviews drawn with replacement."""
    if not replicates:
        return None
    totals, sizes = np.bincount(place, weights=values), np.bincount(place)
    drawn = rng.integers(len(sizes), size=(replicates, len(sizes)))
    low, high = np.quantile(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def _of_items(values: FloatArray) -> Interval:
    """Student's, as if items were independent."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def _of(**truths: float) -> Callable[[Plan], dict[str, float]]:
    return lambda plan: truths


def _designs() -> list[Design]:
    free = (-math.inf, math.inf)
    means = [
        Design("mean of scores about .20 (ROUGE-L)", _of(mean=0.2), _mean_of(scores(0.2, 0.3, 12), FROM_0_TO_1)),
        Design("mean of scores about .05 (ROUGE-2)", _of(mean=0.05), _mean_of(scores(0.05, 0.3, 12), FROM_0_TO_1)),
        Design("mean of differences", _of(mean=0.0), _mean_of(normal, free)),
        Design("mean of a figure with a long tail", _of(mean=math.exp(0.32)), _mean_of(tailed, (0.0, math.inf)), False),
    ]
    shares = [Design(f"share of {p:g}", _of(share=p), _share_of(p)) for p in (0.5, 0.8, 0.95, 0.99)]
    probes = [Design(f"probe, {words}", _of(**_probe_truth(mean)), _probe(mean)) for words, mean in
              (("right in .72", 1.0), ("right in .96", 3.0))]  # fmt: skip
    even = (0.4, 0.35, 0.25)
    agreement = [
        Design(f"agreement, {words}", *_agreement(hard, mix))
        for words, hard, mix in (
            ("hard", 0.3, even), ("easy", 0.1, even), ("one value in .85 of ratings", 0.2, (0.85, 0.1, 0.05))
        )
    ]  # fmt: skip
    return [*means, *shares, *probes, *agreement]


def run(plan: Plan) -> Found:
    """Simulate every design at every number of reviews, and print a table of each kind of interval in Markdown."""
    found = Found()
    cells: dict[tuple[str, str], dict[int, Cell]] = {}
    for number, design in enumerate(_designs()):
        truth = design.truth(plan)
        for reviews in plan.reviews:
            rng = np.random.default_rng((number, reviews))
            for draw in range(plan.drawn):
                replicates = plan.replicates if draw % plan.every == 0 else 0
                for figure, intervals in design.draw(rng, reviews, replicates).items():
                    by_reviews = cells.setdefault((design.name, figure), {})
                    by_reviews.setdefault(reviews, Cell()).add(intervals, truth[figure])
        for (name, figure), by_reviews in cells.items():
            if name == design.name:
                held = [by_reviews[g].share("cited") for g in plan.reviews if g >= ENOUGH]
                words = f"coverage from {ENOUGH} reviews on, at least: {name}, {figure}"
                least = min(each for each in held if each is not None)
                if design.aimed:
                    found.at_least(words, least, AIM)
                else:
                    found.told(words, f"{least:.3f}")
        say(f"    {design.name}")
    for kind, title in zip(KINDS, TITLES, strict=True):
        say(f"\n{title}\n{_markdown(plan, cells, kind)}")
    found.figures = {
        "drawn": plan.drawn, "bootstrapped": math.ceil(plan.drawn / plan.every), "replicates": plan.replicates,
        "cells": [
            {"design": name, "figure": figure, "reviews": reviews, "none": cell.none,
             "width": float(np.median(cell.widths)) if cell.widths else None,
             **{kind: cell.share(kind) for kind in KINDS}}
            for (name, figure), by_reviews in cells.items() for reviews, cell in by_reviews.items()
        ],
    }  # fmt: skip
    return found


def _markdown(plan: Plan, cells: dict[tuple[str, str], dict[int, Cell]], kind: str) -> str:
    """Designs in rows, reviews in columns; a dash where there was no interval."""
    rows = [f"| reviews | {' | '.join(map(str, plan.reviews))} |", "|---|" + "---:|" * len(plan.reviews)]
    for (name, figure), by_reviews in cells.items():
        held = (by_reviews[g].share(kind) for g in plan.reviews)
        said = ("-" if each is None else f"{each:.3f}".lstrip("0") for each in held)
        label = name if figure in name else f"{name}: {figure.replace('_', ' ')}"
        rows.append(f"| {label} | {' | '.join(said)} |")
    return "\n".join(rows)
