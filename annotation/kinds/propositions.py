"""What the kinds that are asked of a proposition share: which propositions, and how they are named and narrowed."""

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from api.parameters import Parameter, Takes
from projects.kinds import Filter, Kind
from projects.models import Project, Unit

from ..models import Proposition
from .filters import of_reviews

PROPOSITION = "proposition"

FILTERS = (
    Filter(
        Parameter("cluster", Takes.TEXT, "Cluster"),
        lambda units, key: units.filter(proposition__cluster__key=key),
    ),
    of_reviews(lambda pmids: Q(proposition__cluster__review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the text"),
        lambda units, words: units.filter(proposition__text__icontains=words),
    ),
)


class PropositionKind(Kind):
    """What the kinds have in common whose unit is a proposition."""

    unit_types: Sequence[str] = (PROPOSITION,)
    filters: Sequence[Filter] = FILTERS

    def units(self, project: Project) -> QuerySet[Unit]:
        """Propositions in corpus order."""
        units = Unit.objects.filter(project=project, type=PROPOSITION, superseded_by=None)
        return units.order_by("proposition__cluster__position", "context", "position")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Proposition.objects.filter(unit__in=list(units)).values_list("unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Proposition.objects.filter(unit__in=list(units)).values_list("unit", "cluster__review__pmid"))
