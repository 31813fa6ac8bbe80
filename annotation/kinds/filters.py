"""Filters of units that several kinds have, each reaching them in its own way."""

from collections.abc import Callable, Sequence

from django.db.models import Q

from api.parameters import Parameter, Takes
from projects.kinds import Filter


def of_reviews(which: Callable[[Sequence[str]], Q]) -> Filter:
    """Units of some reviews; ``which``: those of these PMIDs."""
    return Filter(
        Parameter("review", Takes.TEXT, "Reviews", help="PMIDs, with commas or spaces between them."),
        lambda units, pmids: units.filter(which(pmids.replace(",", " ").split())),
    )
