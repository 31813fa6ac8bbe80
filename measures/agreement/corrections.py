"""What review-and-correct comes to: how much of what was shown was corrected, and kappa between shown and corrected.

Whoever corrects sees the value that is in force, and most of what one sees one leaves as it is. So these figures say
how much was changed; they are not agreement between independent raters, and higher than that would be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from measures.agreement.pairs import cohen_kappa, joint_table
from measures.agreement.ratings import Ratings
from measures.agreement.rounds import Scale, coded
from measures.agreement.weights import weight_matrix
from measures.text_agreement import Cells

SHOWN, CORRECTED = "shown", "corrected"
#: Stands wherever these figures do.
NOTE = (
    "This is not independent labelling: people saw the value before they judged it. Do not cite these figures as "
    "inter-annotator agreement."
)


@dataclass(frozen=True, slots=True)
class Review:
    """One answer to a unit of which a value was shown.

    ``same``: by field, whether the answer says what was shown. ``parts``: for each part of the unit that has both, its
    name and the cells shown and given.
    """

    item: str
    same: Mapping[str, bool]
    parts: Sequence[tuple[str, Cells, Cells]] = ()

    @property
    def corrected(self) -> bool:
        """Whether the answer differs from what was shown in any field."""
        return not all(self.same.values())


def corrections(scales: Sequence[Scale], reviews: Sequence[Review]) -> dict[str, Any]:
    """Reviews confirmed and corrected, field by field, and Cohen's kappa between shown and given on each scale.

    Kappa takes the weights that the scale declares, and is of the parts whose two values both lie on the scale: ``n``.
    Raises `RatingsError` for a value outside its scale.
    """
    fields = dict.fromkeys(field for review in reviews for field in review.same)
    corrected = sum(review.corrected for review in reviews)
    said = [
        (f"{review.item} {part}", who, cells)
        for review in reviews
        for part, shown, given in review.parts
        for who, cells in ((SHOWN, shown), (CORRECTED, given))
    ]
    triples = coded(scales, said)
    return {
        "note": NOTE,
        "reviewed": len(reviews),
        "corrected": corrected,
        "confirmed": len(reviews) - corrected,
        "fields": [_of_field(field, reviews) for field in fields],
        "measures": [_of_scale(scale, triples[scale.name]) for scale in scales],
    }


def _of_field(field: str, reviews: Sequence[Review]) -> dict[str, Any]:
    same = [review.same[field] for review in reviews if field in review.same]
    return {"field": field, "reviewed": len(same), "corrected": same.count(False)}


def _of_scale(scale: Scale, triples: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    ratings = Ratings.from_triples(triples, scale.categories, raters=(SHOWN, CORRECTED))
    # Where nothing that was shown, or nothing that was given, lies on the scale there is one rater, or none.
    table = joint_table(ratings, 0, 1) if ratings.n_raters == 2 else np.zeros((ratings.q, ratings.q))
    kappa = cohen_kappa(table, weight_matrix(scale.weights, ratings.numeric))
    return {
        "name": scale.name, "n": int(table.sum()), "same": int(table.trace()), "kappa": kappa.value, "se": kappa.se,
        "ci": list(kappa.ci) if kappa.ci else None, "method": kappa.method, "undefined": kappa.undefined,
    }  # fmt: skip
