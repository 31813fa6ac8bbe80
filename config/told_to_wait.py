"""Who was told to wait, and asks the same again at once, hears the same again before anything is done for it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

#: For so many seconds at most, however long somebody was told to wait: what was in the way may be gone earlier.
HELD = 2.0
#: So many refusals are remembered by a process.
MOST = 4096
KEPT = ("Content-Type", "Retry-After")


@dataclass(frozen=True)
class Refusal:
    """What is said again until then. Nothing else of the reply: it would keep the request, and its body, with it."""

    until: float
    status: int
    content: bytes
    headers: dict[str, str]


class ToldToWait:
    """A refusal by a limit costs a sign-in, a permission and some counting. Five hundred in nine seconds of one person
    took a quarter of everybody's pace; repeated from memory they take nothing that others notice.

    Only of those who bring a session or a token: by address, one person's refusal would be another's. And only what the
    problem says can be repeated: a refused password says nothing of the next one, and a failure of the server's own may
    be over at once.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._held: dict[Any, Refusal] = {}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if getattr(response, "can_be_repeated", False) and isinstance(response, HttpResponse):
            self._remember(_asked(request), response)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        held = self._held.get(_asked(request))
        if held is None or time.monotonic() >= held.until:
            return None
        return HttpResponse(held.content, status=held.status, headers=held.headers)

    def _remember(self, asked: Any, response: HttpResponse) -> None:
        if asked is None:
            return
        now = time.monotonic()
        if len(self._held) >= MOST:
            self._held = {asked: held for asked, held in self._held.items() if held.until > now}
        if len(self._held) < MOST:
            headers = {name: response.headers[name] for name in KEPT if name in response.headers}
            self._held[asked] = Refusal(now + HELD, response.status_code, response.content, headers)


def _asked(request: HttpRequest) -> Any:
    """Who asks what; None for nobody known and for what only reads. Identifiers of answers are new in each request."""
    who = request.META.get("HTTP_AUTHORIZATION") or request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not who or request.resolver_match is None or request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    match = request.resolver_match
    where = tuple((name, value) for name, value in match.kwargs.items() if not isinstance(value, UUID))
    return hash(who), request.method, match.route, where
