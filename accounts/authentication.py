"""Authentication by session cookie with CSRF protection for pages, and by bearer token for scripts."""

from copy import copy
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.permissions import require_scope
from accounts.tokens import token_hash


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "accounts.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "Browser session. Write requests also send the csrftoken cookie as X-CSRFToken.",
        }


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "accounts.authentication.BearerTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A personal API token, for scripts."}


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session. Requests without one get a 401 instead of DRF's 403, so that pages can ask to sign in."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return the user of the session, or None if a guest's access has expired since the session began."""
        credentials = super().authenticate(request)
        if credentials is not None and isinstance(credentials[0], User) and credentials[0].has_ended(timezone.now()):
            return None
        return credentials

    def enforce_csrf(self, request: Request) -> None:
        """Check the CSRF token in the header only.

        Django looks for the token in the form first, and would read a complete upload before permissions are checked.
        """
        without_body = copy(request._request)
        without_body.POST = QueryDict()
        super().enforce_csrf(without_body)  # type: ignore[arg-type]

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class BearerTokenAuthentication(authentication.BaseAuthentication):
    """Authenticate ``Authorization: Bearer <token>`` by the hashes of personal API tokens."""

    def authenticate(self, request: Request) -> tuple[User, Any] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        api_token = ApiToken.objects.select_related("user").filter(token_hash=token_hash(token)).first()
        now = timezone.now()
        if (
            not api_token
            or api_token.revoked_at
            or (api_token.expires_at and api_token.expires_at <= now)
            or not api_token.user.is_active
        ):
            raise exceptions.AuthenticationFailed(
                "This API token is unknown, expired or revoked. Create a new one on your profile page."
            )
        # Update at most once a minute, so that scripts do not cause a write at every read.
        if not api_token.last_used_at or (now - api_token.last_used_at).total_seconds() > 60:
            ApiToken.objects.filter(pk=api_token.pk).update(last_used_at=now)
        require_scope(api_token, request)
        return api_token.user, api_token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def enforce_csrf(request: Request) -> None:
    """Check the CSRF token of a request without authentication, such as a sign-in.

    Without the check another website could sign a visitor in to a foreign account. Raise DRF's PermissionDenied, which
    becomes the ``csrf`` problem.
    """
    SessionAuthentication().enforce_csrf(request)
