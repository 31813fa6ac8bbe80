"""What the kinds that are asked of a review share: which reviews, by what they are chosen, and how lists name them."""

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from api.parameters import Parameter, Takes
from projects.kinds import Filter, Kind
from projects.models import Project, Unit

from ..models import Review, Screened
from ..values.in_force import screenings_in_force
from .filters import of_reviews

REVIEW = "review"


def _screened_in(units: QuerySet[Unit], _: bool) -> QuerySet[Unit]:
    return units.filter(Exists(screenings_in_force().filter(unit=OuterRef("pk"), screening=Screened.INCLUDE)))


FILTERS = (
    Filter(Parameter("topic", Takes.TEXT, "Topic"), lambda units, topic: units.filter(review__topic__iexact=topic)),
    of_reviews(lambda pmids: Q(review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the title or the abstract"),
        lambda units, words: units.filter(Q(review__title__icontains=words) | Q(review__abstract__icontains=words)),
    ),
)
#: For what comes after screening.
SCREENED_IN = Filter(Parameter("included", Takes.SWITCH, "Only reviews that screening included"), _screened_in)


class ReviewKind(Kind):
    """What the kinds have in common whose unit is a review."""

    unit_types: Sequence[str] = (REVIEW,)
    filters: Sequence[Filter] = FILTERS

    def units(self, project: Project) -> QuerySet[Unit]:
        found = Unit.objects.filter(project=project, type=REVIEW, superseded_by=None, review__isnull=False)
        return found.order_by("review__pk")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """The titles; a review without one goes by its PMID."""
        rows = Review.objects.filter(unit__in=list(units)).values_list("unit", "title", "pmid")
        return {unit: title or f"Review {pmid}" for unit, title, pmid in rows}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Review.objects.filter(unit__in=list(units)).values_list("unit", "pmid"))
