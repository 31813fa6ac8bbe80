"""Releases without the texts of their sources: a text is replaced by its SHA-256.

Keys, offsets and labels stay. The hash leads from a text to its place (`releases.imports.release`). Empty texts stay
empty. This module needs no Django.
"""

import csv
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from .dictionary import Table, has_lines, table_of

#: Part of a release that can be left out; the manifest lists it in ``without``.
TEXTS = "texts"
_PREFIX = "sha256:"
_HASH = re.compile(rf"{_PREFIX}[0-9a-f]{{64}}")
_RANGE = re.compile(r'(\d+)-(\d+) "', re.ASCII)
#: Fields of JSON values that stay, because they are identifiers or labels and no texts.
_KEPT = {"pmid", "doi", "docid", "s2id", "s2hash", "direction", "polarity", "modality", "class"}


def hash_of(text: str) -> str:
    """Return what a release without texts has instead of a text."""
    return _PREFIX + sha256(text.encode()).hexdigest()


def is_hash(text: str) -> bool:
    return _HASH.fullmatch(text) is not None


def without_texts(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without texts. Idempotent."""
    texts = set(table.texts)
    if table.has_other_texts:
        texts |= row.keys() - table.columns.keys()
    return {name: _visit(name, value, texts, table.spans) for name, value in row.items()}


def _visit(name: str, value: Any, texts: Collection[str], spans: Collection[str]) -> Any:
    if name in texts:
        return _hidden(value)
    if name in spans:
        return _without_quotes(value)
    if isinstance(value, dict):
        return {key: _visit(key, each, texts, spans) for key, each in value.items()}
    return [_visit("", each, texts, spans) for each in value] if isinstance(value, list) else value


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return value if not value or is_hash(value) else hash_of(value)
    if isinstance(value, dict):
        return {key: each if key in _KEPT else _hidden(each) for key, each in value.items()}
    return [_hidden(each) for each in value] if isinstance(value, list) else value


def _without_quotes(cell: str) -> str:
    """Return a cell of spans with their offsets only. A quote may have any character: its offsets give its length."""
    kept, at = "", 0
    while match := _RANGE.search(cell, at):
        start, end = int(match[1]), int(match[2])
        kept += cell[at : match.start()] + f"{start}-{end}"
        at = match.end() + end - start + 1
    kept += cell[at:]
    return _hidden(kept) if '"' in kept else kept


def rows_without_texts(
    path: str, chunks: Iterable[bytes], csv_row: Callable[[Iterable[Any]], bytes]
) -> Iterator[bytes]:
    """Yield the rows of a file of a release without texts; other files unchanged.

    Each chunk is one row. ``csv_row`` writes the cells of a CSV file.
    """
    table = table_of(path)
    if table is None or not has_lines(path) or not (table.texts or table.spans or table.has_other_texts):
        yield from chunks
    elif path.endswith(".jsonl"):
        for chunk in chunks:
            yield json.dumps(without_texts(table, json.loads(chunk)), ensure_ascii=False).encode() + b"\n"
    else:
        header: list[str] = []
        # A cell may have a whole document. The limit holds for the process, and protects readers of uploaded files.
        usual = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        try:
            for chunk in chunks:
                [cells] = csv.reader([chunk.decode()], strict=True)
                if header:
                    yield csv_row(without_texts(table, dict(zip(header, cells, strict=True))).values())
                else:
                    header = cells
                    yield chunk
        finally:
            csv.field_size_limit(usual)
