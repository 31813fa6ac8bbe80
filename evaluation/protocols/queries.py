"""Queries of the protocol pages. The number of queries is fixed."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from projects.guidelines import markdown
from projects.models import Member, Project
from projects.permissions import Names

from ..models import Protocol, ProtocolVersion, RatingDesign
from . import shipped
from .content import as_json, digest, faults_of, gaps, load
from .parts import Content
from .rules import Fault, held_against

Json = dict[str, Any]


def protocols(project: Project) -> QuerySet[Protocol]:
    return Protocol.objects.filter(project=project).order_by("id")


def protocol_rows(page: Sequence[Protocol], member: Member) -> list[Json]:
    """Return protocols with their versions, newest first."""
    names = Names(member)
    versions = ProtocolVersion.objects.filter(protocol__in=page).defer("content").select_related("created_by")
    by_protocol: dict[int, list[Json]] = defaultdict(list)
    newest: dict[int, int] = {}
    used = _used(page)
    for version in versions.newest_first():
        by_protocol[version.protocol_id].append(_version(version, names) | {"rounds": used[version.pk]})
        newest.setdefault(version.protocol_id, version.pk)
    contents = ProtocolVersion.objects.filter(pk__in=newest.values()).values_list("protocol_id", "content")
    content_of = {protocol: load(content) for protocol, content in contents}
    return [
        {
            "id": protocol.pk,
            "name": protocol.name,
            "kind": protocol.kind,
            "created_at": protocol.created_at,
            "criteria": len(content_of[protocol.pk].criteria),
            "is_ready": not gaps(content_of[protocol.pk]),
            "versions": by_protocol[protocol.pk],
        }
        for protocol in page
    ]


def _used(page: Sequence[Protocol]) -> dict[int, list[Json]]:
    """Return the rounds of each version, newest first, by version id. Runs one query."""
    used: dict[int, list[Json]] = defaultdict(list)
    designs = RatingDesign.objects.filter(version__protocol__in=page).order_by("-pk")
    for version, pk, name in designs.values_list("version", "round", "round__name"):
        used[version].append({"id": pk, "name": name})
    return used


def version_page(version: ProtocolVersion, member: Member) -> Json:
    """Return one version with its content, and with what is missing before a round can be opened."""
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


def checked_page(draft: Any) -> Json:
    """Return the faults of a draft, and what is missing before a round can be opened. Stores nothing."""
    faults = faults_of(draft)
    content = None if faults else load(draft)
    return {
        "faults": [_fault(fault) for fault in faults],
        "unready": [_fault(gap) for gap in gaps(content)] if content else [],
        "content": as_json(content) if content else None,
        "digest": digest(content) if content else "",
        "instructions_html": markdown.as_html(content.instructions) if content else "",
        "scales": _scales(content) if content else {},
    }


def _scales(content: Content) -> dict[str, list[str]]:
    """Return the target scale of each criterion whose options are compared with another scale."""
    scales = {each.key: list(held_against(each, content.derives)) for each in content.criteria}
    return {key: scale for key, scale in scales.items() if scale}


def templates() -> list[Json]:
    """Return the protocol templates."""
    return [
        {
            "key": template.key,
            "name": template.name,
            "about": template.about,
            "kind": template.content.kind,
            "content": as_json(template.content),
        }
        for template in shipped.templates()
    ]


def file_of(version: ProtocolVersion) -> tuple[str, str]:
    """Return the name and text of a version's file. It contains only the content, and any project can import it."""
    text = json.dumps(as_json(load(version.content)), ensure_ascii=False, indent=2)
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in version.protocol.name)
    return f"{'-'.join(filter(None, name.lower().split('-'))) or 'protocol'}-v{version.number}.json", f"{text}\n"


def _fault(fault: Fault) -> Json:
    return {"field": fault.path, "message": fault.message}
