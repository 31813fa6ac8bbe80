"""The reviews that came from PubMed, and how far the data set is that is made of them."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from projects.models import Decision, Project

from ..models import AbstractReading, Input, Level, RecordStatus, Review, Screened, Search, Study, Target
from .evidence import count_dropped
from .in_force import screenings_in_force

#: Reviews that came from PubMed, by a search or from a file; others were brought in whole.
RETRIEVED = ~Q(topic="") | ~Q(record=RecordStatus.NOT_READ)


@dataclass(frozen=True)
class Far:
    """How many reviews were ``retrieved``, of them ``screened``, ``included``, ``listed``: those whose included studies
    are decided, and ``read``: those whose sentences that bear evidence are. ``studies`` of any review, and of them
    ``unread``: known by their ids alone, and ``abstracts``: those whose abstract is known. ``targets``: sentences to be
    split into tuples; ``supported``: those with an input; ``dropped``: those that no study supports, though all of it
    was decided.
    """

    searching: bool
    retrieved: int
    screened: int
    included: int
    listed: int
    read: int
    studies: int
    unread: int
    abstracts: int
    targets: int
    supported: int
    dropped: int


def how_far(project: Project) -> Far | None:
    """None for a project whose corpus came whole. Six queries at most, one there."""
    # Those of a review's studies retrieve no reviews.
    searches = Search.objects.filter(project=project).exclude(query="")
    searching = searches.filter(state__in=(Search.State.WAITING, Search.State.RUNNING)).exists()
    decided = screenings_in_force().filter(unit=OuterRef("unit"))
    read = Decision.objects.filter(unit=OuterRef("unit"), field=AbstractReading.Task.EVIDENCE).in_force()
    listed = Decision.objects.filter(unit=OuterRef("unit"), kind="studies").in_force()
    reviews = Review.objects.filter(RETRIEVED, project=project).aggregate(
        n=Count("pk"),
        screened=Count("pk", filter=Exists(decided)),
        included=Count("pk", filter=Exists(decided.filter(screening=Screened.INCLUDE))),
        listed=Count("pk", filter=Exists(listed)),
        read=Count("pk", filter=Exists(read)),
    )
    if not reviews["n"] and not searching and not searches.exists():
        return None
    sentences = Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by()
    targets = sentences.aggregate(
        n=Count("pk"), supported=Count("pk", filter=Exists(Input.objects.current().filter(target=OuterRef("pk"))))
    )
    studies = Study.objects.filter(project=project).aggregate(
        n=Count("pk"),
        unread=Count("pk", filter=Q(record=RecordStatus.NOT_READ)),
        abstracts=Count("pk", filter=~Q(abstract="")),
    )
    return Far(
        searching, reviews["n"], reviews["screened"], reviews["included"], reviews["listed"], reviews["read"],
        studies["n"], studies["unread"], studies["abstracts"], targets["n"], targets["supported"],
        count_dropped(project),
    )  # fmt: skip
