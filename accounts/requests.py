"""Who sends a request, typed: views behind ``IsAuthenticated`` know that it is a user."""

from rest_framework import exceptions
from rest_framework.request import Request

from api.problems import Refused

from .models import ApiToken, User


def signed_in(request: Request) -> User:
    """The signed-in user; a 401 where there is none."""
    if not isinstance(request.user, User):
        raise exceptions.NotAuthenticated
    return request.user


def by_token(request: Request) -> bool:
    """Whether a script sends it with a personal API token, and not a page with its session."""
    return isinstance(request.auth, ApiToken)


def asked(request: Request, name: str) -> str:
    """A query parameter, empty when absent. NUL is refused: PostgreSQL knows no text with it."""
    value = request.query_params.get(name, "")
    if "\0" in value:
        raise Refused.field(name, "NUL is not text.")
    return value
