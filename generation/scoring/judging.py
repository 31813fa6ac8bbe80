"""The summaries of a run as input of metrics, in batches, and a digest of them."""

import hashlib
from collections.abc import Iterator

from audit.digests import canonical

from ..metrics.protocol import Judged
from ..models import Run, Summary
from ..sources import materials

#: Number of summaries that are read, scored and stored together. It limits memory, and the work lost with a killed
#: worker.
BATCH = 100


def batches(run: Run, size: int | None = None) -> Iterator[list[Judged]]:
    """Yield all summaries of a run in order of creation, with one batch in memory at a time.

    A summary of a retired unit has no references and is left out.
    """
    level, project, last = run.version.level, run.version.system.project, 0
    summaries = Summary.objects.filter(item__run=run).order_by("pk").values_list("pk", "text", "item__unit")
    while chunk := list(summaries.filter(pk__gt=last)[: size or BATCH]):
        last = chunk[-1][0]
        materials_by_unit = materials(project, level, [unit for _, _, unit in chunk])
        yield [Judged(pk, text, materials_by_unit[unit]) for pk, text, unit in chunk if unit in materials_by_unit]


def digest_of_summaries(run: Run) -> str:
    """Return the SHA-256 of every summary with its inputs and references. It changes if a target is corrected."""
    digest = hashlib.sha256()
    for batch in batches(run):
        for judged in batch:
            source = judged.material.source
            digest.update(
                canonical(
                    [
                        judged.summary,
                        judged.text,
                        [[r.unit, r.text] for r in judged.material.references],
                        [text.text for text in source.inputs],
                        dict(source.pico),
                        source.background,
                    ]
                )
            )
            digest.update(b"\n")
    return digest.hexdigest()
