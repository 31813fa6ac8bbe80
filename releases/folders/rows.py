"""Rows of the files of a release, and the units that they are about. This module needs no Django."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from .chain import full_key, iri, unit_iri
from .dictionary import Table, has_lines, table_of
from .folder import Altered, checked
from .manifest import Entry

#: Files whose rows name their unit by a column of its own: pattern, type of the unit, column with its key.
_NAMED = (
    ("m3/level1.jsonl", "target document", "docid"),
    ("m3/level2.jsonl", "target sentence", "docid"),
    ("m3/*.jsonl", "cluster", "docid"),
    ("ms2/*.jsonl", "review", "docid"),
    ("abstracts/*.jsonl", "review", "review"),
    ("mslr/*.csv", "review", "ReviewID"),
    ("written/*.csv", "question", "question"),
    ("questions/*.csv", "question", "question"),
)
#: Columns with the number of an entity of ``prov.jsonld``, by its type.
_ENTITIES = (("answer", "answer"), ("summary", "summary"))
Row = dict[str, Any]


class Place(NamedTuple):
    """A row of a file: its number from 1, without the header of a CSV file, and its key."""

    number: int
    key: str
    row: Row


def rows(folder: Path, entry: Entry) -> Iterator[Place]:
    """Yield the rows of a file that the dictionary describes, while its hash is checked. Raise `Altered`."""
    table, number = table_of(entry.path), 0
    if table is None or not has_lines(entry.path):
        raise Altered(f"{entry.path}: it has no rows")
    lines = lines_of(checked(folder, entry))
    found = map(json.loads, lines) if entry.path.endswith(".jsonl") else csv.DictReader(lines, restkey="")
    try:
        for number, row in enumerate(found, start=1):
            yield Place(number, key_of(row, table), row)
    except (ValueError, KeyError, TypeError, RecursionError, csv.Error):
        raise Altered(f"{entry.path}: row {number + 1} is not in the format of a release") from None


def key_of(row: Mapping[str, Any], table: Table) -> str:
    return " ".join(str(row[column]) for column in table.key)


def lines_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a file given in pieces, with their ends. Only LF ends a line."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode() + "\n"
    if rest:
        yield rest.decode()


def is_traceable(path: str) -> bool:
    """Return whether the rows of a file are about single units, and can be read line by line."""
    if not has_lines(path):
        return False
    table = table_of(path)
    columns = {*table.key, *table.columns} if table else set()
    return bool(columns & {"answer", "summary", "unit_type"}) or any(
        fnmatchcase(path, pattern) for pattern, *_ in _NAMED
    )


def nodes_of(path: str, row: Mapping[str, Any]) -> list[str]:
    """Return the identifiers in ``prov.jsonld`` of what a row is about, the most specific first."""
    found = [iri(type, row[column]) for column, type in _ENTITIES if row.get(column) and not path.startswith("m3/")]
    if type := row.get("unit_type"):
        found.append(unit_iri(full_key(type, row.get("unit") or row.get("key") or "")))
    found += [
        unit_iri(full_key(type, str(row[column])))
        for pattern, type, column in _NAMED
        if fnmatchcase(path, pattern) and column in row
    ][:1]
    return found
