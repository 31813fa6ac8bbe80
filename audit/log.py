"""Writing the log: one entry an act, in the transaction of the act itself."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models
from django.utils import timezone

from .digests import canonical, digest_of
from .models import Entry

#: The act by which a person takes a row out for good; a row that is gone without it was deleted past the application.
REMOVE = "remove"
#: The act that adds to a row what it lacked (``audit.witness.completed``).
COMPLETE = "complete"


def record(
    *,
    actor: AbstractBaseUser | None,
    verb: str,
    obj: models.Model | None = None,
    object_type: str = "",
    object_id: object = "",
    project_id: int | None = None,
    before: Any = None,
    after: Any = None,
    reason: str = "",
) -> Entry:
    """Write down one act, inside the caller's transaction, so that act and entry exist together or not at all.

    ``obj`` gives type (its model's name, ``"round"``) and id; without it name them. ``before`` and ``after`` are
    JSON-able, times allowed. Never hand secrets in: the log is kept for good.
    """
    entry = _entry(
        actor=actor, verb=verb, obj=obj, object_type=object_type, object_id=object_id, project_id=project_id,
        before=before, after=after, reason=reason,
    )  # fmt: skip
    entry.save(force_insert=True)
    return entry


def record_all(acts: Iterable[dict[str, Any]]) -> list[Entry]:
    """Write down many acts, each with the keywords of `record`, in one statement."""
    return Entry.objects.bulk_create([_entry(**act) for act in acts], batch_size=500)


def _entry(
    *,
    actor: AbstractBaseUser | None,
    verb: str,
    obj: models.Model | None = None,
    object_type: str = "",
    object_id: object = "",
    project_id: int | None = None,
    before: Any = None,
    after: Any = None,
    reason: str = "",
) -> Entry:
    if obj is not None:
        object_type, object_id = str(obj._meta.model_name), obj.pk
    if not object_type:
        raise ValueError("An entry names its object, by obj or by object_type and object_id.")
    entry = Entry(
        at=timezone.now(),
        actor_id=actor.pk if actor is not None else None,
        project=project_id,
        verb=verb,
        object_type=object_type,
        object_id=str(object_id),
        before=as_stored(before),
        after=as_stored(after),
        reason=reason,
    )
    entry.digest = digest_of(entry_content(entry))
    return entry


def entry_content(entry: Entry) -> dict[str, Any]:
    """The content whose digest is the entry's leaf."""
    return {
        "at": entry.at,
        "actor": entry.actor_id,
        "project": entry.project,
        "verb": entry.verb,
        "object_type": entry.object_type,
        "object_id": entry.object_id,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
    }


def entry_contents(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [entry_content(entry) for entry in entries]


def as_stored(value: Any) -> Any:
    """The value as every data base gives it back. PostgreSQL prints whole numbers its own way: 1e22 comes back as an
    integer, -0.0 as 0.0; whole floats are therefore stored as integers, or the digest could not be computed again."""
    if value is None:
        return None
    return _whole(json.loads(canonical(value)))


def _whole(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_whole(v) for v in value]
    if isinstance(value, dict):
        return {k: _whole(v) for k, v in value.items()}
    return value


def changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of two states of one object, what differs: (before, after)."""
    keys = [k for k in after if before.get(k) != after[k]]
    return {k: before.get(k) for k in keys}, {k: after[k] for k in keys}
