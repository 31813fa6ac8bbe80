"""The links between reviews and studies, kept the same as the lists that were decided."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import models
from django.db.models import Q

from accounts.models import User
from audit.log import REMOVE, record_all
from projects.models import Unit
from projects.values.in_force import taken_back, values_in_force

from ...models import DecidedLink, Input, Proposition, Review, Study

KIND, FIELD = "studies", "included_studies"
Link = Study.reviews.through


@dataclass
class _Links:
    """Which studies a review is linked with, by primary key: ``now``; ``brought`` by files and searches, whatever was
    decided; and ``used``: those of which its targets and clusters have a text, which stay."""

    now: dict[int, models.Model] = field(default_factory=dict)
    made: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)

    @property
    def brought(self) -> set[int]:
        return (self.now.keys() - self.made) | self.taken


@dataclass(frozen=True)
class _Change:
    """What is to become of one review's links."""

    review: Review
    there: _Links
    wanted: set[int]

    @property
    def new(self) -> set[int]:
        return self.wanted - self.there.now.keys()

    @property
    def gone(self) -> list[models.Model]:
        return [link for study, link in self.there.now.items() if study not in self.wanted]

    @property
    def made(self) -> set[int]:
        return self.wanted - self.there.brought

    @property
    def taken(self) -> set[int]:
        return self.there.brought - self.wanted

    @property
    def is_none(self) -> bool:
        there = self.there
        return (self.wanted, self.made, self.taken) == (set(there.now), there.made, there.taken)


def follow(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Link the reviews with the studies that they list, and with no others but those that texts of theirs come from. A
    listed study that the project does not have is added, to be read. Where a list was taken back, the links are again
    what files and searches had brought. In the caller's transaction; a fixed number of queries, and done again it
    changes nothing."""
    listed = _listed(units)
    reviews = list(Review.objects.filter(unit__in=listed).order_by("pk"))
    if not reviews:
        return
    studies = _studies(reviews[0].project_id, listed.values())
    links = _links([review.pk for review in reviews])
    changes = []
    for review in reviews:
        there, pmids = links[review.pk], listed[review.unit_id]
        wanted = there.brought if pmids is None else {studies[pmid] for pmid in pmids}
        changes.append(_Change(review, there, wanted | (there.now.keys() & there.used)))
    _write([change for change in changes if not change.is_none], by, reason)


def _write(changes: Sequence[_Change], by: User | None, reason: str) -> None:
    """Every link that goes has an entry of its own: the rows are witnessed."""
    if not changes:
        return
    gone = [link for change in changes for link in change.gone]
    project = changes[0].review.project_id
    about = {"actor": by, "project_id": project, "reason": reason or "The list of studies was decided."}
    record_all({**about, "verb": REMOVE, "obj": link} for link in gone)
    Link.objects.filter(pk__in=[link.pk for link in gone]).delete()
    Link.objects.bulk_create(
        Link(review_id=change.review.pk, study_id=study) for change in changes for study in sorted(change.new)
    )
    DecidedLink.objects.filter(review__in=[change.review.pk for change in changes]).delete()
    DecidedLink.objects.bulk_create(
        DecidedLink(review=change.review, study_id=study, is_linked=is_linked)
        for change in changes
        for is_linked, some in ((True, change.made), (False, change.taken))
        for study in sorted(some)
    )
    record_all(
        {
            **about, "verb": "link studies", "obj": change.review,
            "after": {"linked": len(change.wanted), "new": len(change.new), "gone": len(change.gone)},
        }
        for change in changes
    )  # fmt: skip


def _listed(units: Sequence[Unit]) -> dict[int, list[str] | None]:
    """The PMIDs in force by the unit of the review; None where that was taken back. What was never decided is left
    out."""
    found: dict[int, list[str] | None] = {unit: None for unit, field in taken_back([u.pk for u in units], KIND)}
    for unit, value in values_in_force(units, KIND).items():
        if FIELD in value:
            found[unit] = [one["pmid"] for one in value[FIELD]["listed"]]
    return found


def _studies(project: int, lists: Iterable[list[str] | None]) -> Mapping[str, int]:
    """The primary keys of all listed studies by PMID; those that were not there are added."""
    pmids = {pmid for some in lists for pmid in some or ()}
    there = set(Study.objects.filter(project=project, pmid__in=pmids).values_list("pmid", flat=True))
    # Somebody else may add the same meanwhile.
    Study.objects.bulk_create(
        [Study(project_id=project, pmid=pmid) for pmid in sorted(pmids - there, key=int)], ignore_conflicts=True
    )
    return dict(Study.objects.filter(project=project, pmid__in=pmids).values_list("pmid", "pk"))


def _links(reviews: Sequence[int]) -> Mapping[int, _Links]:
    found: dict[int, _Links] = defaultdict(_Links)
    for link in Link.objects.filter(review__in=reviews):
        found[link.review_id].now[link.study_id] = link
    for review, study, is_linked in DecidedLink.objects.filter(review__in=reviews).values_list(
        "review", "study", "is_linked"
    ):
        (found[review].made if is_linked else found[review].taken).add(study)
    for rows in (
        Input.objects.filter(target__review__in=reviews).values_list("target__review", "study"),
        Proposition.objects.filter(~Q(study=None), cluster__review__in=reviews).values_list("cluster__review", "study"),
    ):
        for review, study in rows.order_by().distinct():
            found[review].used.add(study)
    return found
