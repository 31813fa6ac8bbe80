"""One way to page through every list."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """``?page=2&page_size=50``; a page never holds more than 200 rows."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
