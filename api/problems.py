"""Errors as RFC 9457 problem details: the one shape of every reply that is not a success."""

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
#: Seconds after which a client tries again what met a 503.
RETRY_AFTER = "2"
FieldErrors = list[dict[str, str]]


class Problem(Exception):
    """A refusal that says what is wrong. Actions raise it; the API shows it, commands print its detail."""

    status = 400
    type = "bad-request"
    title = "The request cannot be carried out"
    #: Whether who sends the same again at once, whatever the body, is to hear the same without being listened to.
    can_be_repeated = False

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
    """A value that breaks a rule: `errors` names the fields."""

    status = 422
    type = "refused"
    title = "The value was refused"

    @classmethod
    def field(cls, name: str, message: str) -> "Refused":
        return cls(message, errors=[{"field": name, "message": message}])


class NotFound(Problem):
    """Absent, or hidden from this person: the two look alike."""

    status = 404
    type = "not-found"
    title = "Not found"


class Forbidden(Problem):
    status = 403
    type = "forbidden"
    title = "Your role does not allow this"


class Conflict(Problem):
    """The state has moved on. Nothing was changed or deleted."""

    status = 409
    type = "conflict"
    title = "The state has changed meanwhile"


class StaleRevision(Conflict):
    type = "stale-revision"
    title = "There is a newer revision"


class UuidReused(Conflict):
    type = "uuid-reused"
    title = "This identifier already names another answer"


class RoundClosed(Conflict):
    type = "round-closed"
    title = "The round is closed"


class WrongCredentials(Problem):
    """E-mail address and password do not belong together; which of the two is wrong is not told."""

    status = 422
    type = "wrong-credentials"
    title = "Not signed in"


class SignInNeeded(Problem):
    """Only the owner of an existing account may go on, signed in."""

    status = 401
    type = "sign-in-needed"
    title = "Sign in first"


class SpentLink(Problem):
    """A link or invitation that is unknown, used, expired or revoked: the four look alike."""

    status = 410
    type = "link-not-valid"
    title = "This link is not valid any more"


class TooManyTries(Problem):
    status = 429
    type = "too-many-tries"
    title = "Too many tries"

    def __init__(self, detail: str, *, wait: float) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": str(max(1, ceil(wait)))}


class TooLarge(Problem):
    status = 413
    type = "too-large"
    title = "The request is too large"

    @classmethod
    def body(cls, limit: int) -> "TooLarge":
        """``limit`` in bytes."""
        return cls(f"The body has more than {limit / 2**20:g} MiB, the most that this address takes. Send it in parts.")


class WrongMedia(Problem):
    status = 415
    type = "unsupported-media-type"
    title = "The body is of a kind that is not taken here"


class LengthNeeded(Problem):
    status = 411
    type = "length-needed"
    title = "The request must say its length"


class CutShort(Problem):
    """The body did not come, came too slowly, or ended early. There is mostly nobody left to read this."""

    status = 408
    type = "cut-short"
    title = "The request did not arrive whole"


class TooMuch(TooManyTries):
    """More than a limit allows (`api.limits`), and waiting helps."""

    type = "too-much"
    title = "More than one may ask for at once"
    can_be_repeated = True


class NoRoom(Problem):
    """A file could not be written, and what there was of it was taken away again."""

    status = 507
    type = "no-room"
    title = "It could not be written"


class Unavailable(Problem):
    status = 503
    type = "unavailable"
    title = "The service cannot answer just now"


class Busy(Unavailable):
    """Others, or other requests of the same person, use up what there is; ``wait`` in seconds until it may be over."""

    type = "busy"
    title = "There is too much to do just now"
    can_be_repeated = True

    def __init__(self, detail: str, *, wait: int) -> None:
        super().__init__(detail)
        self.headers = {"Retry-After": str(wait)}


#: What the data base says while it restarts, is busy past its time-out, or chose another transaction over this one.
PASSING = (OperationalError, InterfaceError)
_FULL = ("no space left", "disk is full", "could not extend file", "disk i/o error")


def unavailable(exc: Exception) -> Unavailable:
    """For one of `PASSING`: the client keeps its bytes and tries again."""
    if any(words in str(exc).lower() for words in _FULL):
        return Unavailable(
            "The server has no room left, so nothing was stored. Tell whoever runs it; what is in your browser is kept "
            "and can be sent when there is room again."
        )
    return Unavailable("The data base cannot be reached just now. Nothing is lost; try again in a moment.")


def no_room(exc: OSError) -> bool:
    """Whether writing a file failed because disk or quota is full."""
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
    """A failure in our words; None for what nobody foresaw. What is Django's own, views meet as well as middleware."""
    match exc:
        case Problem():
            return exc
        case Http404():
            return NotFound("There is nothing here that you may see.")
        case PermissionDenied():
            return Forbidden("Your role does not allow this.")
        case exceptions.ValidationError():
            errors = field_errors(exc.detail)
            first = errors[0] if errors else {"field": "", "message": "Invalid."}
            return Refused(
                f"{first['field']}: {first['message']}" if first["field"] else first["message"], errors=errors
            )
        case exceptions.APIException():
            problem = Problem(str(exc.detail))
            problem.status = exc.status_code
            problem.type = {401: "not-authenticated", 403: "forbidden", 404: "not-found", 405: "method-not-allowed",
                            406: "not-acceptable", 415: "unsupported-media-type", 429: "too-many-requests"}.get(
                exc.status_code, "bad-request")  # fmt: skip
            if "CSRF" in problem.detail:
                problem.type = "csrf"
            problem.title = HTTPStatus(exc.status_code).phrase
            return problem
        case OperationalError() | InterfaceError():
            return unavailable(exc)
        case UnreadablePostError():
            return CutShort("The body ended early or came too slowly; nothing of it was kept. Send it again.")
        case OSError() if no_room(exc):
            return NoRoom("The server has no room left for this file; nothing of it was kept. Tell whoever runs it.")
        case RequestDataTooBig():
            return TooLarge.body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        case TooManyFilesSent():
            return Problem("The form has more files than are taken at once.")
        case TooManyFieldsSent():
            return Problem(f"The request has more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} fields.")
        case SuspiciousOperation() | BadRequest() | MultiPartParserError():
            # What Django says of it may quote what was sent, or name settings: that is for the log.
            return Problem("The request cannot be read: its address, headers or body are not as they must be.")
    return None


def as_problem_details(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. None (a 500) for what nobody foresaw."""
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
    reply = Response(problem.as_json(), status=problem.status, headers=headers, content_type=CONTENT_TYPE)
    reply.can_be_repeated = problem.can_be_repeated  # type: ignore[attr-defined]
    return reply
