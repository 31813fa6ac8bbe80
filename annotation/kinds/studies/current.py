"""Keep the links between reviews and studies in line with the decided lists."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from accounts.models import User
from annotation.clusters import inclusions
from annotation.models import DecidedLink, Inclusion, Input, Proposition, Review, Role, Study
from audit.log import REMOVE, record_all
from projects.gold.queries import current_values, withdrawn_values
from projects.jobs.arriving import ensure_none_arrives
from projects.models import Unit

KIND, FIELD = "studies", "included_studies"


@dataclass
class _Links:
    """Links of a review to studies, by primary key of the study.

    ``now`` are the included studies, and ``general`` the general references. ``sourced`` are those from files and
    searches, regardless of decisions. ``used`` are studies whose texts the review's targets or clusters contain; their
    links stay. ``next_position`` is the position of the next study.
    """

    now: dict[int, Inclusion] = field(default_factory=dict)
    general: dict[int, Inclusion] = field(default_factory=dict)
    next_position: int = 0
    added: set[int] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)

    @property
    def sourced(self) -> set[int]:
        return (self.now.keys() - self.added) | self.removed


@dataclass(frozen=True)
class _Change:
    """Changes to the links of one review."""

    review: Review
    links: _Links
    wanted: set[int]

    @property
    def new(self) -> set[int]:
        return self.wanted - self.links.now.keys()

    @property
    def gone(self) -> list[Inclusion]:
        return [link for study, link in self.links.now.items() if study not in self.wanted]

    @property
    def added(self) -> set[int]:
        return self.wanted - self.links.sourced

    @property
    def removed(self) -> set[int]:
        return self.links.sourced - self.wanted

    @property
    def is_none(self) -> bool:
        links = self.links
        return (self.wanted, self.added, self.removed) == (set(links.now), links.added, links.removed)


def update_links(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Link the reviews to the studies of their current lists.

    Studies whose texts a review uses stay linked. Other links from files become general references, so that what the
    file says of the study is kept, and the rest is removed. Listed studies that the project lacks are added, without a
    record. If a list was withdrawn, restore the links from files and searches.

    Run in the caller's transaction. Idempotent. A fixed number of queries.
    """
    listed = _listed(units)
    reviews = list(Review.objects.filter(unit__in=listed).order_by("pk"))
    if not reviews:
        return
    ensure_none_arrives(reviews[0].project_id)
    studies = _studies(reviews[0].project_id, listed.values())
    links = _links([review.pk for review in reviews])
    changes = []
    for review in reviews:
        current, pmids = links[review.pk], listed[review.unit_id]
        target_ids = current.sourced if pmids is None else {studies[pmid] for pmid in pmids}
        changes.append(_Change(review, current, target_ids | (current.now.keys() & current.used)))
    _write([change for change in changes if not change.is_none], by, reason)


def _write(changes: Sequence[_Change], by: User | None, reason: str) -> None:
    """Apply the changes. Each removed link has its own audit entry, because integrity tracking covers these rows."""
    if not changes:
        return
    gone = [link for change in changes for link in change.gone]
    removed = [link for link in gone if not link.imported_id]
    project = changes[0].review.project_id
    about = {"actor": by, "project_id": project, "reason": reason or "The list of studies was decided."}
    record_all({**about, "verb": REMOVE, "obj": link} for link in removed)
    Inclusion.objects.filter(pk__in=[link.pk for link in removed]).delete()
    cited = [link.pk for change in changes for study, link in change.links.general.items() if study in change.new]
    inclusions.set_role(cited, Role.INCLUDED, by=by, project=project)
    inclusions.set_role([link.pk for link in gone if link.imported_id], Role.GENERAL, by=by, project=project)
    pairs = [
        (study, change.review.pk) for change in changes for study in sorted(change.new - change.links.general.keys())
    ]
    positions = {change.review.pk: change.links.next_position for change in changes}
    Inclusion.objects.bulk_create(inclusions.build(pairs, positions))
    DecidedLink.objects.filter(review__in=[change.review.pk for change in changes]).delete()
    DecidedLink.objects.bulk_create(
        DecidedLink(review=change.review, study_id=study, is_linked=is_linked)
        for change in changes
        for is_linked, study_ids in ((True, change.added), (False, change.removed))
        for study in sorted(study_ids)
    )
    record_all(
        {
            **about,
            "verb": "link studies",
            "obj": change.review,
            "after": {"linked": len(change.wanted), "new": len(change.new), "gone": len(change.gone)},
        }
        for change in changes
    )


def _listed(units: Sequence[Unit]) -> dict[int, list[str] | None]:
    """Return the PMIDs of the current list by the unit of the review; None if the list was withdrawn.

    Reviews without any decision are omitted.
    """
    lists: dict[int, list[str] | None] = {unit: None for unit, field in withdrawn_values([u.pk for u in units], KIND)}
    for unit, value in current_values(units, KIND).items():
        if FIELD in value:
            lists[unit] = [study["pmid"] for study in value[FIELD]["listed"]]
    return lists


def _studies(project: int, lists: Iterable[list[str] | None]) -> Mapping[str, int]:
    """Return the primary keys of all listed studies by PMID. Missing studies are added."""
    pmids = {pmid for pmids_ in lists for pmid in pmids_ or ()}
    existing = set(Study.objects.filter(project=project, pmid__in=pmids).values_list("pmid", flat=True))
    # Another transaction may add the same study meanwhile.
    Study.objects.bulk_create(
        [Study(project_id=project, pmid=pmid) for pmid in sorted(pmids - existing, key=int)], ignore_conflicts=True
    )
    return dict(Study.objects.filter(project=project, pmid__in=pmids).values_list("pmid", "pk"))


def _links(reviews: Sequence[int]) -> Mapping[int, _Links]:
    by_review: dict[int, _Links] = defaultdict(_Links)
    for link in Inclusion.objects.filter(review__in=reviews):
        links = by_review[link.review_id]
        (links.now if link.role == Role.INCLUDED else links.general)[link.study_id] = link
        links.next_position = link.position + 1
    for review, study, is_linked in DecidedLink.objects.filter(review__in=reviews).values_list(
        "review", "study", "is_linked"
    ):
        (by_review[review].added if is_linked else by_review[review].removed).add(study)
    for rows in (
        Input.objects.filter(target__review__in=reviews).values_list("target__review", "study"),
        Proposition.objects.filter(~Q(study=None), cluster__review__in=reviews).values_list("cluster__review", "study"),
    ):
        for review, study in rows.order_by().distinct():
            by_review[review].used.add(study)
    return by_review
