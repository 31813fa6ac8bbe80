"""The reviews that came from PubMed, and how far the data set is that is made of them."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from projects.models import Decision, Project

from ..models import AbstractReading, Input, Level, RecordStatus, Review, Screened, Search, Target
from .in_force import screenings_in_force

#: Reviews that came from PubMed, by a search or from a file; others were brought in whole.
RETRIEVED = ~Q(topic="") | ~Q(record=RecordStatus.NOT_READ)


@dataclass(frozen=True)
class Far:
    """How many reviews were ``retrieved``, of them ``screened``, ``included``, and ``read``: those whose sentences that
    bear evidence are decided. ``targets``: sentences to be split into tuples; ``supported``: those with an input."""

    searching: bool
    retrieved: int
    screened: int
    included: int
    read: int
    targets: int
    supported: int


def how_far(project: Project) -> Far | None:
    """None for a project whose corpus came whole. Four queries at most, one there."""
    # Those of a review's studies retrieve no reviews.
    searches = Search.objects.filter(project=project, review=None)
    searching = searches.filter(state__in=(Search.State.WAITING, Search.State.RUNNING)).exists()
    decided = screenings_in_force().filter(unit=OuterRef("unit"))
    read = Decision.objects.filter(unit=OuterRef("unit"), field=AbstractReading.Task.EVIDENCE).in_force()
    reviews = Review.objects.filter(RETRIEVED, project=project).aggregate(
        n=Count("pk"),
        screened=Count("pk", filter=Exists(decided)),
        included=Count("pk", filter=Exists(decided.filter(screening=Screened.INCLUDE))),
        read=Count("pk", filter=Exists(read)),
    )
    if not reviews["n"] and not searching and not searches.exists():
        return None
    sentences = Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by()
    targets = sentences.aggregate(
        n=Count("pk"), supported=Count("pk", filter=Exists(Input.objects.filter(target=OuterRef("pk"))))
    )
    return Far(
        searching, reviews["n"], reviews["screened"], reviews["included"], reviews["read"], targets["n"],
        targets["supported"],
    )  # fmt: skip
