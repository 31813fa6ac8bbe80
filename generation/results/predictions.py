"""Outputs of a run in the forms that the published scorers of MS^2 and MSLR2022 read."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count

from django.db.models import QuerySet

from api.problems import Refused
from measures.direction import MS2_CLASSES
from sql.batches import in_batches

from ..models import ItemStatus, Run, RunItem, UnitLevel
from ..sources import Material, materials

BATCH = 100
#: The first column of MSLR's tables has no name.
MSLR_HEAD = ("", "ReviewID", "Generated")
Count = Callable[[], None]


def mslr(run: Run, skipped: Count) -> Iterator[str]:
    """Yield the table of predictions that MSLR's evaluator reads. It needs no targets."""
    if run.version.level != UnitLevel.DOCUMENT:
        raise Refused("MSLR's evaluator reads one text per review: choose a run of the level document.")
    yield _row(MSLR_HEAD)
    numbers = count()
    for batch in in_batches(_items(run).select_related("unit__review", "summary"), BATCH):
        for item in batch:
            yield _row((str(next(numbers)), item.unit.review.pmid, item.summary.text))


def consistency_scorer(run: Run, skipped: Count) -> Iterator[str]:
    """Yield the lines of MS^2's ``consistency_scorer``: the preamble is the background with its tags.

    The program forms its pairs as `measures.pio.every_pair_of` does.
    """
    for output, target, background in _compared(run, skipped):
        yield json.dumps({"generated": output, "target": target, "preamble": background}) + "\n"


def f1_scorer(run: Run, skipped: Count) -> Iterator[str]:
    """Yield the lines of MS^2's ``f1_scorer``, which compares names of directions."""
    # All targets are checked first, so that no file is written in part.
    if any(target not in MS2_CLASSES for _, target, _ in _compared(run, lambda: None)):
        names = ", ".join(MS2_CLASSES)
        raise Refused(f"MS^2's f1_scorer reads directions, but a target of this run is none of: {names}.")
    yield from consistency_scorer(run, skipped)


WRITERS: Mapping[str, Callable[[Run, Count], Iterator[str]]] = {
    "mslr": mslr,
    "consistency-scorer": consistency_scorer,
    "f1-scorer": f1_scorer,
}


def _items(run: Run) -> QuerySet[RunItem]:
    # Items are created in the order of the corpus.
    return RunItem.objects.filter(run=run, status=ItemStatus.DONE).order_by("pk")


def _compared(run: Run, skipped: Count) -> Iterator[tuple[str, str, str]]:
    """Yield (output, target, background). Units without a known target are skipped and counted."""
    project, level = run.version.system.project, run.version.level
    for batch in in_batches(_items(run).select_related("summary"), BATCH):
        found = materials(project, level, [item.unit_id for item in batch])
        for item in batch:
            material: Material | None = found.get(item.unit_id)
            if material and material.own:
                yield item.summary.text, material.own.text, material.source.background
            else:
                skipped()


def _row(cells: tuple[str, ...]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()
