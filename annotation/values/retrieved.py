"""The reviews that came from PubMed, and how far the data set is that is made of them."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from projects.models import Assignment, Decision, Project

from ..models import (
    AbstractReading,
    Cluster,
    EvidencePair,
    Input,
    Level,
    RecordStatus,
    Review,
    Screened,
    Search,
    Study,
    Target,
)
from .evidence import count_dropped
from .in_force import screenings_in_force

#: Reviews that came from PubMed, by a search or from a file; others were brought in whole.
RETRIEVED = ~Q(topic="") | ~Q(record=RecordStatus.NOT_READ)


@dataclass(frozen=True)
class Far:
    """How many reviews were ``retrieved``, of them ``screened``, ``included``, ``listed``: those whose included studies
    are decided, and ``read``: those whose sentences that bear evidence are. ``to_screen``, ``to_list``, ``to_read``:
    those that no round has asked for it yet, the latter two of the included ones. ``studies`` of any review, and of
    them ``unread``: known by their ids alone, and ``abstracts``: those whose abstract is known.

    ``targets``: sentences to be split into tuples; ``supported``: those with an input; ``dropped``: those that no study
    supports, though all of it was decided. ``to_map``: those without an input that are in no round of evidence yet;
    ``to_split``: those in no round of tuples yet, of the supported ones once evidence was mapped.
    """

    searching: bool
    retrieved: int
    screened: int
    included: int
    listed: int
    read: int
    to_screen: int
    to_list: int
    to_read: int
    studies: int
    unread: int
    abstracts: int
    targets: int
    supported: int
    dropped: int
    to_map: int
    to_split: int


def of_data_set(project: Project) -> QuerySet[Review]:
    """The included reviews; all of a project in which nothing was screened."""
    reviews = Review.objects.filter(project=project)
    decided = screenings_in_force().filter(unit__review__project=project)
    if not decided.exists():
        return reviews
    return reviews.filter(Exists(decided.filter(unit=OuterRef("unit"), screening=Screened.INCLUDE)))


def _unasked(kind: str) -> Q:
    """Whether no round has asked people this of the review."""
    return ~Q(Exists(Assignment.objects.asked_as(kind).filter(unit=OuterRef("unit"))))


def how_far(project: Project) -> Far | None:
    """None for a project whose corpus came whole. Six queries at most, one there."""
    # Those of a review's studies retrieve no reviews.
    searches = Search.objects.filter(project=project).exclude(query="")
    searching = searches.filter(state__in=(Search.State.WAITING, Search.State.RUNNING)).exists()
    decided = screenings_in_force().filter(unit=OuterRef("unit"))
    read = Decision.objects.filter(unit=OuterRef("unit"), field=AbstractReading.Task.EVIDENCE).in_force()
    listed = Decision.objects.filter(unit=OuterRef("unit"), kind="studies").in_force()
    included = Exists(decided.filter(screening=Screened.INCLUDE))
    reviews = Review.objects.filter(RETRIEVED, project=project).aggregate(
        n=Count("pk"),
        screened=Count("pk", filter=Exists(decided)),
        included=Count("pk", filter=included),
        listed=Count("pk", filter=Exists(listed)),
        read=Count("pk", filter=Exists(read)),
        to_screen=Count("pk", filter=~Exists(decided) & _unasked("screen")),
        to_list=Count("pk", filter=included & ~Exists(listed) & _unasked("studies")),
        to_read=Count("pk", filter=included & ~Exists(read) & _unasked("sentences")),
    )
    if not reviews["n"] and not searching and not searches.exists():
        return None
    sentences = Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by()
    supported = Q(Exists(Input.objects.current().filter(target=OuterRef("pk"))))
    paired = Exists(EvidencePair.objects.filter(target=OuterRef("pk")))
    split = Exists(Decision.objects.filter(unit=OuterRef("unit"), kind="pico").in_force())
    # Tuples are written on the curate page too.
    has_tuples = Exists(Cluster.objects.current().filter(sentence=OuterRef("pk")))
    unsplit = ~Q(split) & ~Q(has_tuples) & _unasked("pico")
    targets = sentences.aggregate(
        n=Count("pk"),
        supported=Count("pk", filter=supported),
        to_map=Count("pk", filter=~supported & ~Q(paired)),
        to_split=Count("pk", filter=unsplit),
        supported_to_split=Count("pk", filter=unsplit & supported),
    )
    dropped = count_dropped(project)
    to_split = targets["supported_to_split" if targets["supported"] or dropped else "to_split"]
    studies = Study.objects.filter(project=project).aggregate(
        n=Count("pk"),
        unread=Count("pk", filter=Q(record=RecordStatus.NOT_READ)),
        abstracts=Count("pk", filter=~Q(abstract="")),
    )
    return Far(
        searching, reviews["n"], reviews["screened"], reviews["included"], reviews["listed"], reviews["read"],
        reviews["to_screen"], reviews["to_list"], reviews["to_read"],
        studies["n"], studies["unread"], studies["abstracts"],
        targets["n"], targets["supported"], dropped, targets["to_map"], to_split,
    )  # fmt: skip
