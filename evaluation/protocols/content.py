"""Parse, validate and serialise the content of a protocol, and check whether a round can be opened with it."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from api.problems import Refused
from audit.digests import canonical as canonical_json
from audit.digests import digest_of

from . import readiness, rules
from .parts import LINE, Content
from .rules import Fault

#: Limit on reported faults, for input that is not a protocol at all.
NAMED = 100
#: Limit on the length of an unknown field's name in a fault.
SHOWN = 60
#: Messages in the terms of JSON, by pydantic's type of error.
MESSAGES = {
    "missing": "This field is required.",
    "extra_forbidden": "There is no such field.",
    "model_type": "Expected an object.",
    "tuple_type": "Expected a list.",
    "too_long": "Expected a list of at most {max_length} items.",
    "string_type": "Expected text.",
    "string_unicode": "Expected text without lone surrogates.",
    "string_too_long": "Expected text of at most {max_length:,} characters.",
    "bool_type": "Expected true or false.",
    "literal_error": "Expected {expected}.",
}


def faults_of(value: Any) -> list[Fault]:
    """Return everything that is invalid in a JSON value, with its path and the expected value."""
    try:
        content = load(value)
    except ValidationError as error:
        return [_fault(one) for one in error.errors(include_url=False, include_input=False)[:NAMED]]
    return list(rules.faults(content))[:NAMED]


def _fault(error: ErrorDetails) -> Fault:
    context = error.get("ctx", {})
    if error["type"] == "string_pattern_mismatch":
        is_line = context["pattern"] == LINE
        message = f"Expected {'one line, without line breaks and tabs' if is_line else 'text without NUL characters'}."
    else:
        message = MESSAGES.get(error["type"], error["msg"].replace("Input should be", "Expected")).format(**context)
    return Fault(".".join(str(name)[:SHOWN] for name in error["loc"]), message)


def parse(value: Any, prefix: str = "") -> Content:
    """Return the content of a JSON value. Raise `Refused` with every fault; paths are prefixed with ``at``."""
    if faults := faults_of(value):
        errors = [{"field": ".".join(filter(None, (prefix, one.path))), "message": one.message} for one in faults]
        raise Refused(str(faults[0]), errors=errors)
    return load(value)


def load(stored: Any) -> Content:
    """Return the content of a stored, already validated JSON value. Raise `ValidationError` if a field is invalid."""
    return Content.model_validate(stored)


def as_json(content: Content) -> dict[str, Any]:
    """Return the content as JSON values with every field, so that a changed default does not change stored versions."""
    return content.model_dump(mode="json", by_alias=True)


def canonical(content: Content) -> bytes:
    return canonical_json(as_json(content))


def digest(content: Content) -> str:
    """Return the SHA-256 (hex) of the canonical JSON."""
    return digest_of(as_json(content))


def gaps(content: Content) -> list[Fault]:
    """Return everything that must be completed before a round can be opened, with the path of the field."""
    return list(readiness.gaps(content))


def unready(content: Content) -> list[str]:
    """Return the messages of `gaps`. Empty if the protocol is ready."""
    return [gap.message for gap in readiness.gaps(content)]
