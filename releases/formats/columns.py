"""Columns of imported tables that no other file has: titles, topics, splits, and columns kept as they are."""

import json
from collections.abc import Iterable, Iterator

from annotation.models import ColumnValues, ImportedMapping
from projects.models import Project

from .notes import Notes
from .rows import BATCH, csv_row

PATH = "columns/values.csv"
DETAILS = ("title", "background", "topic", "split")
HEAD = ("unit_type", "key", "input", *DETAILS)


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    rows = ColumnValues.objects.filter(unit__project=project)
    if rows.exists():
        yield PATH, _lines(project)


def _lines(project: Project) -> Iterator[bytes]:
    names: dict[str, None] = {}
    for content in ImportedMapping.objects.filter(imported__project=project).order_by("pk").values_list("content"):
        mapped = json.loads(content[0])["columns"]
        names |= dict.fromkeys(name for name, column in mapped.items() if column["role"] == "kept")
    # A kept column that has the name of another column of the file gets a suffix.
    yield csv_row([*HEAD, *(f"{name} (column)" if name in HEAD else name for name in names)])
    rows = ColumnValues.objects.filter(unit__project=project).order_by("pk")
    columns = ("unit__type", "unit__key", "position", "details", "kept")
    for kind, key, position, said, kept in rows.values_list(*columns).iterator(chunk_size=BATCH):
        yield csv_row([kind, key, position, *(said.get(name, "") for name in DETAILS), *map(kept.get, names)])
