"""Middleware for responses of the API."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


class NeverStored:
    """Forbid browsers and proxies to store API responses, which contain tokens, names and unreleased data."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith("/api/") and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        return response
