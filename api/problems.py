"""Errors as RFC 9457 problem details. All error responses have this format."""

import errno
from http import HTTPStatus
from math import ceil
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

CONTENT_TYPE = "application/problem+json"
#: Seconds after which a client retries after a 503.
RETRY_AFTER = "2"
FieldErrors = list[dict[str, str]]


class Problem(Exception):
    """An error with a message for the user. Actions raise it; the API returns it, and commands print its detail."""

    status = 400
    type = "bad-request"
    title = "Invalid request"

    def __init__(self, detail: str, *, errors: FieldErrors | None = None, **extra: Any) -> None:
        super().__init__(detail)
        self.headers: dict[str, str] = {}
        self.detail = detail
        self.errors = errors or []
        self.extra = extra

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "type": f"/problems/{self.type}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            body["errors"] = self.errors
        return body | self.extra


class Refused(Problem):
    """A value is invalid. `errors` contains the fields."""

    status = 422
    type = "refused"
    title = "Invalid value"

    @classmethod
    def field(cls, name: str, message: str) -> "Refused":
        return cls(message, errors=[{"field": name, "message": message}])


class NotFound(Problem):
    """The object does not exist, or the user may not see it. Both give the same response."""

    status = 404
    type = "not-found"
    title = "Not found"


class Forbidden(Problem):
    status = 403
    type = "forbidden"
    title = "Not allowed for your role"


class Conflict(Problem):
    """The request does not match the current state. Nothing was changed."""

    status = 409
    type = "conflict"
    title = "Conflict with the current state"


class StaleRevision(Conflict):
    type = "stale-revision"
    title = "A newer revision exists"


class UuidReused(Conflict):
    type = "uuid-reused"
    title = "This identifier belongs to another answer"


class RoundClosed(Conflict):
    type = "round-closed"
    title = "The round is closed"


class WrongCredentials(Problem):
    """E-mail address or password is wrong. The response does not reveal which."""

    status = 422
    type = "wrong-credentials"
    title = "Not signed in"


class SignInNeeded(Problem):
    """The user must sign in to an existing account to continue."""

    status = 401
    type = "sign-in-needed"
    title = "Sign in first"


class SpentLink(Problem):
    """A link or invitation is unknown, used, expired or revoked. All four give the same response."""

    status = 410
    type = "link-not-valid"
    title = "This link is no longer valid"


class TooManyTries(Problem):
    status = 429
    type = "too-many-tries"
    title = "Too many attempts"

    def __init__(self, detail: str, *, wait: float) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": str(max(1, ceil(wait)))}


class TooLarge(Problem):
    status = 413
    type = "too-large"
    title = "The request is too large"

    @classmethod
    def body(cls, limit: int) -> "TooLarge":
        """Return the problem of a body that exceeds ``limit`` bytes."""
        return cls(f"The body is larger than {limit / 2**20:g} MiB, the limit of this endpoint. Send it in parts.")


class WrongMedia(Problem):
    status = 415
    type = "unsupported-media-type"
    title = "Unsupported media type"


class LengthNeeded(Problem):
    status = 411
    type = "length-needed"
    title = "Content-Length required"


class CutShort(Problem):
    """The body is missing, too slow or incomplete. The client has usually disconnected."""

    status = 408
    type = "cut-short"
    title = "Incomplete request"


class TooMuch(TooManyTries):
    """A limit was exceeded (`api.limits`), and a later retry can succeed."""

    type = "too-much"
    title = "Limit reached"


class NoRoom(Problem):
    """A file could not be written. The incomplete file was removed."""

    status = 507
    type = "no-room"
    title = "The file could not be written"


class Unavailable(Problem):
    status = 503
    type = "unavailable"
    title = "Service unavailable"


class Busy(Unavailable):
    """All capacity is used by other requests, also of the same user. ``wait`` is the time until a retry in seconds."""

    type = "busy"
    title = "The server is busy"

    def __init__(self, detail: str, *, wait: int) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": str(wait)}


#: Temporary database errors: a restart, a lock time-out, or a deadlock.
PASSING = (OperationalError, InterfaceError)
_FULL = ("no space left", "disk is full", "could not extend file", "disk i/o error")


def unavailable(exc: Exception) -> Unavailable:
    """Return the problem of a temporary database error (`PASSING`). The client keeps its data and retries."""
    if any(words in str(exc).lower() for words in _FULL):
        return Unavailable(
            "The server's disk is full, so nothing was stored. Inform the administrator. Your "
            "answers are kept in the browser and are sent when there is space again."
        )
    return Unavailable("The database is not reachable. Nothing is lost; try again in a moment.")


def no_room(exc: OSError) -> bool:
    """Return whether writing a file failed because the disk or quota is full."""
    return exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _below(path: str, key: str) -> str:
    if key == "non_field_errors":
        return path
    return f"{path}.{key}" if path else key


def field_errors(detail: Any, path: str = "") -> FieldErrors:
    """Flatten DRF's nested validation detail into ``[{field, message}]``, fields as dotted paths."""
    if isinstance(detail, dict):
        return [
            e
            for k, v in detail.items()
            for e in field_errors(v, path if k == "non_field_errors" else f"{path}.{k}" if path else str(k))
        ]
    if isinstance(detail, list):
        out: FieldErrors = []
        for i, v in enumerate(detail):
            out += field_errors(v, f"{path}.{i}" if isinstance(v, dict | list) else path)
        return out
    return [{"field": path, "message": str(detail)}]


def as_problem(exc: BaseException | None) -> Problem | None:
    """Return the problem of an exception, or None for an unexpected one. Used by views and middleware."""
    match exc:
        case Problem():
            return exc
        case Http404():
            return NotFound("Not found, or no access.")
        case PermissionDenied():
            return Forbidden("Not allowed for your role.")
        case exceptions.ValidationError():
            errors = field_errors(exc.detail)
            first = errors[0] if errors else {"field": "", "message": "Invalid."}
            return Refused(
                f"{first['field']}: {first['message']}" if first["field"] else first["message"], errors=errors
            )
        case exceptions.APIException():
            problem = Problem(str(exc.detail))
            problem.status = exc.status_code
            problem.type = {
                401: "not-authenticated",
                403: "forbidden",
                404: "not-found",
                405: "method-not-allowed",
                406: "not-acceptable",
                415: "unsupported-media-type",
                429: "too-many-requests",
            }.get(exc.status_code, "bad-request")
            if "CSRF" in problem.detail:
                problem.type = "csrf"
            problem.title = HTTPStatus(exc.status_code).phrase
            return problem
        case OperationalError() | InterfaceError():
            return unavailable(exc)
        case UnreadablePostError():
            return CutShort("The body was incomplete or too slow, so it was discarded. Send it again.")
        case OSError() if no_room(exc):
            return NoRoom("The server's disk is full, so the file was not stored. Inform the administrator.")
        case RequestDataTooBig():
            return TooLarge.body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        case TooManyFilesSent():
            return Problem("The form has too many files. Send fewer at once.")
        case TooManyFieldsSent():
            return Problem(f"The request has more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} fields.")
        case SuspiciousOperation() | BadRequest() | MultiPartParserError():
            # Django's message may contain user input or names of settings, so it is only logged.
            return Problem("Malformed request: the URL, headers or body are invalid.")
    return None


def as_problem_details(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response of an exception, as DRF's exception handler. None (a 500) for unexpected exceptions."""
    problem = as_problem(exc)
    if problem is None:
        return None
    set_rollback()
    headers = dict(problem.headers)
    if isinstance(exc, exceptions.APIException):
        if wait := getattr(exc, "wait", None):
            headers["Retry-After"] = str(int(wait))
        if auth := getattr(exc, "auth_header", None):
            headers["WWW-Authenticate"] = auth
    if problem.status == 503:
        headers.setdefault("Retry-After", RETRY_AFTER)
    return Response(problem.as_json(), status=problem.status, headers=headers, content_type=CONTENT_TYPE)
