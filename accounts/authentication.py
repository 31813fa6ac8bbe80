"""How a request says who sends it: a session cookie with CSRF for the page, a bearer token for scripts."""

from copy import copy
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from .models import ApiToken, User
from .tokens import token_hash


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session; a request without one is a 401, not DRF's 403, so that the page can ask to sign in."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Nobody, too, once a guest's time is over: it ends at the next request, not with the session."""
        found = super().authenticate(request)
        if found is not None and isinstance(found[0], User) and found[0].has_ended(timezone.now()):
            return None
        return found

    def enforce_csrf(self, request: Request) -> None:
        """By the header alone: Django looks for the token in a form first, and so would read a whole upload before
        anybody knows whether its sender may make one."""
        without_body = copy(request._request)
        without_body.POST = QueryDict()
        super().enforce_csrf(without_body)  # type: ignore[arg-type]  # reads of it what both kinds of request have

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class BearerTokenAuthentication(authentication.BaseAuthentication):
    """``Authorization: Bearer <token>`` against the hashes of personal API tokens."""

    def authenticate(self, request: Request) -> tuple[User, Any] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        found = ApiToken.objects.select_related("user").filter(token_hash=token_hash(token)).first()
        now = timezone.now()
        if not found or found.revoked_at or (found.expires_at and found.expires_at <= now) or not found.user.is_active:
            raise exceptions.AuthenticationFailed("This token is unknown, expired or revoked.")
        # Once a minute is enough to see that a token is in use, and keeps scripts from writing at every read.
        if not found.last_used_at or (now - found.last_used_at).total_seconds() > 60:
            ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
        return found.user, found

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def enforce_csrf(request: Request) -> None:
    """Check the CSRF token of a request that need not be signed in: without it a foreign page could sign a visitor
    in as somebody else. Raises DRF's PermissionDenied, shown as the ``csrf`` problem."""
    SessionAuthentication().enforce_csrf(request)
