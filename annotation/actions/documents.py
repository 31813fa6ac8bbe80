"""Making the document level: a target for each review of the data set, with its studies' abstracts as inputs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from api.problems import Refused
from audit.log import record_all
from projects.background import batches, jobs
from projects.background.progress import Progress, silent
from projects.models import Job, Project, Unit

from ..corpus.layout import UNIT_TYPES, next_position
from ..corpus.watching import BRING_BACK_TARGET, REMOVE_TARGET
from ..models import Input, Level, Review, Target
from ..values import documents
from ..values.documents import Document

KIND = "make_documents"
#: So many reviews that were left out are named.
NAMED = 20


def ask(*, project: Project, by: User) -> Job:
    """Have a worker make the document level, or bring it up to date."""
    if not documents.reviews(project).exists():
        raise Refused("There is no review to make a document of: search PubMed, or bring reviews in.")
    return jobs.ask(project=project, kind=KIND, params={}, by=by)[0]


def make(*, project: Project, by: User | None, progress: Progress = silent) -> dict[str, Any]:
    """Make what is missing and bring the rest up to date. Called again it changes nothing.

    A text that was made stays, whatever is picked later: people may have corrected it. Studies that came since are
    added, and those that are no longer of the review are left out. A document of a review that left the data set is
    taken out of force, and back when the review is. What a file brought is never touched.
    """
    total, done = documents.reviews(project).count(), 0
    counts: Counter[str] = Counter()
    left: dict[str, list[str]] = defaultdict(list)
    for some in documents.documents(project):
        progress(done, total, "making documents")
        done += len(some)
        with batches.batch(done, total):
            _bring_up_to_date(project, some, by, counts, left)
    with batches.batch(total, total):
        counts["taken_out"] = _take_out(project, by)
    named = {why: {"total": len(left[why]), "first": left[why][:NAMED]} for why in ("no_conclusions", "no_abstracts")}
    return {**{name: counts[name] for name in ("made", "brought_up_to_date", "taken_out")},
            "of_picked_sentences": counts["picked sentences"], **named}  # fmt: skip


def _bring_up_to_date(
    project: Project, some: Sequence[Document], by: User | None, counts: Counter[str], left: dict[str, list[str]]
) -> None:
    there = _newest(project, [one.review for one in some])
    brought = _from_files(project).filter(review__in=[one.review for one in some])
    from_files = set(brought.values_list("review", flat=True))
    new, kept = [], []
    for one in some:
        target = there.get(one.review.pk)
        if one.review.pk in from_files:
            continue
        if not one.studies or not (one.text or target):
            left["no_conclusions" if one.studies else "no_abstracts"].append(one.review.pmid)
        elif target:
            kept.append((target, one))
        else:
            new.append(one)
            counts[one.origin] += 1
    _make(project, new, by)
    counts["made"] += len(new)
    counts["brought_up_to_date"] += _follow(kept, by)


def _newest(project: Project, reviews: Iterable[Review]) -> dict[int, Target]:
    """The newest text of each review's document, in force or not."""
    rows = Target.objects.filter(project=project, level=Level.DOCUMENT, review__in=list(reviews))
    return {row.review_id: row for row in rows.select_related("unit").order_by("version")}


def _from_files(project: Project) -> QuerySet[Target]:
    """Documents that a file brought: as they came, whatever they were corrected to since."""
    return Target.objects.filter(project=project, level=Level.DOCUMENT, imported__isnull=False)


def _make(project: Project, new: Sequence[Document], by: User | None) -> None:
    position = next_position(Target.objects.filter(project=project, level=Level.DOCUMENT))
    units = Unit.objects.bulk_create(
        Unit(project=project, type=UNIT_TYPES[Level.DOCUMENT], key=one.review.pmid, made_by=by) for one in new
    )
    made = Target.objects.bulk_create(
        Target(project=project, review=one.review, level=Level.DOCUMENT, key=one.review.pmid, position=position + n,
               text=one.text, unit=unit)
        for n, (one, unit) in enumerate(zip(new, units, strict=True))
    )  # fmt: skip
    Input.objects.bulk_create(
        Input(target=target, study=study, position=n, text=study.abstract)
        for target, one in zip(made, new, strict=True)
        for n, study in enumerate(one.studies, start=1)
    )
    record_all(
        {"actor": by, "verb": "make document", "obj": target, "project_id": project.pk,
         "after": {"of": one.origin, "studies": len(one.studies)}}
        for target, one in zip(made, new, strict=True)
    )  # fmt: skip


def _follow(kept: Sequence[tuple[Target, Document]], by: User | None) -> int:
    """Documents that are there, with the studies that their reviews have now; how many were changed."""
    inputs: dict[int, list[Input]] = defaultdict(list)
    for row in Input.objects.filter(target__in=[target for target, _ in kept]).order_by("position"):
        inputs[row.target_id].append(row)
    changed, fresh, returned, entries = [], [], [], []
    for target, one in kept:
        before = inputs[target.pk]
        wanted = {study.pk: study for study in one.studies}
        turned = [row for row in before if row.is_current != (row.study_id in wanted)]
        for row in turned:
            row.is_current = not row.is_current
        known = {row.study_id for row in before}
        last = max((row.position for row in before), default=0)
        added = [study for pk, study in wanted.items() if pk not in known]
        fresh += [Input(target=target, study=s, position=last + n, text=s.abstract) for n, s in enumerate(added, 1)]
        changed += turned
        if back := target.unit.superseded_by_id is not None:
            returned.append(target.unit_id)
        if turned or added or back:
            verb = BRING_BACK_TARGET if back else "bring document up to date"
            entries.append({"actor": by, "verb": verb, "obj": target, "project_id": target.project_id,
                            "after": {"studies": len(wanted)}})  # fmt: skip
    Unit.objects.filter(pk__in=returned).update(superseded_by=None)
    Input.objects.bulk_update(changed, ["is_current"])
    Input.objects.bulk_create(fresh)
    record_all(entries)
    return len(entries)


def _take_out(project: Project, by: User | None) -> int:
    """Documents that were made here, of reviews that have none any more. Nothing takes their place but the review."""
    current = Target.objects.current().filter(project=project, level=Level.DOCUMENT)
    made = current.exclude(review__in=_from_files(project).values("review"))
    out = list(made.exclude(review__in=documents.reviews(project)).select_related("unit", "review__unit"))
    for target in out:
        target.unit.superseded_by = target.review.unit
    Unit.objects.bulk_update([target.unit for target in out], ["superseded_by"], batch_size=500)
    record_all(
        {"actor": by, "verb": REMOVE_TARGET, "obj": target, "project_id": project.pk,
         "before": {"key": target.key, "text": target.text}}
        for target in out
    )  # fmt: skip
    return len(out)
