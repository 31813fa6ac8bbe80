"""Access to views for users and guests, and the scopes of API tokens."""

from typing import Any

from django.http import Http404
from rest_framework import exceptions
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request

from .models import ApiToken, User

#: Permission classes of views that guests may use: any signed-in user.
GUESTS_TOO = [IsAuthenticated]


class NotForGuests(BasePermission):
    """Default permission: raise 404 for guests."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.user, User) and request.user.is_guest:
            raise Http404
        return True


Scope = ApiToken.Scope
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
#: Each scope includes those before it.
ORDER = (Scope.READ, Scope.ANNOTATE, Scope.LEAD)


def needed_scope(view: Any, method: str) -> ApiToken.Scope:
    """Return the scope that a method of a view needs.

    Reading needs *read* and writing needs *lead*, unless the view sets ``read_scope`` or ``write_scope``.
    """
    if method in SAFE_METHODS:
        return Scope(getattr(view, "read_scope", Scope.READ))
    return Scope(getattr(view, "write_scope", Scope.LEAD))


def require_scope(token: ApiToken, request: Request) -> None:
    """Raise `PermissionDenied` if the token's scope does not cover the request."""
    needed = needed_scope((request.parser_context or {}).get("view"), request.method or "")
    if ORDER.index(Scope(token.scope)) < ORDER.index(needed):
        raise exceptions.PermissionDenied(f"This API token has the scope {token.scope}; this request needs {needed}.")
