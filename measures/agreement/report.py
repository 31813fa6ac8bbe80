"""One measure of a round (polarity, modality, a criterion): all that is shown and printed about its agreement."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from measures.agreement.alpha import Metric, krippendorff_alpha, weighted_alpha
from measures.agreement.basis import Basis, prepare
from measures.agreement.bootstrap import bootstrap_intervals
from measures.agreement.categories import CategoryAgreement, category_agreement
from measures.agreement.clusters import METHOD, SHARE_METHOD, Clusters, bootstrap_over_reviews, over_reviews
from measures.agreement.coefficients import (
    all_agree,
    brennan_prediger,
    check_fleiss_not_above_ac1,
    conger,
    fleiss,
    gwet_ac,
    percent_agreement,
)
from measures.agreement.contested import ContestedItem, most_contested
from measures.agreement.pairs import Pair, PairMatrix, all_pairs, pair_matrix, pooled_confusion
from measures.agreement.patterns import FloatArray
from measures.agreement.ratings import Label, Ratings
from measures.agreement.results import NOT_ENOUGH_RATINGS, Coefficient
from measures.agreement.weights import Weights
from measures.clustered import FEW, LEAST


@dataclass(frozen=True, slots=True)
class MeasureReport:
    """The agreement of one measure; ``as_json`` is one element of "measures" in ``agreement --format json``.

    ``coefficients`` holds defined and undefined ones alike, by name. ``missing_share`` is the share of the expected
    ratings that are missing: of items x overlap where the round says how many rate an item, else of items x raters.
    ``reviews`` is None where it is not known which review an item belongs to; ``clusters`` are these where some have
    several items.
    """

    name: str
    scale: tuple[Label, ...]
    weights: str
    metric: Metric
    level: float
    n_items: int
    n_raters: int
    n_ratings: int
    unanimous: tuple[int, int]
    pairwise: float | None
    coefficients: dict[str, Coefficient]
    pairs: tuple[Pair, ...]
    matrix: PairMatrix
    pooled: FloatArray
    categories: tuple[CategoryAgreement, ...]
    contested: tuple[ContestedItem, ...]
    missing_share: float | None
    reviews: int | None
    clusters: Clusters | None
    warnings: tuple[str, ...]
    bootstrap: int
    seed: int

    @property
    def cite(self) -> Literal["reviews", "units"]:
        """Over what the interval goes that is to be cited: over reviews wherever some have several items."""
        return "reviews" if self.clusters else "units"

    def as_json(self) -> dict[str, object]:
        """Plain values only; items and raters as they were given."""
        undefined = {name: c.undefined for name, c in self.coefficients.items() if c.undefined}
        if self.pairwise is None:
            undefined["pairwise"] = NOT_ENOUGH_RATINGS
        defined: dict[str, object] = {name: c.as_json() for name, c in self.coefficients.items() if not c.undefined}
        defined["cohen_pairs"] = [_pair_json(pair) for pair in self.pairs]
        count, of = self.unanimous
        return {
            "name": self.name,
            "scale": list(self.scale),
            "q": len(self.scale),
            "weights": self.weights,
            "metric": self.metric,
            "level": self.level,
            "units": self.n_items,
            "reviews": self.reviews,
            "cite": self.cite,
            "reviews_method": {"coefficients": METHOD, "percent_agreement": SHARE_METHOD},
            "raters": self.n_raters,
            "ratings": self.n_ratings,
            "missing_share": self.missing_share,
            "all_agree": {"count": count, "of": of},
            "pairwise": self.pairwise,
            "coefficients": defined,
            "undefined": undefined,
            "categories": [category.as_json() for category in self.categories],
            "pairs": self.matrix.as_json(),
            "confusion": {
                "scale": list(self.scale),
                "pooled": _whole(self.pooled),
                "pairs": [{"raters": list(pair.raters), "table": _whole(pair.table)} for pair in self.pairs],
            },
            "contested": [item.as_json() for item in self.contested],
            "bootstrap": {"replicates": self.bootstrap, "seed": self.seed, "draws": self.cite},
            "warnings": list(self.warnings),
        }


def all_coefficients(basis: Basis, metric: Metric = "nominal") -> dict[str, Coefficient]:
    """Percent agreement, AC1 or AC2, Fleiss, Conger, Brennan-Prediger and alpha, with SE and CI, by name.

    With weights other than identity there is also ``alpha_weighted``, irrCAC's. Raises AgreementDataError should an
    unweighted Fleiss exceed AC1.
    """
    found = [percent_agreement(basis), gwet_ac(basis), fleiss(basis), conger(basis), brennan_prediger(basis)]
    found.append(krippendorff_alpha(basis, metric))
    if not basis.identity:
        found.append(weighted_alpha(basis))
    by_name = {result.name: result for result in found}
    if basis.identity:
        check_fleiss_not_above_ac1(by_name["ac1"].value, by_name["fleiss"].value)
    return by_name


def measure_report(
    name: str,
    ratings: Ratings,
    weights: Weights = "identity",
    metric: Metric = "nominal",
    level: float = 0.95,
    bootstrap: int = 2000,
    seed: int = 0,
    *,
    overlap: float | None = None,
    expected_items: int | None = None,
    review_of: Mapping[Any, Hashable] | None = None,
    contested: int = 20,
) -> MeasureReport:
    """The whole agreement report of one measure.

    ``bootstrap``: replicates of the percentile intervals, 0 for none; ``overlap``: how many ratings each item was to
    have; ``expected_items``: how many items there were to rate, those that nobody did included; ``review_of``: the
    review of each item, by which items are alike; ``contested``: how many items to list at most.
    """
    basis = prepare(ratings, weights, level)
    coefficients = all_coefficients(basis, metric)
    reviews = Clusters.of(ratings, review_of) if review_of is not None else None
    clusters = reviews if reviews and reviews.several else None
    warnings = [*ratings.warnings, *_remarks(basis, coefficients)]
    if clusters:
        if clusters.count < FEW:
            warnings.append(few_reviews(clusters.count))
        over = over_reviews(basis, coefficients, clusters, metric)
        coefficients = {name: each.with_reviews(over.get(name)) for name, each in coefficients.items()}
    if bootstrap and not (clusters and clusters.count < LEAST):
        names = [name for name, result in coefficients.items() if result.value is not None and basis.n > 1]
        how: dict[str, Any] = {"replicates": bootstrap, "seed": seed, "metric": metric}
        for key, drawn in (
            bootstrap_over_reviews(basis, names, clusters, **how)
            if clusters
            else bootstrap_intervals(basis, names, **how)
        ).items():
            coefficients[key] = coefficients[key].with_bootstrap(drawn.ci)
            if drawn.undefined_replicates:
                warnings.append(f"{key}: undefined in {drawn.undefined_replicates} of {bootstrap} bootstrap replicates")
    plain = basis if basis.identity else prepare(ratings, "identity", level)
    pairs = all_pairs(ratings, weights, level, clusters)
    return MeasureReport(
        name=name,
        scale=ratings.scale,
        weights=basis.weights_name,
        metric=metric,
        level=level,
        n_items=ratings.n_items,
        n_raters=ratings.n_raters,
        n_ratings=ratings.n_ratings,
        unanimous=all_agree(plain),
        pairwise=plain.pa if plain.n_pairable else None,
        coefficients=coefficients,
        pairs=pairs,
        matrix=pair_matrix(ratings, pairs),
        pooled=pooled_confusion(pairs, ratings.q),
        categories=category_agreement(ratings, level, clusters),
        contested=most_contested(basis, contested),
        missing_share=_missing(ratings, overlap, expected_items),
        reviews=reviews.count if reviews else None,
        clusters=clusters,
        warnings=tuple(warnings),
        bootstrap=bootstrap,
        seed=seed,
    )


def few_reviews(count: int) -> str:
    """What is to be known of intervals over so few reviews."""
    if count < LEAST:
        return f"fewer than {LEAST} reviews: there is no interval to cite, for units of one review are alike"
    more = "; below 20 they may be too narrow" if count < 20 else ""
    return f"fewer than {FEW} reviews ({count}): read intervals with care{more}"


def _missing(ratings: Ratings, overlap: float | None, expected_items: int | None) -> float | None:
    items = ratings.n_items if expected_items is None else expected_items
    expected = items * (ratings.n_raters if overlap is None else overlap)
    return max(0.0, 1 - ratings.n_ratings / expected) if expected else None


def _remarks(basis: Basis, coefficients: dict[str, Coefficient]) -> list[str]:
    remarks = [f"{name}: {flag}" for name, result in coefficients.items() for flag in result.flags]
    single = basis.n - basis.n_pairable
    if single and basis.n_pairable:
        remarks.append(f"items with one rating count in the shares of the values and in n only: {single}")
    return remarks


def _pair_json(pair: Pair) -> dict[str, object]:
    kappa = pair.kappa
    found: dict[str, object] = {"raters": list(pair.raters), "units": pair.n, "value": kappa.value}
    if kappa.undefined:
        found["undefined"] = kappa.undefined
    found |= {"se": kappa.se, "ci": list(kappa.ci) if kappa.ci else None, "method": kappa.method}
    found["reviews"] = kappa.reviews.as_json() if kappa.reviews else None
    found["percent"] = pair.percent
    return found


def _whole(table: FloatArray) -> Sequence[Sequence[int]]:
    return [[int(v) for v in row] for row in np.rint(table)]
