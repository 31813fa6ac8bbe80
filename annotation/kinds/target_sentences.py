"""What the kinds that choose target sentences share: which sentences, by what they are chosen, and their names."""

from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from api.parameters import Parameter, Takes
from projects.kinds import Filter, Kind
from projects.models import Project, Unit

from ..corpus.layout import UNIT_TYPES
from ..models import Input, Level, Target
from .filters import of_reviews

SENTENCE = UNIT_TYPES[Level.SENTENCE]

FILTERS = (
    of_reviews(lambda pmids: Q(target__review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the sentence"),
        lambda units, words: units.filter(target__text__icontains=words),
    ),
)
#: For what comes after the evidence was found.
SUPPORTED = Filter(
    Parameter("supported", Takes.SWITCH, "Only sentences that studies support"),
    lambda units, _: units.filter(Exists(Input.objects.current().filter(target__unit=OuterRef("pk")))),
)


class TargetSentenceKind(Kind):
    """What the kinds have in common that choose target sentences."""

    unit_types: Sequence[str] = (SENTENCE,)
    filters: Sequence[Filter] = FILTERS

    def units(self, project: Project) -> QuerySet[Unit]:
        found = Unit.objects.filter(project=project, type=SENTENCE, superseded_by=None, target__isnull=False)
        return found.order_by("target__position", "pk")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Target.objects.filter(unit__in=list(units)).values_list("unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Target.objects.filter(unit__in=list(units)).values_list("unit", "review__pmid"))
