"""Pagination of all lists."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pages by ``?page=2&page_size=50``, with at most 200 rows each."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class CountedRows:
    """Rows for a paginator whose number is known, so that they are not counted.

    The database skips at most half of them to find a page.
    """

    def __init__(self, rows: QuerySet[Any], count: int) -> None:
        self.rows, self.number = rows, count

    def count(self) -> int:
        return self.number

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, part: slice) -> Sequence[Any]:
        start, stop = part.start, min(part.stop, self.number)
        if start <= self.number // 2:
            return list(self.rows[start:stop])
        return list(self.rows.reverse()[self.number - stop : self.number - start])[::-1]


class IdentifiedRows:
    """Rows for a paginator whose filter costs more than reading the ids of all rows that match. It is applied once."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        self.rows, self.ids = rows, list(rows.values_list("pk", flat=True))

    def count(self) -> int:
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> Sequence[Any]:
        ids = self.ids[part]
        by_id = self.rows.model._base_manager.in_bulk(ids)
        return [by_id[pk] for pk in ids if pk in by_id]
