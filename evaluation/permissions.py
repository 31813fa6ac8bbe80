"""Who may reach protocols. Whoever rates is given a protocol's content with what there is to rate, and nothing here."""

from typing import TypeVar

from accounts.models import User
from api.problems import NotFound
from projects.models import Member
from projects.permissions import member_in, member_of, permit

from .models import Protocol, ProtocolVersion

_Row = TypeVar("_Row")
READ, WRITE = "read rounds", "write rating protocols"


def reader_of(user: User, slug: str) -> Member:
    """The membership of someone who may read a project's protocols."""
    member = member_of(user, slug)
    permit(member, READ)
    return member


def writer_of(user: User, slug: str) -> Member:
    """The membership of someone who may write protocols."""
    member = member_of(user, slug)
    permit(member, WRITE)
    return member


def protocol_of(user: User, pk: int, verb: str = READ) -> tuple[Protocol, Member]:
    """A protocol and the user's membership of its project; by default any reader's."""
    found = Protocol.objects.select_related("project").filter(pk=pk).first()
    return _given(found), _member(user, found.project_id if found else None, verb)


def version_of(user: User, pk: int, verb: str = READ) -> tuple[ProtocolVersion, Member]:
    found = ProtocolVersion.objects.select_related("protocol__project", "created_by").filter(pk=pk).first()
    return _given(found), _member(user, found.protocol.project_id if found else None, verb)


def _given(found: _Row | None) -> _Row:
    if found is None:
        raise NotFound("There is nothing here that you may see.")
    return found


def _member(user: User, project_id: int | None, verb: str) -> Member:
    member = member_in(user, project_id)
    permit(member, verb)
    return member
