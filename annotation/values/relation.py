"""The discourse relation that the polarities of a cluster's inputs suggest."""

from collections.abc import Sequence

from ..models import Relation


def suggested(polarities: Sequence[str]) -> str:
    """Agreement when all input polarities are equal (``n/a`` counts as one of its own), else contradiction.

    Holds for 379 of M3's 381 clusters; a suggestion, never written over a stored value.
    """
    return str(Relation.AGREEMENT if len(set(polarities)) <= 1 else Relation.CONTRADICTION)
