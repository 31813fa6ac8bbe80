"""The texts of a project that a model reads for a task, in batches of those that it has not read yet."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import EffectPair, Inclusion, MachineReading, ReadingTask, Review, Study
from annotation.readings.current import Owner
from projects.models import Project

#: Number of texts read at once.
BATCH = 32
#: A review, a study, or a study as included in a review.
Text = Review | Study | Inclusion


def texts(project: Project, task: str) -> list[tuple[Owner, QuerySet[Any]]]:
    """Return the texts that a task reads, by the owner of their readings.

    Sentences and fitness: abstracts of reviews. Spans: abstracts of reviews and studies. Effects: abstracts of reviews
    that have pairs, and of their included studies.
    """
    reviews = Review.objects.filter(project=project).exclude(abstract="")
    if task == ReadingTask.PIO:
        return [("review", reviews), ("study", Study.objects.filter(project=project).exclude(abstract=""))]
    if task == ReadingTask.EFFECTS:
        links = Inclusion.objects.included().filter(review__project=project).exclude(study__abstract="")
        of_review, of_link = (Exists(EffectPair.objects.filter(review=OuterRef(at))) for at in ("pk", "review"))
        return [("review", reviews.filter(of_review)), ("inclusion", links.filter(of_link).select_related("study"))]
    return [("review", reviews)]


def unread(owner: Owner, of: QuerySet[Any], task: str, weights: str) -> QuerySet[Any]:
    """Return the texts without a reading by a model."""
    readings = MachineReading.objects.filter(task=task, weights=weights, **{owner: OuterRef("pk")})
    return of.exclude(Exists(readings))


def in_batches(rows: QuerySet[Any]) -> Iterator[Sequence[Any]]:
    """Yield the rows in batches, in the order of their ids. Rows that a batch has stored readings of may disappear."""
    last = 0
    while batch := list(rows.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield batch
        last = batch[-1].pk


def abstract_of(text: Text) -> str:
    return text.study.abstract if isinstance(text, Inclusion) else text.abstract
