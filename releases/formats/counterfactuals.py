"""The counterfactuals in force, in our own form, as none was published: one line each, in the order of the targets. The
importer takes the file, and what is there already changes nothing."""

import json
from collections.abc import Iterable, Iterator

from annotation.models import Counterfactual
from projects.models import Project

from .notes import Notes
from .rows import BATCH

PATH = "m3/counterfactuals.jsonl"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if Counterfactual.objects.of(project).current().exists():
        yield PATH, _lines(project)


def _lines(project: Project) -> Iterator[bytes]:
    found = Counterfactual.objects.of(project).current().in_corpus_order()
    found = found.select_related("target__cluster")
    for one in found.iterator(chunk_size=BATCH):
        target = one.target
        yield json.dumps(
            {
                "docid": target.cluster.key, "kind": one.kind, "target_text": target.text, "text": one.text,
                "origin": one.origin,
            },
            ensure_ascii=False,
        ).encode() + b"\n"  # fmt: skip
