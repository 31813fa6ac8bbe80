"""Simulate the coverage of printed confidence intervals over prevalence, similarity, reviews, sizes and raters.

Each design has a known truth. Intervals are computed as in the application, and coverage is counted over the printed
ones. A design with a smaller share of printed intervals than `HARDLY` counts as withheld. If coverage is outside the
band after the first simulations, `Plan.more` simulations are added, because with few printed intervals this can be
chance.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import special  # type: ignore[import-untyped]

from measures.agreement import Clusters, Ratings, Weights, all_coefficients, all_pairs, over_reviews, prepare
from measures.clustered import FloatArray, Interval
from measures.means import FROM_0, FROM_0_TO_1, UNBOUNDED, clustered_mean, clustered_share
from measures.ratings.confusion import confusion
from measures.ratings.judgements import Preference
from measures.ratings.preferences import preference_figures
from measures.stated_direction import CELLS, macro_f1

from .report import Found, say

Rng = np.random.Generator
Places = npt.NDArray[np.intp]
#: One simulation: the interval of each figure, or None if it is withheld.
Intervals = Mapping[str, Interval | None]
BAND = (0.93, 0.975)
HARDLY, FIRST = 0.05, 200
"""A design with a smaller share of printed intervals counts as withheld.

It stops after the `FIRST` simulations if no figure has an interval.
"""
DOCUMENT = Path("docs/coverage.md")
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"


@dataclass(frozen=True)
class Layout:
    """Sizes and similarity of reviews.

    ``units`` is the number of units per review; for ``uneven`` sizes it is the mean of 1 + geometric. ``alike`` is the
    similarity within reviews.
    """

    units: int
    alike: float
    uneven: bool = False

    def of_items(self, rng: Rng, reviews: int) -> Places:
        """Return the review of each item (items,)."""
        if not self.uneven:
            return np.repeat(np.arange(reviews), self.units)
        return np.repeat(np.arange(reviews), 1 + rng.geometric(1 / (self.units - 1), reviews).clip(max=40))

    def __str__(self) -> str:
        return f"{self.units} a review{', uneven' * self.uneven}, likeness {self.alike:g}"


LAYOUTS = (Layout(1, 0.0), Layout(6, 0.0), Layout(6, 0.5), Layout(6, 0.2, uneven=True))


@dataclass(frozen=True)
class Plan:
    """Parameters of a run.

    ``drawn`` simulations per design, and ``more`` if coverage is outside the band. ``many`` reviews are simulated to
    determine the truth.
    """

    reviews: tuple[int, ...] = (5, 10, 20, 40, 100, 229)
    prevalences: tuple[float, ...] = (0.5, 0.8, 0.9, 0.95, 0.98)
    raters: tuple[int, ...] = (2, 3, 5)
    layouts: tuple[Layout, ...] = LAYOUTS
    drawn: int = 2_000
    more: int = 2_000
    many: int = 100_000
    document: Path | None = DOCUMENT

    @classmethod
    def quick(cls) -> Plan:
        return cls(reviews=(10, 40), prevalences=(0.9,), raters=(3,), drawn=200, more=0, many=20_000, document=None)


@dataclass(frozen=True)
class Design:
    """A design with its truth. ``draw`` returns the intervals of one study with the given number of reviews."""

    name: str
    truth: Mapping[str, float]
    draw: Callable[[Rng, int], Intervals]


@dataclass
class Cell:
    """Counts of a figure for one design and number of reviews."""

    drawn: int = 0
    printed: int = 0
    held: int = 0

    def add(self, ci: Interval | None, truth: float) -> None:
        self.drawn += 1
        if ci is not None:
            self.printed += 1
            self.held += ci[0] - 1e-12 <= truth <= ci[1] + 1e-12

    @property
    def share(self) -> float:
        return self.printed / self.drawn

    @property
    def coverage(self) -> float | None:
        return self.held / self.printed if self.share >= HARDLY else None


@dataclass
class Row:
    """All designs of a figure, by number of reviews."""

    cells: dict[int, list[Cell]] = field(default_factory=lambda: defaultdict(list))


def _levels(rng: Rng, place: Places, mean: float, alike: float) -> FloatArray:
    """Return the probability of each item's review (items,)."""
    reviews = int(place[-1]) + 1
    k = 1 / alike - 1 if alike else math.inf
    return (rng.beta(k * mean, k * (1 - mean), reviews) if alike else np.full(reviews, mean))[place]


def _normal(rng: Rng, place: Places, alike: float) -> FloatArray:
    """Return standard normal values (items,)."""
    between = rng.normal(0, math.sqrt(alike), int(place[-1]) + 1)[place]
    return np.asarray(between + rng.normal(0, math.sqrt(1 - alike), len(place)))


def _codes(rng: Rng, place: Places, alike: float, prevalence: float, raters: int, values: int = 2) -> FloatArray:
    """Return ratings (raters, items) of ``values`` values, of which the last is the commonest.

    A rater does not see 15% of the items and guesses these by prevalence. The rarer values are equally common.
    """
    size = (raters, len(place))
    other = rng.integers(values - 1, size=len(place))
    truth = np.where(rng.random(len(place)) < _levels(rng, place, prevalence, alike), values - 1, other)
    guess = np.where(rng.random(size) < prevalence, values - 1, rng.integers(values - 1, size=size))
    return np.where(rng.random(size) < 0.15, guess, truth).astype(np.int8)


def _agreement(plan: Plan, prevalence: float, layout: Layout, raters: int, values: int, weights: Weights) -> Design:
    prefix = "" if weights == "identity" else "weighted "

    def found(rng: Rng, reviews: int) -> tuple[Ratings, Clusters]:
        place = layout.of_items(rng, reviews)
        codes = _codes(rng, place, layout.alike, prevalence, raters, values)
        ratings = Ratings.from_codes(codes, list(range(values)))
        return ratings, Clusters(ratings, place, reviews)

    def draw(rng: Rng, reviews: int) -> Intervals:
        ratings, clusters = found(rng, reviews)
        basis = prepare(ratings, weights)
        made = {name: each.ci for name, each in over_reviews(basis, all_coefficients(basis), clusters).items()}
        if raters == 2:
            pair = all_pairs(ratings, weights, clusters=clusters)[0].kappa
            made["cohen"] = pair.reviews.ci if pair.reviews else None
        return {prefix + name: ci for name, ci in made.items()}

    whole = all_coefficients(prepare(found(np.random.default_rng(0), plan.many)[0], weights))
    truth = {prefix + name: each.value for name, each in whole.items() if each.value is not None}
    if raters == 2:
        truth[prefix + "cohen"] = truth[prefix + "conger"]
    return Design(f"{values} values, prevalence {prevalence:g}, {raters} raters, {layout}", truth, draw)


def _share(share: float, layout: Layout) -> Design:
    """Return a design of shares: of hits, and of the mean judgement of three raters."""

    def draw(rng: Rng, reviews: int) -> Intervals:
        place = layout.of_items(rng, reviews)
        level = _levels(rng, place, share, layout.alike)
        hits, rated = rng.random(len(place)) < level, rng.binomial(3, level) / 3
        of = {"share": hits.astype(float), "share, mean of three raters": rated}
        return {name: clustered_share(each.tolist(), place.tolist()).ci for name, each in of.items()}

    return Design(f"share of {share:g}, {layout}", {"share": share, "share, mean of three raters": share}, draw)


def _points(rng: Rng, place: Places, alike: float, cut: Sequence[float]) -> FloatArray:
    return np.asarray(1.0 + np.searchsorted(np.cumsum(cut), special.ndtr(_normal(rng, place, alike))))


POINTS = (0.01, 0.02, 0.05, 0.15)
"""Probabilities of 1 to 4 points of 5."""


def _means(layout: Layout) -> Iterator[Design]:
    def of(name: str, truth: float, bounds: Interval, values: Callable[[Rng, Places], FloatArray]) -> Design:
        def draw(rng: Rng, reviews: int) -> Intervals:
            place = layout.of_items(rng, reviews)
            return {name: clustered_mean(values(rng, place).tolist(), place.tolist(), bounds=bounds).ci}

        return Design(f"{name}, {layout}", {name: truth}, draw)

    def scores(mean: float) -> Callable[[Rng, Places], FloatArray]:
        def values(rng: Rng, place: Places) -> FloatArray:
            level = _levels(rng, place, mean, layout.alike).clip(1e-9, 1 - 1e-9)
            return rng.beta(12 * level, 12 * (1 - level))

        return values

    def lengths(spread: float) -> Callable[[Rng, Places], FloatArray]:
        return lambda rng, place: np.exp(spread * _normal(rng, place, layout.alike))

    def severity(rng: Rng, place: Places) -> FloatArray:
        given = [_points(rng, place, layout.alike, POINTS) for _ in range(3)]
        return given[0] - (given[1] + given[2]) / 2

    def rare(rng: Rng, place: Places) -> FloatArray:
        first, second = (rng.random(len(place)) < _levels(rng, place, mean, layout.alike) for mean in (0.95, 0.9))
        return first.astype(float) - second

    def delta(rng: Rng, place: Places) -> FloatArray:
        """Return skewed values, like likelihoods of texts with an unusual word."""
        return np.asarray(_normal(rng, place, layout.alike) + rng.exponential(1.0, len(place)) - 1)

    expected = 5 - sum((5 - i) * share for i, share in enumerate(POINTS, start=1))
    yield of("mean of Likert points", expected, (1.0, 5.0), partial(_points, alike=layout.alike, cut=POINTS))
    yield of("mean of scores near .3", 0.3, FROM_0_TO_1, scores(0.3))
    yield of("mean of scores near 1", 0.95, FROM_0_TO_1, scores(0.95))
    yield of("mean of lengths", math.exp(0.08), FROM_0, lengths(0.4))
    yield of("mean with a long tail", math.exp(0.5), FROM_0, lengths(1.0))
    yield of("mean of differences", 0.0, UNBOUNDED, lambda rng, place: _normal(rng, place, layout.alike))
    yield of("difference of shares", 0.05, (-1.0, 1.0), rare)
    yield of("severity", 0.0, UNBOUNDED, severity)
    yield of("probe delta", 0.0, UNBOUNDED, delta)


def _direction(plan: Plan, prevalence: float, layout: Layout) -> Design:
    classes = ("up", "down")

    def draw(rng: Rng, reviews: int) -> Intervals:
        place = layout.of_items(rng, reviews)
        codes = _codes(rng, place, layout.alike, prevalence, 2)
        pairs = [(classes[a], classes[b], 1.0) for a, b in codes.T.tolist()]
        made = confusion(pairs, classes, sources=place.tolist())
        return {"direction accuracy": made["ci"], "direction kappa": made["kappa_ci"]}

    rng = np.random.default_rng(0)
    codes = _codes(rng, layout.of_items(rng, plan.many), layout.alike, prevalence, 2)
    whole = confusion([(classes[a], classes[b], 1.0) for a, b in codes.T.tolist()], classes)
    truth = {"direction accuracy": whole["accuracy"], "direction kappa": whole["kappa"]}
    return Design(f"direction, prevalence {prevalence:g}, {layout}", truth, draw)


def _stated_directions(plan: Plan, correct: float, layout: Layout) -> Design:
    """Return a design of MS^2's directions: each output is correct, another direction, or none."""
    shares = np.array([0.134, 0.570, 0.296])  # of MS^2's directions

    def rows(rng: Rng, reviews: int) -> list[tuple[int, dict[str, float]]]:
        place = layout.of_items(rng, reviews)
        k = 1 / layout.alike - 1 if layout.alike else math.inf
        of_review = rng.dirichlet(k * shares, reviews) if layout.alike else np.tile(shares, (reviews, 1))
        target = (rng.random((len(place), 1)) > of_review.cumsum(axis=1)[place, :2]).sum(axis=1)
        is_correct = rng.random(len(place)) < _levels(rng, place, correct, layout.alike)
        output = np.where(is_correct, target, (target + rng.integers(1, 4, len(place))) % 4)
        counts = np.bincount((place * 3 + target) * 4 + output, minlength=reviews * 12).reshape(reviews, 12)
        return [(n, dict(zip(CELLS, of.tolist(), strict=True))) for n, of in enumerate(counts)]

    truth = macro_f1(rows(np.random.default_rng(0), plan.many))["macro_f1"]
    name = f"stated directions, {correct:g} correct, {layout}"
    return Design(name, {"macro F1": truth}, lambda rng, reviews: {"macro F1": macro_f1(rows(rng, reviews))["ci"]})


def _preferences(layout: Layout) -> Design:
    """Return a design of three systems with strengths 0.8, 0 and -0.8; all three pairs for every source."""
    strength = np.array([0.8, 0.0, -0.8])
    units = min(layout.units, 2)

    def draw(rng: Rng, reviews: int) -> Intervals:
        made = []
        place = np.repeat(np.arange(reviews), units)
        for one, other in ((0, 1), (0, 2), (1, 2)):
            chance = float(1 / (1 + np.exp(strength[other] - strength[one])))
            left = rng.random(len(place)) < _levels(rng, place, chance, layout.alike)
            made += [
                Preference(source, str(one), str(other), "r", "better", "left" if won else "right")
                for source, won in zip(place.tolist(), left.tolist(), strict=True)
            ]
        return {"Bradley-Terry strength": preference_figures(made)[0]["systems"][0]["ci"]}

    return Design(f"preferences, {layout}", {"Bradley-Terry strength": 0.8}, draw)


def designs(plan: Plan) -> Iterator[Callable[[], Design]]:
    """Yield all figures for the layouts and prevalences of a plan. The numbers of raters rotate."""
    for i, layout in enumerate(plan.layouts):
        raters = cycle(plan.raters[i % len(plan.raters) :] + plan.raters[: i % len(plan.raters)])
        for j, prevalence in enumerate(plan.prevalences):
            yield partial(_agreement, plan, prevalence, layout, next(raters), 2, "identity")
            yield partial(_share, prevalence, layout)
            if (i + j) % 3 == 0:
                yield partial(_agreement, plan, prevalence, layout, next(raters), 3, "identity")
                yield partial(_agreement, plan, prevalence, layout, next(raters), 3, "quadratic")
            if (i + j) % 2 == 0:
                yield partial(_direction, plan, prevalence, layout)
        yield from (partial(_nth, layout, n) for n in range(len(list(_means(layout)))))
        yield from (partial(_stated_directions, plan, correct, layout) for correct in (0.4, 0.6, 0.9))
        if not layout.uneven:
            yield partial(_preferences, layout)


def _nth(layout: Layout, n: int) -> Design:
    return list(_means(layout))[n]


def simulate(plan: Plan, number: int) -> tuple[str, dict[int, dict[str, Cell]]]:
    """Simulate one design. Return its name, and a cell of each figure by number of reviews."""
    design = list(designs(plan))[number]()
    return design.name, {reviews: _simulate(plan, design, number, reviews) for reviews in plan.reviews}


def _simulate(plan: Plan, design: Design, number: int, reviews: int) -> dict[str, Cell]:
    rng = np.random.default_rng((number, reviews))
    cells = {name: Cell() for name in design.truth}

    def draw(times: int) -> None:
        for _ in range(times):
            for figure, ci in design.draw(rng, reviews).items():
                cells[figure].add(ci, design.truth[figure])

    first = min(FIRST, plan.drawn)
    draw(first)
    if any(cell.printed for cell in cells.values()):
        draw(plan.drawn - first)
    if any(_leaves(cell) for cell in cells.values()):
        draw(plan.more)
    return {figure: cell for figure, cell in cells.items() if cell.drawn}


def _leaves(cell: Cell) -> bool:
    return cell.coverage is not None and not BAND[0] <= cell.coverage <= BAND[1]


def run(plan: Plan) -> Found:
    """Simulate every design, print the table, and write it into its document."""
    found = Found()
    rows: dict[str, Row] = defaultdict(Row)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, by_reviews in pool.map(partial(simulate, plan), range(len(list(designs(plan))))):
            for reviews, cells in by_reviews.items():
                for figure, cell in cells.items():
                    rows[figure].cells[reviews].append(cell)
                    _judge(found, f"{figure}: {name}, {reviews} reviews", cell)
            say(f"    {name}")
    text = table(plan, rows)
    say(text)
    if plan.document:
        before, _, rest = plan.document.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        plan.document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    return found


def _judge(found: Found, what: str, cell: Cell) -> None:
    found.figures[what] = {"printed": cell.printed, "held": cell.held, "drawn": cell.drawn}
    if cell.coverage is not None and _leaves(cell):
        found.at_least(f"outside {BAND[0]} to {BAND[1]}, {cell.share:.0%} printed: {what}", cell.coverage, BAND[0])


def table(plan: Plan, rows: Mapping[str, Row]) -> str:
    """Return a table of figures (rows) by numbers of reviews (columns).

    A cell has the lowest and highest coverage over the designs with printed intervals, and the number of designs in the
    band.
    """
    every = (cell for row in rows.values() for cells in row.cells.values() for cell in cells)
    coverages = [each.coverage for each in every if each.coverage is not None]
    inside = sum(BAND[0] <= each <= BAND[1] for each in coverages)
    shown = [g for g in plan.reviews if any(c.coverage is not None for row in rows.values() for c in row.cells[g])]
    without = " or ".join(str(g) for g in plan.reviews if g not in shown)
    lines = [
        f"{inside} of the {len(coverages)} designs with intervals are in the band, "
        f"{sum(each < BAND[0] for each in coverages)} are below it "
        f"and {sum(each > BAND[1] for each in coverages)} above. "
        f"Coverage ranges from {_two(min(coverages, default=0))} to {_two(max(coverages, default=0))}."
        + (f" No interval is printed for {without} reviews." if without else ""),
        "",
        f"| reviews | {' | '.join(map(str, shown))} |",
        "|---|" + "---|" * len(shown),
    ]
    for figure, row in rows.items():
        lines.append(f"| {figure.replace('_', ' ')} | {' | '.join(_shown(row.cells[g]) for g in shown)} |")
    return "\n".join(lines)


def _shown(cells: list[Cell]) -> str:
    known = sorted(cell.coverage for cell in cells if cell.coverage is not None)
    if not known:
        return "-"
    printed = sum(cell.share for cell in cells) / len(cells)
    least, most = (f"{coverage:.2f}".lstrip("0") for coverage in (known[0], known[-1]))
    return f"{least}\u2013{most}\u00a0({printed:.0%})"


def _two(coverage: float) -> str:
    return f"{coverage:.3f}".lstrip("0")
