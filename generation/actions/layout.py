"""A run's items, laid out batch by batch along the corpus: the first batch when it is begun, the rest by its chunks.

So beginning a run of 200,000 units asks no more of a request than one of 2000, and a worker that dies on the way is
followed by one that goes on where it was.
"""

from collections.abc import Sequence

from django.db.models import Q

from projects.background import batches
from sql import planner

from ..models import Run, RunItem
from ..runs import sources
from . import purposes
from .lanes import held

BATCH = 1000
#: Before the first unit: positions begin at 0.
BEGIN = [-1, 0]


def lay_out(run: Run) -> bool:
    """Make the items of the next units of a run that is under way; False where there is none left to make. Raises
    `LostLease`."""
    with batches.batch() as far:
        if not held(run):
            return False
        run.refresh_from_db(fields=["laid_to"])
        if run.laid_to is None:
            return False
        position, row = run.laid_to
        project, level = run.version.system.project, run.version.level
        # The first condition alone can begin in the middle of an index.
        after = Q(position__gte=position) & (Q(position__gt=position) | Q(id__gt=row))
        places = list(purposes.get(run.purpose).places(project, level).filter(after)[:BATCH])
        make_items(run, [unit for _, _, unit in places])
        run.laid_to = list(places[-1][:2]) if len(places) == BATCH else None
        Run.objects.filter(pk=run.pk).update(laid_to=run.laid_to)
        far.done, far.total = run.items.count(), run.units_count
        planner.look_at_grown(RunItem)
    return True


def make_items(run: Run, units: Sequence[int]) -> None:
    for start in range(0, len(units), BATCH):
        batch = units[start : start + BATCH]
        sizes = sources.sizes(run.version.level, batch)
        RunItem.objects.bulk_create(RunItem(run=run, unit_id=unit, size=sizes[unit]) for unit in batch)
