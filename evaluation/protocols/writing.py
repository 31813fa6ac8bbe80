"""Writing protocols: their versions are written once, and never changed."""

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

#: How often a version's number is taken again where others wrote versions of the protocol at the same moment.
TRIES = 5


def create_protocol(*, project: Project, name: str, content: Any, note: str = "", by: User | None) -> ProtocolVersion:
    """Store a protocol under a name, with ``content`` (JSON) as its first version. `Refused` names what is wrong with
    the content by its path (``content.criteria.0.key``), and a name that is empty or taken."""
    name, parsed = _checked_name(name), parse(content, "content")
    _check_note(note)
    _check_pace(by)
    try:
        with transaction.atomic():
            protocol = Protocol.objects.create(project=project, name=name, kind=parsed.kind, created_by=by)
            record(
                actor=by, verb="write rating protocol", obj=protocol, project_id=project.pk,
                after={"name": name, "kind": parsed.kind},
            )  # fmt: skip
            return _insert(protocol, parsed, 1, note, by)
    except IntegrityError as error:
        raise _taken(name) from error


def write_version(*, protocol: Protocol, content: Any, note: str = "", by: User | None) -> ProtocolVersion:
    """Store ``content`` (JSON) as the next version; the newest one, where it says the same. `Refused` as in
    `create_protocol`; a protocol keeps its kind."""
    parsed = parse(content, "content")
    _check_note(note)
    if parsed.kind != protocol.kind:
        raise Refused.field("content.kind", f"This protocol is of the kind {protocol.kind}: make another one.")
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
            continue  # another version took the number a moment ago
    raise Conflict("Others are writing this protocol at the same moment. Try again.")


def rename_protocol(*, protocol: Protocol, name: str, by: User | None) -> Protocol:
    """Give a protocol another name. `Refused` where it is empty or taken."""
    name, before = _checked_name(name), protocol.name
    if name == before:
        return protocol
    try:
        with transaction.atomic():
            Protocol.objects.filter(pk=protocol.pk).update(name=name)
            record(
                actor=by, verb="rename rating protocol", obj=protocol, project_id=protocol.project_id,
                before={"name": before}, after={"name": name},
            )  # fmt: skip
    except IntegrityError as error:
        raise _taken(name) from error
    protocol.name = name
    return protocol


def _insert(protocol: Protocol, content: Content, number: int, note: str, by: User | None) -> ProtocolVersion:
    version = ProtocolVersion.objects.create(
        protocol=protocol, number=number, content=as_json(content), digest=digest(content), note=note, created_by=by
    )
    record(
        actor=by, verb="write version of rating protocol", obj=version, project_id=protocol.project_id,
        after={"protocol": protocol.name, "number": number, "digest": version.digest, "note": note},
    )  # fmt: skip
    return version


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 80 or "\0" in name:
        raise Refused.field("name", "A name of 1 to 80 characters, without NUL.")
    return name


def _taken(name: str) -> Refused:
    return Refused.field("name", f"This project has a protocol named {name!r} already: make a version of it.")


def _check_note(note: str) -> None:
    if len(note) > 300 or "\0" in note:
        raise Refused.field("note", "At most 300 characters, without NUL.")


def _check_pace(by: User | None) -> None:
    if by is not None:
        limits.check("LIMIT_PROTOCOLS_PER_DAY", ProtocolVersion.objects.filter(created_by=by))


def free_name(project: Project, name: str) -> str:
    taken = set(Protocol.objects.filter(project=project).values_list("name", flat=True))
    return next(each for each in (name, *(f"{name[:70]} ({n})" for n in range(2, 1000))) if each not in taken)
