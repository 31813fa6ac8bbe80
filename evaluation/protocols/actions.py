"""Create, rename and version protocols. A stored version never changes."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from accounts.models import User
from api import limits
from api.problems import Conflict, Refused
from audit.log import record
from projects.models import Project

from ..models import Protocol, ProtocolVersion
from .content import as_json, digest, parse
from .parts import Content

#: Number of attempts to get a free version number while others write versions of the same protocol.
TRIES = 5


def create_protocol(*, project: Project, name: str, content: Any, note: str = "", by: User | None) -> ProtocolVersion:
    """Store a protocol with ``content`` (JSON) as its first version.

    Raise `Refused` if the name is empty or taken, or if the content is invalid. Content errors carry their path
    (``content.criteria.0.key``).
    """
    name, parsed = _checked_name(name), parse(content, "content")
    _check_note(note)
    _check_pace(by)
    try:
        with transaction.atomic():
            protocol = Protocol.objects.create(project=project, name=name, kind=parsed.kind, created_by=by)
            record(
                actor=by,
                verb="write rating protocol",
                obj=protocol,
                project_id=project.pk,
                after={"name": name, "kind": parsed.kind},
            )
            return _insert(protocol, parsed, 1, note, by)
    except IntegrityError as error:
        raise _taken(name) from error


def write_version(*, protocol: Protocol, content: Any, note: str = "", by: User | None) -> ProtocolVersion:
    """Store ``content`` (JSON) as the next version. Return the newest version if it has the same content.

    Raise `Refused` as in `create_protocol`, or if the kind differs from the protocol's.
    """
    parsed = parse(content, "content")
    _check_note(note)
    if parsed.kind != protocol.kind:
        raise Refused.field(
            "content.kind",
            f"Expected {protocol.kind}, the kind of this protocol. Create a new protocol for another kind.",
        )
    _check_pace(by)
    for _ in range(TRIES):
        newest = protocol.versions.newest_first().first()
        if newest is not None and newest.digest == digest(parsed):
            return newest
        last = protocol.versions.aggregate(last=Max("number"))["last"] or 0
        try:
            with transaction.atomic():
                return _insert(protocol, parsed, last + 1, note, by)
        except IntegrityError:
            continue  # another transaction used this number
    raise Conflict("Another person is changing this protocol. Try again.")


def rename_protocol(*, protocol: Protocol, name: str, by: User | None) -> Protocol:
    """Rename a protocol. Raise `Refused` if the name is empty or taken."""
    name, before = _checked_name(name), protocol.name
    if name == before:
        return protocol
    try:
        with transaction.atomic():
            Protocol.objects.filter(pk=protocol.pk).update(name=name)
            record(
                actor=by,
                verb="rename rating protocol",
                obj=protocol,
                project_id=protocol.project_id,
                before={"name": before},
                after={"name": name},
            )
    except IntegrityError as error:
        raise _taken(name) from error
    protocol.name = name
    return protocol


def _insert(protocol: Protocol, content: Content, number: int, note: str, by: User | None) -> ProtocolVersion:
    version = ProtocolVersion.objects.create(
        protocol=protocol, number=number, content=as_json(content), digest=digest(content), note=note, created_by=by
    )
    record(
        actor=by,
        verb="write version of rating protocol",
        obj=version,
        project_id=protocol.project_id,
        after={"protocol": protocol.name, "number": number, "digest": version.digest, "note": note},
    )
    return version


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 80 or "\0" in name:
        raise Refused.field("name", "Expected a name of 1 to 80 characters without NUL.")
    return name


def _taken(name: str) -> Refused:
    return Refused.field(
        "name", f"This project already has a protocol named {name!r}. Choose another name, or add a version to it."
    )


def _check_note(note: str) -> None:
    if len(note) > 300 or "\0" in note:
        raise Refused.field("note", "Expected at most 300 characters without NUL.")


def _check_pace(by: User | None) -> None:
    if by is not None:
        limits.check("LIMIT_PROTOCOLS_PER_DAY", ProtocolVersion.objects.filter(created_by=by))


def free_name(project: Project, name: str) -> str:
    used_names = set(Protocol.objects.filter(project=project).values_list("name", flat=True))
    name = name[:80].strip()
    return next(each for each in (name, *(f"{name[:70]} ({n})" for n in range(2, 1000))) if each not in used_names)
