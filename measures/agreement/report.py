"""The agreement report of one measure of a round (polarity, modality, or a criterion)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from measures import former
from measures.agreement.alpha import Metric, krippendorff_alpha, weighted_alpha
from measures.agreement.basis import Basis, prepare
from measures.agreement.bootstrap import bootstrap_intervals
from measures.agreement.clusters import (
    FORMER_METHOD,
    FORMER_SHARE_METHOD,
    Clusters,
    bootstrap_over_reviews,
    over_reviews,
)
from measures.agreement.coefficients import (
    all_agree,
    brennan_prediger,
    check_fleiss_not_above_ac1,
    conger,
    fleiss,
    gwet_ac,
    percent_agreement,
)
from measures.agreement.pairs import Pair, PairMatrix, all_pairs, pair_matrix, pooled_confusion
from measures.agreement.ratings import Label, Ratings
from measures.agreement.weights import Weights
from measures.clustered import ENOUGH_REVIEWS, FEW, LEAST, METHOD

from .basis import NOT_ENOUGH_RATINGS, Coefficient
from .pairs import CategoryAgreement, ContestedItem, category_agreement, most_contested
from .ratings import FloatArray


@dataclass(frozen=True, slots=True)
class MeasureReport:
    """The agreement of one measure. `as_json` is one element of "measures" in ``agreement --format json``.

    ``coefficients`` contains defined and undefined ones, by name. ``missing_share`` is the share of expected ratings
    that are missing. It relates to items x overlap if the overlap is known, else to items x raters. ``reviews`` is None
    if the items' reviews are unknown. ``clusters`` are the reviews if one has several items. ``by`` are the clusters
    that intervals use.
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
    by: Clusters | None
    warnings: tuple[str, ...]
    bootstrap: int
    seed: int

    @property
    def cite(self) -> Literal["reviews", "units"]:
        """Whether to cite the interval over reviews or over units. It is over reviews if one has several items."""
        return "reviews" if self.clusters else "units"

    def as_json(self) -> dict[str, object]:
        """Return plain values. Items and raters are unchanged."""
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
            **self._interval_method(),
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
                "pooled": _as_integers(self.pooled),
                "pairs": [{"raters": list(pair.raters), "table": _as_integers(pair.table)} for pair in self.pairs],
            },
            "contested": [item.as_json() for item in self.contested],
            "warnings": list(self.warnings),
        }

    def _interval_method(self) -> dict[str, object]:
        if not former.is_on():
            return {"interval_method": METHOD}
        return {
            "reviews_method": {"coefficients": FORMER_METHOD, "percent_agreement": FORMER_SHARE_METHOD},
            "bootstrap": {"replicates": self.bootstrap, "seed": self.seed, "draws": self.cite},
        }


def all_coefficients(basis: Basis, metric: Metric = "nominal") -> dict[str, Coefficient]:
    """Return percent agreement, AC1 or AC2, Fleiss, Conger, Brennan-Prediger and alpha, by name.

    Weights other than identity add ``alpha_weighted`` of irrCAC. Raise `AgreementDataError` if an unweighted Fleiss
    kappa exceeds AC1.
    """
    coefficients = [percent_agreement(basis), gwet_ac(basis), fleiss(basis), conger(basis), brennan_prediger(basis)]
    coefficients.append(krippendorff_alpha(basis, metric))
    if not basis.identity:
        coefficients.append(weighted_alpha(basis))
    by_name = {result.name: result for result in coefficients}
    if basis.identity:
        check_fleiss_not_above_ac1(by_name["ac1"].value, by_name["fleiss"].value)
    return by_name


def measure_report(
    name: str,
    ratings: Ratings,
    weights: Weights = "identity",
    metric: Metric = "nominal",
    level: float = 0.95,
    bootstrap: int = 0,
    seed: int = 0,
    *,
    overlap: float | None = None,
    expected_items: int | None = None,
    review_of: Mapping[Any, Hashable] | None = None,
    contested: int = 20,
) -> MeasureReport:
    """Return the whole agreement report of one measure.

    ``bootstrap`` is the number of replicates for the former rule's percentile intervals. ``overlap`` is the intended
    number of ratings per item. ``expected_items`` is the number of items to rate, including unrated ones. ``review_of``
    maps items to reviews; without it, each item is its own review. ``contested`` limits the number of listed items.
    """
    basis = prepare(ratings, weights, level)
    coefficients = all_coefficients(basis, metric)
    reviews = Clusters.of(ratings, review_of) if review_of is not None else None
    clusters = reviews if reviews and reviews.several else None
    by = clusters if former.is_on() else reviews or Clusters.of_items(ratings)
    warnings = [*ratings.warnings, *_flag_warnings(basis, coefficients)]
    if by:
        over = over_reviews(basis, coefficients, by, metric)
        coefficients = {name: coefficient.with_reviews(over.get(name)) for name, coefficient in coefficients.items()}
    if former.is_on():
        coefficients, former_warnings = _with_former_intervals(basis, coefficients, clusters, bootstrap, seed, metric)
        warnings += former_warnings
    elif reviews and ENOUGH_REVIEWS <= reviews.count < FEW:
        warnings.append(f"fewer than {FEW} reviews ({reviews.count}): read intervals with care")
    plain = basis if basis.identity else prepare(ratings, "identity", level)
    pairs = all_pairs(ratings, weights, level, by)
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
        categories=category_agreement(ratings, level, by),
        contested=most_contested(basis, contested),
        missing_share=_missing_share(ratings, overlap, expected_items),
        reviews=reviews.count if reviews else None,
        clusters=clusters,
        by=by,
        warnings=tuple(warnings),
        bootstrap=bootstrap,
        seed=seed,
    )


def _with_former_intervals(
    basis: Basis,
    coefficients: dict[str, Coefficient],
    clusters: Clusters | None,
    bootstrap: int,
    seed: int,
    metric: Metric,
) -> tuple[dict[str, Coefficient], list[str]]:
    """Return bootstrap intervals and warnings by the former rule."""
    warnings = []
    if clusters and clusters.count < LEAST:
        warning = f"fewer than {LEAST} reviews: there is no interval to cite, for units of one review are alike"
        return coefficients, [warning]
    if clusters and clusters.count < FEW:
        more = "; below 20 they may be too narrow" if clusters.count < 20 else ""
        warnings.append(f"fewer than {FEW} reviews ({clusters.count}): read intervals with care{more}")
    if bootstrap:
        names = [name for name, result in coefficients.items() if result.value is not None and basis.n > 1]
        options: dict[str, Any] = {"replicates": bootstrap, "seed": seed, "metric": metric}
        for key, interval in (
            bootstrap_over_reviews(basis, names, clusters, **options)
            if clusters
            else bootstrap_intervals(basis, names, **options)
        ).items():
            coefficients[key] = coefficients[key].with_bootstrap(interval.ci)
            if interval.undefined_replicates:
                warnings.append(
                    f"{key}: undefined in {interval.undefined_replicates} of {bootstrap} bootstrap replicates"
                )
    return coefficients, warnings


def _missing_share(ratings: Ratings, overlap: float | None, expected_items: int | None) -> float | None:
    items = ratings.n_items if expected_items is None else expected_items
    expected = items * (ratings.n_raters if overlap is None else overlap)
    return max(0.0, 1 - ratings.n_ratings / expected) if expected else None


def _flag_warnings(basis: Basis, coefficients: dict[str, Coefficient]) -> list[str]:
    # Flags concern the interval over items, which only the former rule prints.
    flags = [f"{name}: {flag}" for name, result in coefficients.items() for flag in result.flags]
    remarks = flags if former.is_on() else []
    single = basis.n - basis.n_pairable
    if single and basis.n_pairable:
        remarks.append(f"items with one rating count in the shares of the values and in n only: {single}")
    return remarks


def _pair_json(pair: Pair) -> dict[str, object]:
    kappa = pair.kappa
    result: dict[str, object] = {"raters": list(pair.raters), "units": pair.n, "value": kappa.value}
    if kappa.undefined:
        result["undefined"] = kappa.undefined
    return result | kappa.interval_json() | {"method": kappa.method, "percent": pair.percent}


def _as_integers(table: FloatArray) -> Sequence[Sequence[int]]:
    return [[int(v) for v in row] for row in np.rint(table)]
