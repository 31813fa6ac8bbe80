"""Bases of the task kinds whose units are propositions, reviews or target sentences, with their filters."""

from collections.abc import Callable, Iterable, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.clusters.gold import current_screenings
from api.parameters import Parameter, Takes
from projects.kinds import Filter, Kind
from projects.models import Project, Unit

from ..clusters.creation import UNIT_TYPES
from ..models import Input, Level, Proposition, Review, Screened, Target


def of_reviews(which: Callable[[Sequence[str]], Q]) -> Filter:
    """Return a filter for units of some reviews. ``which`` returns the condition for a list of PMIDs."""
    return Filter(
        Parameter("review", Takes.TEXT, "Reviews", help="PMIDs, separated by commas or spaces."),
        lambda units, pmids: units.filter(which(pmids.replace(",", " ").split())),
    )


PROPOSITION = "proposition"

PROPOSITION_FILTERS = (
    Filter(Parameter("cluster", Takes.TEXT, "Cluster"), lambda units, key: units.filter(proposition__cluster__key=key)),
    of_reviews(lambda pmids: Q(proposition__cluster__review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the text"),
        lambda units, words: units.filter(proposition__text__icontains=words),
    ),
)


class PropositionKind(Kind):
    """Base of the kinds whose unit is a proposition."""

    unit_types: Sequence[str] = (PROPOSITION,)
    filters: Sequence[Filter] = PROPOSITION_FILTERS

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return propositions in corpus order."""
        units = Unit.objects.filter(project=project, type=PROPOSITION, superseded_by=None)
        return units.order_by("proposition__cluster__position", "context", "position")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Proposition.objects.filter(unit__in=list(units)).values_list("unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Proposition.objects.filter(unit__in=list(units)).values_list("unit", "cluster__review__pmid"))


REVIEW = "review"
#: Abstracts that a round asks about, if it chooses reviews.
BOTH, REVIEWS, STUDIES = "both", "reviews", "studies"


def abstracts_option(name: str) -> Parameter:
    """Return the option of a kind that asks about the abstracts of reviews, of their included studies, or of both."""
    return Parameter(
        name,
        Takes.CHOICE,
        "Abstracts",
        default=BOTH,
        choices=(BOTH, REVIEWS, STUDIES),
        words=("of reviews and their studies", "of reviews", "of their studies"),
        required=True,
    )


def _screened_in(units: QuerySet[Unit], _: bool) -> QuerySet[Unit]:
    return units.filter(Exists(current_screenings().filter(unit=OuterRef("pk"), screening=Screened.INCLUDE)))


REVIEW_FILTERS = (
    Filter(Parameter("topic", Takes.TEXT, "Topic"), lambda units, topic: units.filter(review__topic__iexact=topic)),
    of_reviews(lambda pmids: Q(review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the title or the abstract"),
        lambda units, words: units.filter(Q(review__title__icontains=words) | Q(review__abstract__icontains=words)),
    ),
)
#: For kinds that follow screening.
SCREENED_IN = Filter(Parameter("included", Takes.SWITCH, "Only reviews that screening included"), _screened_in)


class ReviewKind(Kind):
    """Base of the kinds whose unit is a review."""

    unit_types: Sequence[str] = (REVIEW,)
    filters: Sequence[Filter] = REVIEW_FILTERS

    def units(self, project: Project) -> QuerySet[Unit]:
        units = Unit.objects.filter(project=project, type=REVIEW, superseded_by=None, review__isnull=False)
        return units.order_by("review__pk")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the titles. A review without a title is named by its PMID."""
        rows = Review.objects.filter(unit__in=list(units)).values_list("unit", "title", "pmid")
        return {unit: title or f"Review {pmid}" for unit, title, pmid in rows}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Review.objects.filter(unit__in=list(units)).values_list("unit", "pmid"))


SENTENCE = UNIT_TYPES[Level.SENTENCE]

SENTENCE_FILTERS = (
    of_reviews(lambda pmids: Q(target__review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the sentence"),
        lambda units, words: units.filter(target__text__icontains=words),
    ),
)
#: For kinds that follow the evidence.
SUPPORTED = Filter(
    Parameter("supported", Takes.SWITCH, "Only sentences that studies support"),
    lambda units, _: units.filter(Exists(Input.objects.current().filter(target__unit=OuterRef("pk")))),
)


class TargetSentenceKind(Kind):
    """Base of the kinds that choose target sentences."""

    unit_types: Sequence[str] = (SENTENCE,)
    filters: Sequence[Filter] = SENTENCE_FILTERS

    def units(self, project: Project) -> QuerySet[Unit]:
        units = Unit.objects.filter(project=project, type=SENTENCE, superseded_by=None, target__isnull=False)
        return units.order_by("target__position", "pk")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Target.objects.filter(unit__in=list(units)).values_list("unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Target.objects.filter(unit__in=list(units)).values_list("unit", "review__pmid"))
