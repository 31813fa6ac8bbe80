"""Current readings: the newest one of each text and task, whichever model gave it.

It is what pages, suggestions and rounds show until a person has decided. The files of MS^2 in a release have the
imported readings instead, except where a round has decided.
"""

from collections.abc import Iterable
from typing import Literal

from django.db.models import Exists, OuterRef, QuerySet

from ..models import MachineReading, ReadingTask

Owner = Literal["review", "study", "inclusion"]


def current_readings(task: ReadingTask, owner: Owner) -> QuerySet[MachineReading]:
    """Return the newest reading of each review, study or inclusion for a task."""
    readings = MachineReading.objects.filter(task=task, **{f"{owner}__isnull": False})
    return readings.exclude(Exists(readings.filter(pk__gt=OuterRef("pk"), **{owner: OuterRef(owner)})))


def newest_last(readings: Iterable[MachineReading]) -> list[MachineReading]:
    """Sort readings so that the last one of each text is the current one."""
    return sorted(readings, key=lambda reading: reading.pk)
