"""Current readings: the newest one of each text and task, whichever model gave it.

It is what pages, suggestions and rounds show until a person has decided. The files of MS^2 in a release have the
imported readings instead, except where a round has decided.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from django.db.models import Exists, OuterRef, Q, QuerySet

from ..models import Inclusion, MachineReading, ReadingTask, Review

Owner = Literal["review", "study", "inclusion"]


def current_readings(task: ReadingTask, owner: Owner) -> QuerySet[MachineReading]:
    """Return the newest reading of each review, study or inclusion for a task."""
    readings = MachineReading.objects.filter(task=task, **{f"{owner}__isnull": False})
    return readings.exclude(Exists(readings.filter(pk__gt=OuterRef("pk"), **{owner: OuterRef(owner)})))


def newest_last(readings: Iterable[MachineReading]) -> list[MachineReading]:
    """Sort readings so that the last one of each text is the current one."""
    return sorted(readings, key=lambda reading: reading.pk)


def readers(reviews: Sequence[Review], inclusions: Sequence[Inclusion]) -> list[dict[str, object]]:
    """Return by task the names of the models that gave the current readings of reviews and of studies in them.

    An empty name stands for an imported file. Runs one query.
    """
    of_texts = Q(review__in=reviews) | Q(inclusion__in=inclusions) | Q(study__in={one.study_id for one in inclusions})
    rows = (
        MachineReading.objects.filter(of_texts)
        .order_by("pk")
        .values_list("task", "review", "study", "inclusion", "model")
    )
    newest = {(task, tuple(text)): model for task, *text, model in rows}
    names: dict[str, set[str]] = {}
    for (task, _), model in newest.items():
        names.setdefault(task, set()).add(model)
    return [{"task": task, "models": sorted(names[task])} for task in ReadingTask.values if task in names]
