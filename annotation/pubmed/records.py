"""Reviews from PubMed, and the progress of the data set that is made of them."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.clusters.gold import current_screenings
from annotation.evidence.current import count_dropped
from annotation.models import (
    RETRIEVED,
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
from projects.models import Assignment, Decision, Project


@dataclass(frozen=True)
class RetrievalProgress:
    """Progress of a data set made from PubMed.

    Reviews: ``retrieved``; of them ``screened`` and ``included``. ``listed`` have a decided list of included studies,
    and ``read`` a decided selection of evidence-bearing sentences. ``to_screen``, ``to_list`` and ``to_read`` are in no
    round for that step yet; the latter two count included reviews.

    Studies of all reviews: ``studies``; of them ``unread`` are known only by their id, and ``abstracts`` have an
    abstract.

    Target sentences: ``targets``; of them ``supported`` have an input. ``dropped`` are supported by no study although
    all their pairs are decided. ``to_map`` have no input and are in no round of evidence. ``to_split`` are in no round
    of PICO tuples yet; once evidence was mapped, only supported ones count.
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


def data_set_reviews(project: Project) -> QuerySet[Review]:
    """Return the included reviews, or all reviews if the project has no screening decision."""
    reviews = Review.objects.filter(project=project)
    decided = current_screenings().filter(unit__review__project=project)
    if not decided.exists():
        return reviews
    return reviews.filter(Exists(decided.filter(unit=OuterRef("unit"), screening=Screened.INCLUDE)))


def _not_in_round(kind: str) -> Q:
    """Return a condition: no round has asked people this about the review."""
    return ~Q(Exists(Assignment.objects.asked_as(kind).filter(unit=OuterRef("unit"))))


def retrieval_progress(project: Project) -> RetrievalProgress | None:
    """Return the progress; None for a project whose corpus was imported completely.

    At most six queries, one in that case.
    """
    # Searches for the studies of a review do not retrieve reviews.
    searches = Search.objects.filter(project=project).exclude(query="")
    searching = searches.filter(state__in=(Search.State.WAITING, Search.State.RUNNING)).exists()
    decided = current_screenings().filter(unit=OuterRef("unit"))
    read = Decision.objects.filter(unit=OuterRef("unit"), field=AbstractReading.Task.EVIDENCE).current()
    listed = Decision.objects.filter(unit=OuterRef("unit"), kind="studies").current()
    included = Exists(decided.filter(screening=Screened.INCLUDE))
    reviews = Review.objects.filter(RETRIEVED, project=project).aggregate(
        n=Count("pk"),
        screened=Count("pk", filter=Exists(decided)),
        included=Count("pk", filter=included),
        listed=Count("pk", filter=Exists(listed)),
        read=Count("pk", filter=Exists(read)),
        to_screen=Count("pk", filter=~Exists(decided) & _not_in_round("screen")),
        to_list=Count("pk", filter=included & ~Exists(listed) & _not_in_round("studies")),
        to_read=Count("pk", filter=included & ~Exists(read) & _not_in_round("sentences")),
    )
    if not reviews["n"] and not searching and not searches.exists():
        return None
    sentences = Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by()
    supported = Q(Exists(Input.objects.current().filter(target=OuterRef("pk"))))
    paired = Exists(EvidencePair.objects.filter(target=OuterRef("pk")))
    split = Exists(Decision.objects.filter(unit=OuterRef("unit"), kind="pico").current())
    # Tuples are also written on the curation page.
    has_tuples = Exists(Cluster.objects.current().filter(sentence=OuterRef("pk")))
    unsplit = ~Q(split) & ~Q(has_tuples) & _not_in_round("pico")
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
    return RetrievalProgress(
        searching,
        reviews["n"],
        reviews["screened"],
        reviews["included"],
        reviews["listed"],
        reviews["read"],
        reviews["to_screen"],
        reviews["to_list"],
        reviews["to_read"],
        studies["n"],
        studies["unread"],
        studies["abstracts"],
        targets["n"],
        targets["supported"],
        dropped,
        targets["to_map"],
        to_split,
    )


def by_topic(project: Project) -> list[tuple[str, list[int]]]:
    """Return (topic, counts) of the retrieved reviews, sorted by topic; reviews without a topic come last.

    Counts: retrieved, included, excluded, undecided, without an abstract, retracted.
    """
    decided = current_screenings().filter(unit=OuterRef("unit"))
    counted = (
        Review.objects.filter(RETRIEVED, project=project)
        .order_by()
        .values("topic")
        .annotate(
            n=Count("pk"),
            included=Count("pk", filter=Exists(decided.filter(screening=Screened.INCLUDE))),
            excluded=Count("pk", filter=Exists(decided.exclude(screening=Screened.INCLUDE))),
            bare=Count("pk", filter=Q(record=RecordStatus.NO_ABSTRACT)),
            gone=Count("pk", filter=Q(is_retracted=True)),
        )
    )
    rows = [
        (
            row["topic"],
            [
                row["n"],
                row["included"],
                row["excluded"],
                row["n"] - row["included"] - row["excluded"],
                row["bare"],
                row["gone"],
            ],
        )
        for row in counted
    ]
    return sorted(rows, key=lambda row: (not row[0], row[0].casefold()))
