"""Pagination of all lists."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response


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


#: Number of matches of a search or a filter that are listed. Counting all matches of a frequent word takes seconds.
MOST_MATCHES = 1_000


class CappedRows:
    """The matches of a search or a filter for a paginator: all of them, or the first `MOST_MATCHES` found.

    ``rows``: the matches. ``all_rows``: all rows of the list, in its order, from which a page is read by id. Unless
    ``is_sorted``, the matches are those that the database finds first, so that it stops there.
    """

    def __init__(self, rows: QuerySet[Any], all_rows: QuerySet[Any], *, is_sorted: bool = False) -> None:
        rows = rows if is_sorted else rows.order_by()
        ids = list(rows.values_list("pk", flat=True)[: MOST_MATCHES + 1])
        self.is_capped, self.ids, self.all_rows = len(ids) > MOST_MATCHES, ids[:MOST_MATCHES], all_rows

    def count(self) -> int:
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> Sequence[Any]:
        return list(self.all_rows.filter(pk__in=self.ids)[part])


class CappedPages(Pages):
    """Pages with ``capped``: whether more rows match than ``count``, which are listed."""

    is_capped = False

    def paginate_queryset(self, queryset: Any, request: Any, view: Any = None) -> list[Any] | None:
        self.is_capped = isinstance(queryset, CappedRows) and queryset.is_capped
        return super().paginate_queryset(queryset, request, view)

    def get_paginated_response(self, data: Any) -> Response:
        reply = super().get_paginated_response(data)
        reply.data["capped"] = self.is_capped
        return reply

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        text = "Whether more rows match than `count`. Only those are listed."
        described["properties"]["capped"] = {"type": "boolean", "description": text}
        described["required"].append("capped")
        return described
