"""Read many rows in batches, so that the reader can write in between."""

from array import array
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet


def ids_of(rows: QuerySet[Any]) -> "array[int]":
    """Return the ids of rows in their order, as an array that needs eight bytes per id.

    All ids are read before the first is used. On SQLite a connection with an unfinished query cannot write after
    another connection has written ("database is locked").
    """
    return array("q", rows.values_list("pk", flat=True).iterator(chunk_size=2000))


def in_batches(rows: QuerySet[Any], size: int, among: QuerySet[Any] | None = None) -> Iterator[list[Any]]:
    """Yield the rows in lists of at most ``size``. Rows that do not match any more are left out.

    ``among``: rows by whose id each batch is read, instead of ``rows``. Leave out conditions there that have an index
    on a joined table, because SQLite may begin every batch with it.
    """
    ids, among = ids_of(rows), rows if among is None else among
    for start in range(0, len(ids), size):
        yield list(among.filter(pk__in=ids[start : start + size].tolist()))
