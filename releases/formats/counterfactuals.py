"""Current counterfactuals in Concord's own format, because M3 published none: one per line, in the order of targets.

The importer reads this file; counterfactuals that the project already has are unchanged.
"""

import json
from collections.abc import Iterable, Iterator

from annotation.models import Counterfactual
from projects.models import Project
from releases.formats.rows import BATCH

from .notes import Notes

PATH = "m3/counterfactuals.jsonl"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if Counterfactual.objects.of(project).current().exists():
        yield PATH, _lines(project)


def _lines(project: Project) -> Iterator[bytes]:
    counterfactuals = Counterfactual.objects.of(project).current().in_corpus_order()
    counterfactuals = counterfactuals.select_related("target__cluster")
    for one in counterfactuals.iterator(chunk_size=BATCH):
        target = one.target
        yield (
            json.dumps(
                {
                    "docid": target.cluster.key,
                    "kind": one.kind,
                    "target_text": target.text,
                    "text": one.text,
                    "origin": one.origin,
                },
                ensure_ascii=False,
            ).encode()
            + b"\n"
        )
