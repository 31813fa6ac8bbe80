"""The flow of a data set as counts: records found, exclusions with reasons, and what was created from the rest.

Follows PRISMA 2020 (Page et al. 2021). Stages that have not begun are omitted, so that no count is 0 only because the
stage has not begun.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, Sum

from annotation.clusters.gold import current_readings, current_screenings, current_study_lists
from annotation.evidence.current import count_dropped
from annotation.models import (
    RETRIEVED,
    Cluster,
    Dropped,
    EvidenceMark,
    Hit,
    Inclusion,
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
from annotation.pubmed.records import data_set_reviews
from projects.models import Decision, Project

CONTESTED = "contested, to be decided by a curator"
#: (label, count)
Counted = tuple[str, int]


@dataclass(frozen=True)
class Stage:
    """A stage of the flow.

    ``count`` is the number of objects that ``words`` describes. ``parts`` breaks the count down and adds up to it.
    ``aside`` lists exclusions with reasons. The remaining objects continue to the next stage.
    """

    key: str
    words: str
    count: int
    parts: Sequence[Counted] = ()
    aside_words: str = ""
    aside: Sequence[Counted] = ()

    def __post_init__(self) -> None:
        if self.parts and sum(n for _, n in self.parts) != self.count:
            raise ValueError(f"the parts of stage {self.key} do not add up to its count, {self.count}")
        if self.onward < 0:
            raise ValueError(f"stage {self.key} excludes more than its count, {self.count}")

    @property
    def onward(self) -> int:
        return self.count - sum(n for _, n in self.aside)


def stages(project: Project) -> list[Stage]:
    """Return the stages that have begun, in order. Needs a fixed number of queries."""
    return [*_reviews(project), *_studies(project), *_sentences(project), *_tuples(project)]


def _stage(
    key: str,
    words: str,
    count: int,
    parts: Sequence[Counted] = (),
    aside_words: str = "",
    aside: Sequence[Counted] = (),
) -> Stage:
    """Return a stage without parts and reasons whose count is 0."""
    exclusions = tuple((words, n) for words, n in aside if n)
    parts = tuple((words, n) for words, n in parts if n)
    return Stage(key, words, count, parts, aside_words if exclusions else "", exclusions)


def _reviews(project: Project) -> Iterator[Stage]:
    searches = Search.objects.filter(project=project).exclude(query="")
    number = searches.count()
    hits = dict(Hit.objects.filter(search__in=searches).order_by().values_list("outcome").annotate(n=Count("pk")))
    new = hits.get(Hit.Outcome.NEW, 0)
    if record_count := sum(hits.values()):
        yield _stage(
            "found",
            f"Records found by {number} PubMed search{'es' if number > 1 else ''}",
            record_count,
            (),
            "Not retrieved",
            (
                ("already in the project", hits.get(Hit.Outcome.KNOWN, 0)),
                ("no longer in PubMed", hits.get(Hit.Outcome.MISSING, 0)),
                ("could not be imported", hits.get(Hit.Outcome.UNFIT, 0)),
                ("not fetched yet", hits.get(Hit.Outcome.WAITING, 0)),
            ),
        )
    decided = current_screenings().filter(unit=OuterRef("unit"))
    rows = Review.objects.filter(RETRIEVED, project=project)
    waits = Exists(Decision.objects.filter(unit=OuterRef("unit"), kind="screen").contested())
    counted = rows.aggregate(
        n=Count("pk"),
        screened=Count("pk", filter=Exists(decided)),
        contested=Count("pk", filter=~Exists(decided) & waits),
    )
    retrieved, screened, contested = counted["n"], counted["screened"], counted["contested"]
    if not retrieved:
        return
    waiting = ((CONTESTED, contested), ("not screened yet", retrieved - screened - contested))
    has_begun = screened or contested
    parts = (("from the searches", new), ("from files", retrieved - new)) if record_count else ()
    yield _stage("retrieved", "Reviews retrieved", retrieved, parts, "Without a decision", waiting if has_begun else ())
    if not screened:
        return
    by_reason = dict(
        current_screenings().filter(unit__review__in=rows).order_by().values_list("screening").annotate(n=Count("pk"))
    )
    reasons = [(str(reason.label), by_reason.get(reason, 0)) for reason in Screened if reason != Screened.INCLUDE]
    yield _stage("screened", "Reviews screened", screened, (), "Excluded", reasons)
    yield _stage("included", "Reviews included", by_reason.get(Screened.INCLUDE, 0))


def _studies(project: Project) -> Iterator[Stage]:
    reviews = data_set_reviews(project)
    links = Inclusion.objects.included().filter(review__in=reviews.order_by().values("pk"))
    counted = Study.objects.filter(pk__in=links.order_by().values("study"), project=project).aggregate(
        n=Count("pk"),
        read=Count("pk", filter=~Q(abstract="")),
        unread=Count("pk", filter=Q(abstract="", record=RecordStatus.NOT_READ)),
    )
    lists = current_study_lists().filter(unit__review__in=reviews)
    without_pmid = lists.aggregate(n=Sum("without_pmid"))["n"] or 0
    if total := counted["n"] + without_pmid:
        without_abstract = counted["n"] - counted["read"] - counted["unread"]
        begun = counted["read"] or without_abstract
        unread = ("record not fetched yet", counted["unread"] if begun else 0)
        yield _stage(
            "studies",
            "Studies of these reviews",
            total,
            (),
            "Without an abstract",
            (
                ("not in PubMed (counted by review)", without_pmid),
                ("PubMed has no abstract or no record", without_abstract),
                unread,
            ),
        )
        if begun:
            yield _stage("abstracts", "Studies with an abstract", counted["read"])


def _sentences(project: Project) -> Iterator[Stage]:
    readings = current_readings().filter(unit__review__in=data_set_reviews(project))
    read = readings.aggregate(n=Count("pk"), dropped=Count("pk", filter=~Q(dropped="")))
    if read["n"]:
        yield _stage(
            "read",
            "Reviews read for evidence",
            read["n"],
            (),
            "Dropped",
            ((str(Dropped.TOO_MANY_STUDIES.label), read["dropped"]),),
        )
    marks = SentenceMark.objects.filter(reading__in=readings.filter(dropped="")).exclude(label=EvidenceMark.NEITHER)
    mark_counts = dict(marks.order_by().values_list("label").annotate(n=Count("pk")))
    if mark_counts:
        refused = [mark for mark in EvidenceMark if mark not in (EvidenceMark.PICKED, EvidenceMark.NEITHER)]
        reasons = [(str(mark.label), mark_counts.get(mark, 0)) for mark in refused]
        yield _stage("sentences", "Sentences with evidence", sum(mark_counts.values()), (), "Excluded", reasons)
    targets = Target.objects.current().filter(project=project, level=Level.SENTENCE).order_by()
    support = Exists(Input.objects.current().filter(target=OuterRef("pk")))
    waits = Exists(
        Decision.objects.filter(
            kind="evidence",
            unit__evidence_pair__target__key=OuterRef("key"),
            unit__evidence_pair__target__project=project,
        ).contested()
    )
    counted = targets.aggregate(
        n=Count("pk"),
        once_picked=Count("pk", filter=Q(sentence__isnull=False)),
        supported=Count("pk", filter=support),
        contested=Count("pk", filter=~support & waits),
    )
    if not counted["n"]:
        return
    total, supported, contested = counted["n"], counted["supported"], counted["contested"]
    unsupported = count_dropped(project)
    # Targets with later work remain if their sentence or review is excluded, but they are no longer picked sentences.
    picked = targets.filter(sentence__in=marks.filter(label=EvidenceMark.PICKED).values("sentence")).count()
    parts = (
        ("selected from abstracts", picked),
        ("entered by curators or imported", total - counted["once_picked"]),
        ("selected earlier; sentence or review excluded since", counted["once_picked"] - picked),
    )
    begun = supported or unsupported or contested
    aside = (
        ("no supporting study", unsupported),
        (CONTESTED, contested),
        ("not decided yet", total - supported - unsupported - contested),
    )
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
