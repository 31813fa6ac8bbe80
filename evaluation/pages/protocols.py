"""Protocols as pages show them: a fixed number of queries however many there are."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from projects.models import Member, Project
from projects.pages import markdown
from projects.permissions import Names

from ..models import Protocol, ProtocolVersion, RatingDesign
from ..protocols import shipped
from ..protocols.content import as_json, digest, faults_of, gaps, load
from ..protocols.parts import Content
from ..protocols.rules import held_against
from ..protocols.takes import Fault

Json = dict[str, Any]


def protocols(project: Project) -> QuerySet[Protocol]:
    return Protocol.objects.filter(project=project).order_by("id")


def protocol_rows(found: Sequence[Protocol], member: Member) -> list[Json]:
    """Protocols with their versions, the newest first."""
    names = Names(member)
    versions = ProtocolVersion.objects.filter(protocol__in=found).defer("content").select_related("created_by")
    by_protocol: dict[int, list[Json]] = defaultdict(list)
    used = _used(found)
    for version in versions.newest_first():
        by_protocol[version.protocol_id].append(_version(version, names) | {"rounds": used[version.pk]})
    return [
        {
            "id": protocol.pk,
            "name": protocol.name,
            "kind": protocol.kind,
            "created_at": protocol.created_at,
            "versions": by_protocol[protocol.pk],
        }
        for protocol in found
    ]


def _used(found: Sequence[Protocol]) -> dict[int, list[Json]]:
    """The rounds by each version of these protocols, the newest first, by version id. One query."""
    used: dict[int, list[Json]] = defaultdict(list)
    designs = RatingDesign.objects.filter(version__protocol__in=found).order_by("-pk")
    for version, pk, name in designs.values_list("version", "round", "round__name"):
        used[version].append({"id": pk, "name": name})
    return used


def version_page(version: ProtocolVersion, member: Member) -> Json:
    """One version whole, with what keeps a round from opening by it."""
    content = load(version.content)
    return _version(version, Names(member)) | {
        "protocol": version.protocol_id,
        "name": version.protocol.name,
        "project": version.protocol.project.slug,
        "content": as_json(content),
        "instructions_html": markdown.as_html(content.instructions),
        "unready": [_fault(gap) for gap in gaps(content)],
        "versions": list(version.protocol.versions.newest_first().values("id", "number")),
    }


def _version(version: ProtocolVersion, names: Names) -> Json:
    return {
        "id": version.pk,
        "number": version.number,
        "digest": version.digest,
        "note": version.note,
        "by": names.of(version.created_by),
        "created_at": version.created_at,
    }


def checked_page(given: Any) -> Json:
    """What is wrong with a draft, and what would keep a round from opening by it. Stores nothing."""
    faults = faults_of(given)
    content = None if faults else load(given)
    return {
        "faults": [_fault(fault) for fault in faults],
        "unready": [_fault(gap) for gap in gaps(content)] if content else [],
        "content": as_json(content) if content else None,
        "digest": digest(content) if content else "",
        "instructions_html": markdown.as_html(content.instructions) if content else "",
        "scales": _scales(content) if content else {},
    }


def _scales(content: Content) -> dict[str, list[str]]:
    """Of each criterion whose options are held against a scale that is not its own: that scale."""
    found = {each.key: list(held_against(each, content.derives)) for each in content.criteria}
    return {key: scale for key, scale in found.items() if scale}


def templates() -> list[Json]:
    """The protocols to start from."""
    return [
        {
            "key": one.key,
            "name": one.name,
            "about": one.about,
            "kind": one.content.kind,
            "content": as_json(one.content),
        }
        for one in shipped.templates()
    ]


def file_of(version: ProtocolVersion) -> tuple[str, str]:
    """The name of a version's file and its text: the content alone, as it is brought in again anywhere."""
    text = json.dumps(as_json(load(version.content)), ensure_ascii=False, indent=2)
    called = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in version.protocol.name)
    return f"{'-'.join(filter(None, called.lower().split('-'))) or 'protocol'}-v{version.number}.json", f"{text}\n"


def _fault(fault: Fault) -> Json:
    return {"field": fault.path, "message": fault.message}
