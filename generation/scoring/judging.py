"""The summaries of a run as metrics get them, in batches, and what they were seen to be."""

import hashlib
from collections.abc import Iterator

from audit.digests import canonical

from ..metrics.protocol import Judged
from ..models import Run, Summary
from ..runs.sources import materials

#: Summaries that are read, scored and stored together: a killed worker loses no more, and memory holds no more.
BATCH = 100


def batches(run: Run, size: int | None = None) -> Iterator[list[Judged]]:
    """All summaries of a run in the order in which they came, a batch in memory at a time.

    A summary whose unit was retired since has nothing to be compared with any more, and is left out.
    """
    level, project, last = run.version.level, run.version.system.project, 0
    summaries = Summary.objects.filter(item__run=run).order_by("pk").values_list("pk", "text", "item__unit")
    while chunk := list(summaries.filter(pk__gt=last)[: size or BATCH]):
        last = chunk[-1][0]
        found = materials(project, level, [unit for _, _, unit in chunk])
        yield [Judged(pk, text, found[unit]) for pk, text, unit in chunk if unit in found]


def seen(run: Run) -> str:
    """SHA-256 over every summary with all that it is judged by: a corrected target makes another one."""
    digest = hashlib.sha256()
    for batch in batches(run):
        for judged in batch:
            source = judged.material.source
            digest.update(
                canonical(
                    [judged.summary, judged.text, [[r.unit, r.text] for r in judged.material.references],
                     [text.text for text in source.inputs], dict(source.pico), source.background]
                )
            )  # fmt: skip
            digest.update(b"\n")
    return digest.hexdigest()
