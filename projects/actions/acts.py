"""Carrying out once what a client may send twice."""

import uuid as uuids
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from api.problems import Conflict, UuidReused

from ..models import Act, Member

Json = dict[str, Any]
#: How often an act is tried where others write what it clashes with.
TRIES = 3


@dataclass(frozen=True)
class Request:
    """How a client names one write: its identifier, and the digest of what it sent and where."""

    uuid: uuids.UUID
    digest: str


def digest_of(address: str, body: bytes) -> str:
    """SHA-256 of a request: the same body sent to another address is another request."""
    return sha256(address.encode() + b"\n" + body).hexdigest()


def once(request: Request, *, by: Member, verb: str, work: Callable[[], Json]) -> Json:
    """What ``work`` makes, in one transaction with the note that it was done; or what it made the first time.

    ``work`` returns ids and other plain values. Raises `UuidReused` for anything else under the same identifier, and
    `Conflict` where somebody else wrote the same thing a moment ago.
    """

    def noted() -> Json:
        if (stored := _replayed(request, by)) is not None:
            return stored
        act = Act.objects.create(
            uuid=request.uuid, project_id=by.project_id, member=by, verb=verb, body_digest=request.digest,
            at=timezone.now(),
        )  # fmt: skip
        result = work()
        Act.objects.filter(pk=act.pk).update(result=result)
        return result

    return _replayed(request, by) or again(noted)


def again(work: Callable[[], Json]) -> Json:
    """What ``work`` makes, in one transaction; done anew where others wrote what it clashes with at this moment: two
    who decide of two studies of one target are no conflict. `Conflict` where that does not end."""
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                return work()
        except IntegrityError:
            continue
    raise Conflict("Someone else has changed the same thing a moment ago. Reload the page to see it.")


def _replayed(request: Request, by: Member) -> Json | None:
    stored = Act.objects.filter(pk=request.uuid).first()
    if stored is None:
        return None
    if stored.member_id != by.pk or stored.body_digest != request.digest:
        raise UuidReused("This identifier was used for something else. Nothing was stored or changed.")
    return dict(stored.result)
