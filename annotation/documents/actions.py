"""Create document targets: one per review of the data set, with the abstracts of its studies as inputs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import User
from api.problems import Refused
from audit.log import record_all
from projects.jobs import batches, jobs
from projects.jobs.arriving import ensure_none_arrives
from projects.jobs.batches import Progress, silent
from projects.models import Job, Project, Unit
from projects.stored_figures.actions import content_changed

from ..clusters.creation import UNIT_TYPES, next_position
from ..clusters.integrity import BRING_BACK_TARGET, REMOVE_TARGET
from ..models import Input, Level, Review, Target
from . import queries as documents_queries
from .queries import MAKE_DOCUMENTS, Document

#: Maximum number of skipped reviews that are named.
NAMED = 20


def queue_documents(*, project: Project, by: User) -> Job:
    """Queue a job that creates or updates the document targets."""
    if not documents_queries.reviews(project).exists():
        raise Refused("No review can have a document yet. Search PubMed or import reviews first.")
    return jobs.request_job(project=project, kind=MAKE_DOCUMENTS, params={}, by=by)[0]


@dataclass
class Far:
    """How far the documents are made: the last review, and the counts up to it. It is stored with each batch."""

    review: int = 0
    done: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    #: PMIDs of the first skipped reviews by reason. ``counts`` has their number.
    skipped: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def skip(self, reason: str, review: Review) -> None:
        self.add(reason)
        if len(named := self.skipped.setdefault(reason, [])) < NAMED:
            named.append(review.pmid)

    def result(self) -> dict[str, Any]:
        counts = {name: self.counts.get(name, 0) for name in ("made", "brought_up_to_date", "taken_out")}
        skipped = {
            reason: {"total": self.counts.get(reason, 0), "first": self.skipped.get(reason, [])}
            for reason in ("no_conclusions", "no_abstracts")
        }
        return counts | {"of_picked_sentences": self.counts.get("picked sentences", 0)} | skipped


def make_documents(
    *,
    project: Project,
    by: User | None,
    progress: Progress = silent,
    stored: dict[str, Any] | None = None,
    store: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Create missing document targets and update the others.

    Idempotent. The text of an existing document stays, even if other sentences are selected later, because people may
    have corrected it. New studies are added, and studies that left the review become inactive. A document is retired if
    its review leaves the data set, and restored if the review returns. Imported documents are never changed.

    ``store`` stores the position with each batch. A second attempt continues at the ``stored`` one.
    """
    far, total = Far(**stored or {}), documents_queries.reviews(project).count()
    for batch in documents_queries.documents(project, after=far.review):
        progress(far.done, total, "creating documents")
        far.review, far.done = batch[-1].review.pk, far.done + len(batch)
        with batches.batch(far.done, total):
            _update_documents(project, batch, by, far)
            if store:
                store(asdict(far))
    with batches.batch(total, total):
        far.add("taken_out", _retire_documents(project, by))
        content_changed(Q(pk=project.pk))
    return far.result()


def _update_documents(project: Project, batch: Sequence[Document], by: User | None, far: Far) -> None:
    existing_targets = _newest(project, [document.review for document in batch])
    imported = _from_files(project).filter(review__in=[document.review for document in batch])
    from_files = set(imported.values_list("review", flat=True))
    new, existing = [], []
    for document in batch:
        target = existing_targets.get(document.review.pk)
        if document.review.pk in from_files:
            continue
        if not document.studies or not (document.text or target):
            far.skip("no_conclusions" if document.studies else "no_abstracts", document.review)
        elif target:
            existing.append((target, document))
        else:
            new.append(document)
            far.add(document.origin)
    _make(project, new, by)
    far.add("made", len(new))
    far.add("brought_up_to_date", _update_inputs(existing, by))


def _newest(project: Project, reviews: Iterable[Review]) -> dict[int, Target]:
    """Return the newest document of each review, including retired ones."""
    rows = Target.objects.filter(project=project, level=Level.DOCUMENT, review__in=list(reviews))
    return {row.review_id: row for row in rows.select_related("unit").order_by("version")}


def _from_files(project: Project) -> QuerySet[Target]:
    """Return imported documents (their first version, whether or not it was corrected later)."""
    return Target.objects.filter(project=project, level=Level.DOCUMENT, imported__isnull=False)


def _make(project: Project, new: Sequence[Document], by: User | None) -> None:
    if new:
        ensure_none_arrives(project.pk)
    position = next_position(Target.objects.filter(project=project, level=Level.DOCUMENT))
    units = Unit.objects.bulk_create(
        Unit(project=project, type=UNIT_TYPES[Level.DOCUMENT], key=document.review.pmid, made_by=by) for document in new
    )
    targets = Target.objects.bulk_create(
        Target(
            project=project,
            review=document.review,
            level=Level.DOCUMENT,
            key=document.review.pmid,
            position=position + n,
            text=document.text,
            unit=unit,
        )
        for n, (document, unit) in enumerate(zip(new, units, strict=True))
    )
    Input.objects.bulk_create(
        Input(target=target, study_id=study, position=n)
        for target, document in zip(targets, new, strict=True)
        for n, study in enumerate(document.studies, start=1)
    )
    record_all(
        {
            "actor": by,
            "verb": "make document",
            "obj": target,
            "project_id": project.pk,
            "after": {"of": document.origin, "studies": len(document.studies)},
        }
        for target, document in zip(targets, new, strict=True)
    )


def _update_inputs(existing: Sequence[tuple[Target, Document]], by: User | None) -> int:
    """Update the inputs of existing documents from the studies of their reviews.

    Return the number of changed documents.
    """
    inputs: dict[int, list[Input]] = defaultdict(list)
    for row in Input.objects.filter(target__in=[target for target, _ in existing]).order_by("position"):
        inputs[row.target_id].append(row)
    changed, new_inputs, returned, entries = [], [], [], []
    for target, document in existing:
        before = inputs[target.pk]
        studies = set(document.studies)
        toggled = [row for row in before if row.is_current != (row.study_id in studies)]
        for row in toggled:
            row.is_current = not row.is_current
        known_ids = {row.study_id for row in before}
        last = max((row.position for row in before), default=0)
        added = [study for study in document.studies if study not in known_ids]
        new_inputs += [
            Input(target=target, study_id=study, position=position) for position, study in enumerate(added, last + 1)
        ]
        changed += toggled
        if is_restored := target.unit.superseded_by_id is not None:
            returned.append(target.unit_id)
        if toggled or added or is_restored:
            verb = BRING_BACK_TARGET if is_restored else "bring document up to date"
            entries.append(
                {
                    "actor": by,
                    "verb": verb,
                    "obj": target,
                    "project_id": target.project_id,
                    "after": {"studies": len(studies)},
                }
            )
    Unit.objects.filter(pk__in=returned).update(superseded_by=None)
    Input.objects.bulk_update(changed, ["is_current"])
    Input.objects.bulk_create(new_inputs)
    record_all(entries)
    return len(entries)


def _retire_documents(project: Project, by: User | None) -> int:
    """Retire documents created here whose reviews no longer have one. They are superseded by the review's unit."""
    current = Target.objects.current().filter(project=project, level=Level.DOCUMENT)
    created_here = current.exclude(review__in=_from_files(project).values("review"))
    left_data_set = created_here.exclude(review__in=documents_queries.reviews(project))
    retired = list(left_data_set.select_related("unit", "review__unit"))
    for target in retired:
        target.unit.superseded_by = target.review.unit
    Unit.objects.bulk_update([target.unit for target in retired], ["superseded_by"], batch_size=500)
    record_all(
        {
            "actor": by,
            "verb": REMOVE_TARGET,
            "obj": target,
            "project_id": project.pk,
            "before": {"key": target.key, "text": target.text},
        }
        for target in retired
    )
    return len(retired)
