"""How a data set came to be, as a flow of counts: what was found, what left and why, and what came of the rest.

(Page et al. 2021, PRISMA 2020: the flow of a review.) Steps that have not begun are left out: nothing is shown as 0
that was never asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, Sum

from projects.models import Project

from ..models import (
    Cluster,
    Dropped,
    EvidenceMark,
    Hit,
    Input,
    Level,
    Proposition,
    RecordStatus,
    Review,
    Screened,
    Search,
    SentenceMark,
    Study,
    Target,
)
from .evidence import count_dropped
from .in_force import readings_in_force, screenings_in_force, study_lists_in_force
from .retrieved import RETRIEVED, of_data_set

#: (words, how many)
Counted = tuple[str, int]


@dataclass(frozen=True)
class Stage:
    """``count`` of what ``words`` says. ``parts`` say what they are made of and add up to it; ``aside`` left here, for
    the reasons given. What is left goes on to the next stage."""

    key: str
    words: str
    count: int
    parts: Sequence[Counted] = ()
    aside_words: str = ""
    aside: Sequence[Counted] = ()

    def __post_init__(self) -> None:
        if self.parts and sum(n for _, n in self.parts) != self.count:
            raise ValueError(f"the parts of {self.key} do not add up to {self.count}")
        if self.onward < 0:
            raise ValueError(f"more leave {self.key} than are there")

    @property
    def onward(self) -> int:
        return self.count - sum(n for _, n in self.aside)


def stages(project: Project) -> list[Stage]:
    """The stages that have begun, in their order. A fixed number of queries."""
    return [*_reviews(project), *_studies(project), *_sentences(project), *_tuples(project)]


def _stage(key: str, words: str, count: int, parts: Sequence[Counted] = (), left: str = "",
           aside: Sequence[Counted] = ()) -> Stage:  # fmt: skip
    """Without parts and reasons that nothing has."""
    gone = tuple((words, n) for words, n in aside if n)
    return Stage(key, words, count, tuple((words, n) for words, n in parts if n), left if gone else "", gone)


def _reviews(project: Project) -> Iterator[Stage]:
    searches = Search.objects.filter(project=project).exclude(query="")
    number = searches.count()
    hits = dict(
        Hit.objects.filter(search__in=searches).order_by().values_list("outcome").annotate(n=Count("pk"))
    )  # fmt: skip
    new = hits.get(Hit.Outcome.NEW, 0)
    if found := sum(hits.values()):
        yield _stage(
            "found", f"Records found by {number} search{'es' if number > 1 else ''} of PubMed", found, (), "Left out",
            (
                ("in the project already", hits.get(Hit.Outcome.KNOWN, 0)),
                ("not in PubMed any more", hits.get(Hit.Outcome.MISSING, 0)),
                ("that could not be taken", hits.get(Hit.Outcome.UNFIT, 0)),
                ("not read yet", hits.get(Hit.Outcome.WAITING, 0)),
            ),
        )  # fmt: skip
    decided = screenings_in_force().filter(unit=OuterRef("unit"))
    rows = Review.objects.filter(RETRIEVED, project=project)
    counted = rows.aggregate(n=Count("pk"), screened=Count("pk", filter=Exists(decided)))
    retrieved, screened = counted["n"], counted["screened"]
    if not retrieved:
        return
    unscreened = (("not screened yet", retrieved - screened),) if screened else ()
    parts = (("from the searches", new), ("from files", retrieved - new)) if found else ()
    yield _stage("retrieved", "Reviews retrieved", retrieved, parts, "To be screened", unscreened)
    if not screened:
        return
    by_reason = dict(
        screenings_in_force().filter(unit__review__in=rows).order_by().values_list("screening").annotate(n=Count("pk"))
    )
    reasons = [(str(reason.label), by_reason.get(reason, 0)) for reason in Screened if reason != Screened.INCLUDE]
    yield _stage("screened", "Reviews screened", screened, (), "Excluded", reasons)
    yield _stage("included", "Reviews included", by_reason.get(Screened.INCLUDE, 0))


def _studies(project: Project) -> Iterator[Stage]:
    reviews = of_data_set(project)
    link = Study.reviews.through.objects.filter(study=OuterRef("pk"), review__in=reviews.values("pk"))
    counted = Study.objects.filter(Exists(link), project=project).aggregate(
        n=Count("pk"),
        read=Count("pk", filter=~Q(abstract="")),
        unread=Count("pk", filter=Q(abstract="", record=RecordStatus.NOT_READ)),
    )
    lists = study_lists_in_force().filter(unit__review__in=reviews)
    elsewhere = lists.aggregate(n=Sum("without_pmid"))["n"] or 0
    if total := counted["n"] + elsewhere:
        bare = counted["n"] - counted["read"] - counted["unread"]
        begun = counted["read"] or bare
        unread = ("record not read yet", counted["unread"] if begun else 0)
        yield _stage(
            "studies", "Studies of these reviews", total, (), "No abstract at hand",
            (("not in PubMed (by review)", elsewhere), ("PubMed has no abstract or no record", bare), unread),
        )  # fmt: skip
        if begun:
            yield _stage("abstracts", "Studies with an abstract", counted["read"])


def _sentences(project: Project) -> Iterator[Stage]:
    readings = readings_in_force().filter(unit__review__in=of_data_set(project))
    read = readings.aggregate(n=Count("pk"), dropped=Count("pk", filter=~Q(dropped="")))
    if read["n"]:
        yield _stage(
            "read", "Reviews read for evidence", read["n"], (), "Dropped",
            ((str(Dropped.TOO_MANY_STUDIES.label), read["dropped"]),),
        )  # fmt: skip
    marks = SentenceMark.objects.filter(reading__in=readings.filter(dropped="")).exclude(said=EvidenceMark.NEITHER)
    said = dict(marks.order_by().values_list("said").annotate(n=Count("pk")))
    if said:
        refused = [mark for mark in EvidenceMark if mark not in (EvidenceMark.PICKED, EvidenceMark.NEITHER)]
        reasons = [(str(mark.label), said.get(mark, 0)) for mark in refused]
        yield _stage("sentences", "Sentences that bear evidence", sum(said.values()), (), "Refused", reasons)
    targets = Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by()
    support = Exists(Input.objects.current().filter(target=OuterRef("pk")))
    counted = targets.aggregate(
        n=Count("pk"), once_picked=Count("pk", filter=Q(sentence__isnull=False)), supported=Count("pk", filter=support)
    )
    if not counted["n"]:
        return
    total, supported, unsupported = counted["n"], counted["supported"], count_dropped(project)
    # One that was worked on stays when its sentence or its review is left out: it is no part of what is picked now.
    picked = targets.filter(sentence__in=marks.filter(said=EvidenceMark.PICKED).values("sentence")).count()
    parts = (
        ("picked from abstracts", picked), ("typed or from files", total - counted["once_picked"]),
        ("picked once, of sentences or reviews left out since", counted["once_picked"] - picked),
    )  # fmt: skip
    begun = supported or unsupported
    aside = (("no study supports them", unsupported), ("not decided yet", total - supported - unsupported))
    yield _stage("targets", "Target sentences", total, parts, "Without evidence", aside if begun else ())
    if begun:
        yield _stage("supported", "Target sentences with evidence", supported)


def _tuples(project: Project) -> Iterator[Stage]:
    clusters = Cluster.objects.current().filter(project=project)
    if number := clusters.count():
        yield _stage("tuples", "PICO tuples (clusters)", number)
    rows = Proposition.objects.current().filter(cluster__in=clusters.order_by()).order_by()
    counted = rows.aggregate(n=Count("pk"), targets=Count("pk", filter=Q(position=0)))
    if counted["n"]:
        parts = (("of targets", counted["targets"]), ("of studies", counted["n"] - counted["targets"]))
        yield _stage("propositions", "Propositions", counted["n"], parts)
