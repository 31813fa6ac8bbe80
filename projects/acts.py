"""Idempotent writes: requests that a client may send twice."""

import uuid as uuids
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from api.problems import Conflict, UuidReused

from .models import Act, Member

Json = dict[str, Any]
#: Attempts per write if concurrent writes cause integrity errors.
TRIES = 3


@dataclass(frozen=True)
class Request:
    """The identifier that a client gave one write, and the digest of its address and body."""

    uuid: uuids.UUID
    digest: str


def digest_of(address: str, body: bytes) -> str:
    """Return the SHA-256 of a request.

    The address is part of it, so the same body sent elsewhere has another digest.
    """
    return sha256(address.encode() + b"\n" + body).hexdigest()


def run_once(request: Request, *, by: Member, verb: str, work: Callable[[], Json]) -> Json:
    """Run ``work`` once for a request and return its result; a repeated request returns the stored result.

    The `Act` row and the changes of ``work`` share one transaction. ``work`` returns ids and other plain values. Raise
    `UuidReused` if the identifier was used for a different request. Raise `Conflict` as `retry_on_conflict` does.
    """

    def store_act() -> Json:
        if (stored := _replayed(request, by)) is not None:
            return stored
        act = Act.objects.create(
            uuid=request.uuid,
            project_id=by.project_id,
            member=by,
            verb=verb,
            body_digest=request.digest,
            at=timezone.now(),
        )
        result = work()
        Act.objects.filter(pk=act.pk).update(result=result)
        return result

    return _replayed(request, by) or retry_on_conflict(store_act)


def retry_on_conflict(work: Callable[[], Json]) -> Json:
    """Run ``work`` in a transaction and return its result.

    On an integrity error run it again: two decisions on different studies of one target are no conflict. Raise
    `Conflict` after `TRIES` failed attempts.
    """
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                return work()
        except IntegrityError:
            continue
    raise Conflict("Somebody else changed this at the same moment. Reload the page, then try again.")


def _replayed(request: Request, by: Member) -> Json | None:
    stored = Act.objects.filter(pk=request.uuid).first()
    if stored is None:
        return None
    if stored.member_id != by.pk or stored.body_digest != request.digest:
        raise UuidReused("This UUID was already used for a different request. Nothing was stored. Send a new UUID.")
    return dict(stored.result)
