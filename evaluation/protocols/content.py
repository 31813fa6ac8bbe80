"""A protocol's content: read and checked, written as canonical JSON, and what keeps a round from opening by it."""

from typing import Any, cast

from api.problems import Refused
from audit.digests import canonical as canonical_json
from audit.digests import digest_of

from . import readiness, rules
from .parts import Content
from .takes import Fault, Part, read

#: Faults that are named: whoever sends something else altogether is not told of every field of it.
NAMED = 100


def faults_of(given: Any) -> list[Fault]:
    """Everything that keeps a JSON value from being a protocol, each with its path and what was expected."""
    content, faults = read(Content, given)
    return (faults or list(rules.faults(content)))[:NAMED]


def parse(given: Any, at: str = "") -> Content:
    """The content of a JSON value. `Refused` names every fault by its path, below ``at`` where that is given."""
    if faults := faults_of(given):
        errors = [{"field": ".".join(filter(None, (at, one.path))), "message": one.message} for one in faults]
        raise Refused(str(faults[0]), errors=errors)
    return load(given)


def load(stored: Any) -> Content:
    """The content of what was stored, and so was checked."""
    return cast(Content, read(Content, stored)[0])


def as_json(content: Content) -> dict[str, Any]:
    """The content as JSON values, every field written out: a default may change, and no version changes with it."""
    return cast(dict[str, Any], Part(Content).plain(content))


def canonical(content: Content) -> bytes:
    return canonical_json(as_json(content))


def digest(content: Content) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return digest_of(as_json(content))


def gaps(content: Content) -> list[Fault]:
    """What keeps a round from opening, each with the path of the field that would fill it."""
    return list(readiness.gaps(content))


def unready(content: Content) -> list[str]:
    """What keeps a round from opening, in sentences; empty where nothing does."""
    return [gap.message for gap in readiness.gaps(content)]
