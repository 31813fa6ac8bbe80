"""Pagination of all lists."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pages by ``?page=2&page_size=50``, with at most 200 rows each."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
