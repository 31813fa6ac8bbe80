"""Agreement, self-consistency and correction reports of a whole round, computed from a table of answers.

Pages, commands and releases print them. `measures.recompute` recomputes them from the files of a release.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, Literal

import numpy as np

from .. import former
from ..span_agreement import codes_of_cell
from ..text_agreement import Cells, Comparison, TextAgreement, compared, pooled
from .alpha import Metric
from .clusters import Clusters, cohen_over_reviews
from .gold import against_gold, half_width_curve, items_needed
from .pairs import cohen_kappa, joint_table
from .ratings import Ratings
from .report import MeasureReport, measure_report
from .weights import WeightName, weight_matrix

REPLICATES = 2000
#: Half widths of the 95% interval for which the report gives the required number of units.
HALF_WIDTHS = (0.03, 0.05, 0.08, 0.10, 0.15)
#: (unit, rater, cells by column) of one counted answer.
RatingRow = tuple[str, str, Cells]
#: (unit, rater, value).
Triple = tuple[str, str, str]
Progress = Callable[[str], object]
#: Suffix of the name of an item's mirror image.
IMAGE = " (mirrored)"
Form = Literal["weighted", "unweighted"]
#: Keys of the report of the unweighted agreement of an ordered scale.
UNWEIGHTED = (
    "scale",
    "q",
    "units",
    "reviews",
    "cite",
    "raters",
    "ratings",
    "all_agree",
    "pairwise",
    "coefficients",
    "undefined",
    "warnings",
)


@dataclass(frozen=True, slots=True)
class Scale:
    """A declared nominal or ordinal scale of one column of the answers.

    Agreement is computed on the whole scale, including unused values. ``missing`` lists cells without a value on this
    scale. With ``blank_or_given``, the column is a text. Its presence is compared, and the scale has these two values
    in this order. With ``holds``, the column is a set of codes (`measures.span_agreement`). The presence of this code
    is compared, with "no" before "yes". ``where`` is the (column, value) of the rows on the scale, if an item has
    several rows.

    ``nominal`` lists all values of an ordered scale, including off-scale ones. They are the categories of unweighted
    agreement, which is reported in addition to weighted agreement. ``cite`` states which of the two to cite.
    ``interchangeable`` are two values whose order is arbitrary, such as the first and second text of a pair. Figures do
    not depend on that order.
    """

    name: str
    categories: tuple[str, ...]
    column: str
    #: irrCAC's name of the weights: "identity" for nominal scales, "linear" or "quadratic" for ordinal ones.
    weights: WeightName = "identity"
    #: Krippendorff's metric.
    metric: Metric = "nominal"
    missing: tuple[str, ...] = ()
    blank_or_given: bool = False
    holds: str = ""
    where: tuple[str, str] | None = None
    nominal: tuple[str, ...] = ()
    cite: Form = "weighted"
    interchangeable: tuple[str, ...] = ()

    @property
    def unweighted(self) -> Scale | None:
        """The same values as unordered categories. None for a scale without an order."""
        if not self.nominal:
            return None
        return Scale(self.name, self.nominal, self.column, missing=("",), where=self.where)

    def code(self, cells: Cells) -> str | None:
        """Return the value of an answer on this scale, or None."""
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
            "name": self.name,
            "categories": list(self.categories),
            "column": self.column,
            "weights": self.weights,
            "metric": self.metric,
            "missing": list(self.missing),
            "blank_or_given": self.blank_or_given,
            **({"holds": self.holds} if self.holds else {}),
            **({"where": list(self.where)} if self.where else {}),
            **({"nominal": list(self.nominal), "cite": self.cite} if self.nominal else {}),
            **({"interchangeable": list(self.interchangeable)} if self.interchangeable else {}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Scale:
        """Return the scale from the output of `as_json`."""
        lists = {name: tuple(stored[name]) for name in ("categories", "missing")}
        where = {name: tuple(stored[name]) for name in ("where", "nominal", "interchangeable") if stored.get(name)}
        return cls(**{**stored, **lists, **where})


def coded(scales: Sequence[Scale], answers: Iterable[RatingRow]) -> dict[str, list[Triple]]:
    """Return (unit, rater, value) triples by scale name, in the order of the answers."""
    triples: dict[str, list[Triple]] = {scale.name: [] for scale in scales}
    for unit, rater, cells in answers:
        for scale in scales:
            if (value := scale.code(cells)) is not None:
                triples[scale.name].append((unit, rater, intern(value)))
    return triples


class RoundAnswers:
    """The counted answers of a round, added in parts, and their report.

    Only the codes of the answers stay in memory. Cells and texts of a part are not kept.
    """

    def __init__(self, scales: Sequence[Scale], comparisons: Sequence[Comparison]) -> None:
        self.scales, self.comparisons = scales, comparisons
        self.answers = self.units = 0
        self._raters: set[str] = set()
        self._unweighted = [scale.unweighted for scale in scales]
        self._triples: dict[str, list[Triple]] = {scale.name: [] for scale in scales}
        self._nominal: dict[str, list[Triple]] = {scale.name: [] for scale in self._unweighted if scale}
        self._compared: list[list[TextAgreement]] = []
        self._reviews: dict[str, Hashable] = {}
        self._gold: dict[str, dict[str, str]] = {}

    def add(self, answers: Sequence[RatingRow], texts: Mapping[Hashable, str], reviews: Mapping[str, Hashable]) -> None:
        """Add a part of the answers. It must contain all answers of its units.

        ``reviews`` maps these units to reviews. ``texts`` holds their texts if a comparison is of spans.
        """
        self._reviews.update(reviews)
        for name, triples in coded(self.scales, answers).items():
            self._triples[name] += triples
        for name, triples in coded([scale for scale in self._unweighted if scale], answers).items():
            self._nominal[name] += triples
        self._compared.append(compared(self.comparisons, answers, texts))
        self._raters.update(rater for _, rater, _ in answers)
        # An answer can have several rows, one per criterion.
        self.answers += len({(unit, rater) for unit, rater, _ in answers})
        self.units += len({unit for unit, _, _ in answers})

    def add_gold(self, gold: Mapping[str, Mapping[str, str]]) -> None:
        """Add gold by scale and unit. The round must not have produced the gold, or accuracy would be inflated."""
        for scale, values in gold.items():
            self._gold.setdefault(scale, {}).update(values)

    def report(
        self, *, units: int, seed: int, overlap: float, bootstrap: int = 0, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Return all figures as plain values.

        ``units`` is the number of units to answer, each of which can be several items. ``progress`` is called with the
        name of each scale before it is computed. ``bootstrap`` applies to the former rule. Raise `RatingsError` for a
        value outside its scale, or a duplicate answer.
        """
        measures = []
        for scale, unweighted in zip(self.scales, self._unweighted, strict=True):
            if progress:
                progress(scale.name)
            ratings = Ratings.from_triples(self._triples[scale.name], scale.categories)
            options: dict[str, Any] = {
                "bootstrap": bootstrap,
                "seed": seed % 2**32,
                "overlap": overlap,
                "expected_items": max(units, self.units),
                "review_of": self._reviews,
            }
            measure = measure_report(scale.name, ratings, scale.weights, scale.metric, **options)
            gold = self._gold.get(scale.name, {})
            against = against_gold(ratings, gold, clusters=measure.by) if self._gold else ()
            result = measure.as_json() | {
                "plan": _plan(measure),
                "gold": [comparison_parts.as_json() for comparison_parts in against],
            }
            if scale.interchangeable:
                result |= self._mirrored(scale, options)
            if unweighted:
                nominal = Ratings.from_triples(self._nominal[scale.name], unweighted.categories)
                result["unweighted"] = _unweighted(measure_report(scale.name, nominal, **options))
                result["cite_form"] = _form(scale, result)
            measures.append(result)
        parts = self._compared or [compared(self.comparisons, [], {})]
        return {
            "units_answered": self.units,
            "raters": sorted(self._raters),
            "answers": self.answers,
            "measures": measures,
            "spans": [pooled(comparison_parts).as_json() for comparison_parts in zip(*parts, strict=True)],
        }

    def _mirrored(self, scale: Scale, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the coefficients over each item and its mirror image.

        An item and its image are in one cluster, so intervals count them once. Counts are those of the items.
        """
        first, second = scale.interchangeable
        swapped = {first: second, second: first}
        triples = self._triples[scale.name]
        images = [(f"{unit}{IMAGE}", rater, swapped.get(value, value)) for unit, rater, value in triples]
        review_of = {unit: self._reviews.get(unit, unit) for unit, _, _ in triples}
        review_of |= {f"{unit}{IMAGE}": review for unit, review in review_of.items()}
        ratings = Ratings.from_triples([*triples, *images], scale.categories)
        options = {**options, "review_of": review_of, "expected_items": 2 * options["expected_items"]}
        mirrored = measure_report(scale.name, ratings, scale.weights, scale.metric, **options).as_json()
        coefficients: Any = mirrored["coefficients"]
        pairs = coefficients.pop("cohen_pairs")
        for figure in (*coefficients.values(), *pairs):
            figure["se"] = figure.get("ci_se")
        for pair in pairs:
            pair["units"] //= 2
        return {"coefficients": coefficients | {"cohen_pairs": pairs}, "undefined": mirrored["undefined"]}


def _unweighted(measure: MeasureReport) -> dict[str, Any]:
    """Return the unweighted agreement of an ordered scale, reported in addition to the weighted one."""
    return {name: value for name, value in measure.as_json().items() if name in UNWEIGHTED}


def _form(scale: Scale, measure: Mapping[str, Any]) -> Form:
    """Return the form to cite: the scale's, or unweighted if the weighted form leaves out off-scale ratings."""
    leaves_out = measure["unweighted"]["ratings"] > measure["ratings"]
    return "unweighted" if leaves_out else scale.cite


def self_consistency(scales: Sequence[Scale], answers: Sequence[RatingRow], *, seed: int) -> dict[str, Any] | None:
    """Return the self-consistency on repeated items, or None if there are none.

    ``answers`` has (item, "first" or "again", cells). An item is a unit that one person answered twice. The first and
    the second answer are treated as two raters, so agreement between people has no influence.
    """
    if not answers:
        return None
    round_answers = RoundAnswers(scales, ())
    round_answers.add(answers, {}, {item: item for item, _, _ in answers})
    figures = round_answers.report(units=round_answers.units, seed=seed, overlap=2, bootstrap=0)["measures"]
    return {"answers": round_answers.units, "measures": [_of_two_times(figure) for figure in figures]}


def _of_two_times(measure: Mapping[str, Any]) -> dict[str, Any]:
    """Return how often first and second answer agree, and AC1 (AC2 on a weighted scale) or why it is undefined."""
    name = "ac2" if "ac2" in {**measure["coefficients"], **measure["undefined"]} else "ac1"
    figure = measure["coefficients"].get(name)
    return {
        "name": measure["name"],
        "units": measure["all_agree"]["of"],
        "all_agree": measure["all_agree"],
        "coefficient": name,
        "value": figure and figure["value"],
        "undefined": measure["undefined"].get(name),
    }


def _plan(measure: MeasureReport) -> dict[str, Any] | None:
    """Return the half width of the interval of AC1 (AC2) by number of units, and the units needed for some half widths.

    If reviews have several units, the plan uses the standard error over reviews and adds reviews of the same size.
    """
    name = "ac1" if "ac1" in measure.coefficients else "ac2"
    pilot, n = measure.coefficients[name], measure.n_items
    over = pilot.reviews if measure.clusters else None
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


SHOWN, CORRECTED = "shown", "corrected"
#: Printed wherever these figures are shown.
NOTE = (
    "This is not independent labelling: people saw the value before they judged it. Do not cite these figures as "
    "inter-annotator agreement."
)


@dataclass(frozen=True, slots=True)
class Review:
    """One answer to a unit that had a suggested value.

    ``same`` states by field whether the answer equals the suggestion. ``parts`` holds the name, the suggested cells and
    the given cells of each part that has both. ``review`` is the unit's review, or the item if unknown.
    """

    item: str
    same: Mapping[str, bool]
    parts: Sequence[tuple[str, Cells, Cells]] = ()
    review: str = ""

    @property
    def corrected(self) -> bool:
        """Whether the answer differs from the suggestion in any field."""
        return not all(self.same.values())


def corrections(scales: Sequence[Scale], reviews: Sequence[Review]) -> dict[str, Any]:
    """Return the numbers of confirmed and corrected answers by field, and Cohen's kappa on each scale.

    Kappa compares suggested and given values, with the weights of the scale. ``n`` counts the parts whose two values
    are both on the scale. Raise `RatingsError` for a value outside its scale.
    """
    fields = dict.fromkeys(field for review in reviews for field in review.same)
    corrected = sum(review.corrected for review in reviews)
    answers = [
        (f"{review.item} {part}", side, cells)
        for review in reviews
        for part, shown_cells, corrected_cells in review.parts
        for side, cells in ((SHOWN, shown_cells), (CORRECTED, corrected_cells))
    ]
    triples = coded(scales, answers)
    review_of = {f"{r.item} {part}": r.review or r.item for r in reviews for part, _, _ in r.parts}
    return {
        "note": NOTE,
        "reviewed": len(reviews),
        "corrected": corrected,
        "confirmed": len(reviews) - corrected,
        "fields": [_of_field(field, reviews) for field in fields],
        "measures": [_of_scale(scale, triples[scale.name], review_of) for scale in scales],
    }


def _of_field(field: str, reviews: Sequence[Review]) -> dict[str, Any]:
    same = [review.same[field] for review in reviews if field in review.same]
    return {"field": field, "reviewed": len(same), "corrected": same.count(False)}


def _of_scale(scale: Scale, triples: Sequence[tuple[str, str, str]], review_of: Mapping[str, str]) -> dict[str, Any]:
    ratings = Ratings.from_triples(triples, scale.categories, raters=(SHOWN, CORRECTED))
    # If no suggested or no given value is on the scale, there are fewer than two raters.
    table = joint_table(ratings, 0, 1) if ratings.n_raters == 2 else np.zeros((ratings.q, ratings.q))
    weights = weight_matrix(scale.weights, ratings.numeric)
    kappa = cohen_kappa(table, weights)
    if kappa.value is not None and not former.is_on():
        kappa = kappa.with_reviews(cohen_over_reviews(kappa, 0, 1, weights, Clusters.of(ratings, review_of), 0.95))
    interval = kappa.interval_json()
    interval.pop("reviews", None)
    return {
        "name": scale.name,
        "n": int(table.sum()),
        "same": int(table.trace()),
        "kappa": kappa.value,
        **interval,
        "method": kappa.method,
        "undefined": kappa.undefined,
    }
