"""The items that raters disagree on most."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from measures.agreement.basis import TINY, Basis
from measures.agreement.ratings import Label


@dataclass(frozen=True, slots=True)
class ContestedItem:
    """``agreement``: the (weighted) share of agreeing pairs of this item; ``ratings``: who said what."""

    item: Hashable
    agreement: float
    ratings: tuple[tuple[Hashable, Label], ...]

    def as_json(self) -> dict[str, object]:
        said = [{"rater": rater, "value": value} for rater, value in self.ratings]
        return {"item": self.item, "agreement": self.agreement, "ratings": said}


def most_contested(basis: Basis, limit: int = 20) -> tuple[ContestedItem, ...]:
    """At most ``limit`` items without full agreement, the least agreement first, equals in the items' own order."""
    ratings = basis.ratings
    doubtful = (basis.pairable > 0) & (basis.agreement < 1 - TINY)
    if limit < 1 or not doubtful.any():
        return ()
    pattern = ratings.table.pattern_of_item
    score = np.where(doubtful, basis.agreement, np.inf)[pattern]
    chosen = np.flatnonzero(np.isfinite(score))
    chosen = chosen[np.argsort(score[chosen], kind="stable")[:limit]]
    return tuple(ContestedItem(ratings.items[i], float(score[i]), _said(basis, int(i))) for i in chosen.tolist())


def _said(basis: Basis, item: int) -> tuple[tuple[Hashable, Label], ...]:
    ratings = basis.ratings
    labels = ((rater, ratings.label_of(g, item)) for g, rater in enumerate(ratings.raters))
    return tuple((rater, label) for rater, label in labels if label is not None)
