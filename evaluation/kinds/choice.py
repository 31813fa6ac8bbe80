"""The protocol that a rating round asks for: a version of the project, or one that ships with Concord."""

from projects.models import Project, Round

from ..models import ProtocolVersion
from ..protocols import content as protocol_content
from ..protocols import shipped
from ..protocols.actions import create_protocol, free_name, write_version
from ..protocols.parts import Content
from ..protocols.parts import Kind as ProtocolKey

PROTOCOL = "protocol"
SHIPPED = "shipped:"
SHIPS = "Ships with Concord."


def protocols(project: Project, kind: ProtocolKey) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the values of the choice and their names."""
    found: dict[str, str] = {}
    versions = ProtocolVersion.objects.filter(protocol__project=project, protocol__kind=kind)
    for pk, name, number in versions.order_by("protocol", "-number").values_list("pk", "protocol__name", "number"):
        found[str(pk)] = f"{name}, version {number}"
    for template in shipped.templates():
        if template.content.kind == kind:
            found[SHIPPED + template.key] = f"{template.name} (ships with Concord)"
    return tuple(found), tuple(found.values())


def content(asked: str) -> Content:
    """Return the content of a chosen protocol, before a round freezes it."""
    if asked.startswith(SHIPPED):
        return shipped.get(asked.removeprefix(SHIPPED)).content
    return protocol_content.load(ProtocolVersion.objects.values_list("content", flat=True).get(pk=int(asked)))


def freeze(round: Round, kind: ProtocolKey) -> ProtocolVersion:
    """Return the version that a round freezes: one of the project's, or a shipped one, which the project copies.

    A newer edition of a shipped protocol becomes the next version of the copy. Rounds keep their version.
    """
    asked = str(round.options[PROTOCOL])
    if not asked.startswith(SHIPPED):
        return ProtocolVersion.objects.get(pk=int(asked), protocol__project=round.project)
    template = shipped.get(asked.removeprefix(SHIPPED))
    digest = protocol_content.digest(template.content)
    version = ProtocolVersion.objects.filter(protocol__project=round.project, digest=digest).order_by("pk").first()
    if version:
        return version
    content = protocol_content.as_json(template.content)
    copies = ProtocolVersion.objects.filter(
        protocol__project=round.project, protocol__name=template.name, protocol__kind=kind, number=1, note=SHIPS
    ).select_related("protocol")
    if copy := copies.first():
        return write_version(protocol=copy.protocol, content=content, note=SHIPS, by=round.created_by)
    return create_protocol(
        project=round.project,
        name=free_name(round.project, template.name),
        content=content,
        note=SHIPS,
        by=round.created_by,
    )
