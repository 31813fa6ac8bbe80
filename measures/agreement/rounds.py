"""The agreement report of a whole round, from a table of answers and nothing else.

The pages, the command and a release print it; whoever has a release makes it again from its files (`measures.again`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

from measures.agreement.alpha import Metric
from measures.agreement.gold import against_gold
from measures.agreement.ratings import Ratings
from measures.agreement.report import MeasureReport, measure_report
from measures.agreement.sample_size import half_width_curve, items_needed
from measures.agreement.weights import WeightName
from measures.sets import codes_of_cell
from measures.text_agreement import Cells, Comparison, TextAgreement, compared, pooled

REPLICATES = 2000
#: Half widths of the 95 % interval for which it is said how many units they would take.
HALF_WIDTHS = (0.03, 0.05, 0.08, 0.10, 0.15)
#: (unit, rater, cells by column): one counted answer.
Said = tuple[str, str, Cells]
#: (unit, rater, value)
Triple = tuple[str, str, str]
Progress = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Scale:
    """A declared nominal or ordinal scale, and which column of an answer lies on it. Agreement is always computed on
    all of it, used or not.

    ``missing``: cells that say nothing on this scale. ``blank_or_given``: the column is a text, and what is compared is
    whether there is one; the scale has these two values, in this order. ``holds``: the column is a set of codes
    (`measures.sets`), and what is compared is whether it has this one; again two values, "no" before "yes".
    ``where``: (column, value) of the rows that are on the scale, where a row is one of several things said of an item.
    """

    name: str
    categories: tuple[str, ...]
    column: str
    #: irrCAC's name of the weighting that suits it: "identity" for nominal, "linear" or "quadratic" for ordinal.
    weights: WeightName = "identity"
    #: Krippendorff's metric.
    metric: Metric = "nominal"
    missing: tuple[str, ...] = ()
    blank_or_given: bool = False
    holds: str = ""
    where: tuple[str, str] | None = None

    def code(self, cells: Cells) -> str | None:
        """The value of an answer on this scale; None where it has none."""
        if self.where and cells[self.where[0]] != self.where[1]:
            return None
        cell = cells[self.column]
        if self.blank_or_given:
            blank, given = self.categories
            return given if cell else blank
        if self.holds:
            return self.categories[self.holds in codes_of_cell(cell)]
        return None if cell in self.missing else cell

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name, "categories": list(self.categories), "column": self.column, "weights": self.weights,
            "metric": self.metric, "missing": list(self.missing), "blank_or_given": self.blank_or_given,
            **({"holds": self.holds} if self.holds else {}),
            **({"where": list(self.where)} if self.where else {}),
        }  # fmt: skip

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Scale:
        """What `as_json` gave."""
        lists = {name: tuple(stored[name]) for name in ("categories", "missing")}
        where = {"where": tuple(stored["where"])} if stored.get("where") else {}
        return cls(**{**stored, **lists, **where})


def coded(scales: Sequence[Scale], said: Iterable[Said]) -> dict[str, list[Triple]]:
    """(unit, rater, value) by the name of the scale, in the order of the answers."""
    found: dict[str, list[Triple]] = {scale.name: [] for scale in scales}
    for unit, rater, cells in said:
        for scale in scales:
            if (value := scale.code(cells)) is not None:
                found[scale.name].append((unit, rater, intern(value)))
    return found


class RoundAnswers:
    """A round's counted answers, taken in the order of the walk, and the report of them.

    Memory grows by the codes of the answers; cells and texts are let go with the part that they came in.
    """

    def __init__(self, scales: Sequence[Scale], comparisons: Sequence[Comparison]) -> None:
        self.scales, self.comparisons = scales, comparisons
        self.answers = self.units = 0
        self._raters: set[str] = set()
        self._triples: dict[str, list[Triple]] = {scale.name: [] for scale in scales}
        self._compared: list[list[TextAgreement]] = []
        self._reviews: dict[str, Hashable] = {}
        self._gold: dict[str, dict[str, str]] = {}

    def add(self, said: Sequence[Said], texts: Mapping[Hashable, str], reviews: Mapping[str, Hashable]) -> None:
        """Some of the answers: all that there are to a unit, or none.

        ``reviews``: of these units, by which they are alike; ``texts``: of them, where a comparison is of spans.
        """
        self._reviews.update(reviews)
        for name, triples in coded(self.scales, said).items():
            self._triples[name] += triples
        self._compared.append(compared(self.comparisons, said, texts))
        self._raters.update(rater for _, rater, _ in said)
        # What is said of an item may stand in several rows, one a criterion.
        self.answers += len({(unit, rater) for unit, rater, _ in said})
        self.units += len({unit for unit, _, _ in said})

    def hold_against(self, gold: Mapping[str, Mapping[str, str]]) -> None:
        """Gold by scale and unit, for a round that could not have made it; for any other it would flatter."""
        for scale, values in gold.items():
            self._gold.setdefault(scale, {}).update(values)

    def report(
        self, *, units: int, seed: int, overlap: float, bootstrap: int = REPLICATES, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Every figure, as plain values.

        ``units``: how many there were to answer, each of which may be several items; ``progress`` is called before each
        scale, with its name. Raises `RatingsError` for a value outside its scale, or who answered a unit twice.
        """
        measures = []
        for scale in self.scales:
            if progress:
                progress(scale.name)
            ratings = Ratings.from_triples(self._triples[scale.name], scale.categories)
            measure = measure_report(
                scale.name, ratings, scale.weights, scale.metric, bootstrap=bootstrap, seed=seed % 2**32,
                overlap=overlap, expected_items=max(units, self.units), review_of=self._reviews,
            )  # fmt: skip
            known = self._gold.get(scale.name, {})
            against = against_gold(ratings, known, clusters=measure.clusters) if self._gold else ()
            measures.append(measure.as_json() | {"plan": _plan(measure), "gold": [each.as_json() for each in against]})
        parts = self._compared or [compared(self.comparisons, [], {})]
        return {
            "units_answered": self.units,
            "raters": sorted(self._raters),
            "answers": self.answers,
            "measures": measures,
            "spans": [pooled(each).as_json() for each in zip(*parts, strict=True)],
        }


def asked_again(scales: Sequence[Scale], said: Sequence[Said], *, seed: int) -> dict[str, Any] | None:
    """How far people say the same of what they are asked twice; None where nobody was.

    ``said``: (item, "first" or "again", cells), an item being what one person was asked twice. What two people say does
    not come in: the two times are the two raters.
    """
    if not said:
        return None
    found = RoundAnswers(scales, ())
    found.add(said, {}, {item: item for item, _, _ in said})
    figures = found.report(units=found.units, seed=seed, overlap=2, bootstrap=0)["measures"]
    return {"answers": found.units, "measures": [_of_two_times(each) for each in figures]}


def _of_two_times(measure: Mapping[str, Any]) -> dict[str, Any]:
    """How often both times agree, and AC1 (AC2 on a weighted scale) of them, or why there is none."""
    name = "ac2" if "ac2" in {**measure["coefficients"], **measure["undefined"]} else "ac1"
    figure = measure["coefficients"].get(name)
    return {
        "name": measure["name"], "units": measure["all_agree"]["of"], "all_agree": measure["all_agree"],
        "coefficient": name,
        "value": figure and figure["value"], "undefined": measure["undefined"].get(name),
    }  # fmt: skip


def _plan(measure: MeasureReport) -> dict[str, Any] | None:
    """How many units would narrow the interval of AC1 (AC2): the curve and the n for some half widths.

    From the standard error over reviews where these are several units each: then more reviews, as large, are planned.
    """
    name = "ac1" if "ac1" in measure.coefficients else "ac2"
    pilot, n = measure.coefficients[name], measure.n_items
    over = pilot.reviews
    se = over.se if over else pilot.se
    if not se or n < 2:
        return None
    pace: dict[str, Any] = {"level": measure.level, "clusters": measure.reviews if over else None}
    sizes = sorted({10, 20, 40, 80, 160, 320, 640, 1280, n})
    return {
        "coefficient": name,
        "over": measure.cite,
        "half_width": dict(half_width_curve(se, n, [n], **pace))[n],
        "curve": [{"units": size, "half_width": half} for size, half in half_width_curve(se, n, sizes, **pace)],
        "needed": [{"half_width": h, "units": items_needed(se, n, h, **pace)} for h in HALF_WIDTHS],
    }
