"""Agreement on one value of the scale: specific agreement, and the value against all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from measures.agreement.basis import Basis, prepare
from measures.agreement.clusters import Clusters, over_reviews
from measures.agreement.coefficients import fleiss, gwet_ac
from measures.agreement.ratings import Label, Ratings
from measures.agreement.results import NOT_ENOUGH_RATINGS, Coefficient

NEVER_USED = "never used"


@dataclass(frozen=True, slots=True)
class CategoryAgreement:
    """One value of the scale.

    ``specific``: the probability that a second rater says the same, given that one said it (Cicchetti and Feinstein
    1990; over several raters Fleiss 1981): sum r_k (r_k - 1) / sum r_k (r - 1). None when ``undefined`` says why.
    ``n_ratings``, ``n_items``: ratings with this value, items that have one. ``ac1``, ``fleiss``: one against rest.
    """

    label: Label
    n_ratings: int
    n_items: int
    specific: float | None
    undefined: str | None
    ac1: Coefficient
    fleiss: Coefficient

    def as_json(self) -> dict[str, object]:
        return {
            "label": self.label,
            "n": self.n_ratings,
            "units": self.n_items,
            "specific": self.specific,
            "undefined": self.undefined,
            "one_vs_rest": {"ac1": _short(self.ac1), "fleiss": _short(self.fleiss)},
        }


def category_agreement(
    ratings: Ratings, level: float = 0.95, clusters: Clusters | None = None
) -> tuple[CategoryAgreement, ...]:
    """Every value of the scale, in its order."""
    table = ratings.table
    counts, times = table.counts, table.multiplicity
    size = counts.sum(axis=1)
    results = []
    for k, label in enumerate(ratings.scale):
        mine = counts[:, k]
        used = int(times @ mine)
        possible = float(times @ (mine * (size - 1)))
        same = float(times @ (mine * (mine - 1)))
        why = None if possible else NOT_ENOUGH_RATINGS if used else NEVER_USED
        rest = one_against_rest(ratings, k, level)
        found = {"ac1": gwet_ac(rest), "fleiss": fleiss(rest)}
        over = over_reviews(rest, found, clusters.again(rest.ratings)) if clusters else {}
        results.append(
            CategoryAgreement(
                label, used, int(times[mine > 0].sum()), same / possible if possible else None, why,
                **{name: each.with_reviews(over.get(name)) for name, each in found.items()},
            )
        )  # fmt: skip
    return tuple(results)


def one_against_rest(ratings: Ratings, k: int, level: float = 0.95) -> Basis:
    """The same ratings on the scale (value k, any other)."""
    codes = np.where(ratings.codes < 0, -1, (ratings.codes != k).astype(np.int8)).astype(np.int8)
    two = Ratings.from_codes(codes, ["this", "other"], raters=ratings.raters)
    return prepare(two, "identity", level)


def _short(result: Coefficient) -> dict[str, object]:
    if result.value is None:
        return {"value": None, "undefined": result.undefined}
    return {
        "value": result.value, "se": result.se, "ci": list(result.ci) if result.ci else None,
        "reviews": result.reviews.as_json() if result.reviews else None,
    }  # fmt: skip
