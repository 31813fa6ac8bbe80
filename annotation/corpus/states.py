"""Whether people have decided anything about a review of MS^2 or MSLR, or a round asks about it."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from projects.models import Assignment, Decision, Import, ImportState, Origin, Project, Round

from ..formats.ms2.rows import FORMAT as MS2
from ..formats.mslr.rows import FORMAT as MSLR
from ..models import AbstractUnit, EffectUnit, MachineReading, Review

DECIDED, ASKED, MACHINE = "decided", "asked", "machine"
TITLES: Mapping[str, str] = {MACHINE: "Machine only", ASKED: "In a round", DECIDED: "Decided by people"}
#: Origins of decisions that adopt no value of a person.
WITHOUT_PEOPLE = (Origin.IMPORTED, Origin.MACHINE, Origin.CONTESTED, Origin.REOPENED)


def has_read_reviews(project: Project) -> bool:
    """Return whether reviews come from a data set in which models have read the texts."""
    return read_imports(project).exists()


def read_imports(project: Project) -> QuerySet[Import]:
    """Return the imports of MS^2 and MSLR."""
    arrived = Import.objects.filter(project=project, state=ImportState.ARRIVED)
    return arrived.filter(format__in=(MS2, MSLR))


def by_people(decisions: QuerySet[Decision]) -> QuerySet[Decision]:
    """Exclude decisions that adopt no value of a person."""
    return decisions.exclude(origin__in=WITHOUT_PEOPLE)


def is_in(state: str, project: Project) -> Q:
    """Return a condition for reviews. Each review of MS^2 has one state at most."""
    decided = _of_units(by_people(Decision.objects.filter(unit__project=project)).values("unit"))
    if state == DECIDED:
        return decided
    open_rounds = Round.objects.filter(project=project, status=Round.Status.OPEN).opened_by_people().values("pk")
    asked = _of_units(Assignment.objects.filter(round__in=open_rounds).values("unit")) & ~decided
    if state == ASKED:
        return asked
    read = Q(pk__in=MachineReading.objects.filter(review__project=project).values("review"))
    return read & ~decided & ~asked


def _of_units(units: QuerySet[Any]) -> Q:
    abstracts = AbstractUnit.objects.filter(review__isnull=False, unit__in=units).values("review")
    effects = EffectUnit.objects.filter(unit__in=units).values("pair__review")
    return Q(unit__in=units) | Q(pk__in=abstracts) | Q(pk__in=effects)


def states_of(reviews: Collection[Review], project: Project) -> dict[int, str]:
    """Return the state of each review that has one. One query for each state."""
    rows = Review.objects.filter(pk__in=[review.pk for review in reviews]).order_by()
    return {pk: state for state in TITLES for pk in rows.filter(is_in(state, project)).values_list("pk", flat=True)}


def state_of(review: Review) -> str:
    return states_of([review], review.project).get(review.pk, "")
