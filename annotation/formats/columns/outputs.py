"""Summaries of systems in a table. When the import has arrived, a job makes a run of each column (`generation`)."""

import json
import secrets
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from projects.jobs.batches import Progress
from projects.uploads import files
from projects.uploads.faults import Faults
from projects.uploads.files import Source

from ...imports.stream import START, FollowUp
from .items import Items, TableItem
from .mapping import DOCUMENTS, INPUT, PAGES, QUESTIONS, SENTENCES, Column, ColumnMapping
from .tables import Table

KIND = "import_outputs"
#: Levels of runs (`generation.models.UnitLevel`) by shape.
LEVELS = {DOCUMENTS: "document", SENTENCES: "sentence", QUESTIONS: "question", PAGES: ""}
OF_PASSAGES = "answer"


def system_of(column: Column) -> str:
    return column.writer or column.name


def level_of(column: Column, shape: str) -> str:
    return OF_PASSAGES if shape == QUESTIONS and column.of == INPUT else LEVELS[shape]


def keep_outputs(
    sources: Sequence[tuple[Source, Table]], mapping: ColumnMapping, progress: Progress
) -> Iterator[FollowUp]:
    """Read the files again, write a file of outputs for each column of a system, and yield the jobs that import them.

    Empty texts are left out: the system has no output for the unit.
    """
    columns = mapping.of_role("output")
    tokens = [secrets.token_hex(16) for _ in columns]
    files.folder().mkdir(parents=True, exist_ok=True)
    opened = [files.path_of(token).open("x", encoding="utf-8", newline="\n") for token in tokens]
    total, done = sum(source.size for source, _ in sources), 0
    try:
        for source, table in sources:
            for record in Items(mapping, table, source, Faults()).records(START):
                progress(done + record.end, total, "writing summaries of systems")
                for file, column in zip(opened, columns, strict=True):
                    for key, text in texts_of(record.item, column):
                        file.write(json.dumps({"key": key, "text": text}, ensure_ascii=False) + "\n")
            done += source.size
    finally:
        for file in opened:
            file.close()
    for token, column in zip(tokens, columns, strict=True):
        if files.path_of(token).stat().st_size:
            params: dict[str, Any] = {"level": level_of(column, mapping.shape), "system": system_of(column)}
            name = PurePath(sources[0][0].name).name
            yield FollowUp(KIND, {"upload": token, "name": f"{name}, {column.name}"[:200], **params})
        else:
            files.remove_all([token])


def texts_of(item: TableItem | None, column: Column) -> Iterator[tuple[str, str]]:
    """Yield (key of the unit, text) of the summaries of a system."""
    if item is None:
        return
    if text := item.outputs.get(column.name, ""):
        yield item.key, text
    for entry in item.entries:
        if text := entry.outputs.get(column.name, ""):
            yield entry.key, text
