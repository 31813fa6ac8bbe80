"""Splits of the data set: the part of each unit, and a report with the leakage per pair of parts.

Rows are those of the split when it was created. Units that were added later are in no part.
"""

import json
from collections.abc import Iterable, Iterator

from annotation.models import DataSplit
from annotation.splits.queries import COLUMNS, current_splits, rows_of
from projects.models import Project

from ..folders.texts import hash_of
from .notes import Notes
from .rows import csv_row, utc_time


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    for split in current_splits(project):
        yield f"splits/{split.name}.csv", _rows(split)
        yield f"splits/{split.name}.json", _report(split, has_texts=notes.has_texts)


def _rows(split: DataSplit) -> Iterator[bytes]:
    yield csv_row(COLUMNS)
    yield from map(csv_row, rows_of(split))


def _report(split: DataSplit, *, has_texts: bool) -> Iterator[bytes]:
    content = {
        "split": split.name,
        "level": split.level,
        "mode": split.mode,
        "seed": split.seed,
        "parts": split.parts,
        "options": split.options,
        "created_at": utc_time(split.created_at),
        "sha256": split.digest,
        **split.report,
    }
    if not has_texts:
        for review in content.get("components", {}).get("largest", {}).get("titles", ()):
            review["title"] = hash_of(review["title"])
    yield json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"
