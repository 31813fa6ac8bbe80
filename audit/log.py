"""Writing of the audit log: one entry per action, in the transaction of the action."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models
from django.utils import timezone

from .digests import canonical, digest_of
from .models import Entry

#: Verb of a permanent removal by a user. A missing row without this entry was deleted outside the application.
REMOVE = "remove"
#: Verb of a change that adds missing values to a row (`audit.row_digests.record_completed`).
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
    pk: int | None = None,
    at: datetime | None = None,
) -> Entry:
    """Log an action in the caller's transaction, so that both are stored or neither.

    ``obj`` provides the type (its model's name, such as ``"round"``) and id; alternatively pass ``object_type`` and
    ``object_id``. ``before`` and ``after`` are JSON values or times. They must not contain secrets, because entries are
    permanent. ``pk``: a reserved id. ``at``: the time of the action, for rows that were prepared before the
    transaction; the default is now.
    """
    entry = _build_entry(
        actor=actor,
        verb=verb,
        obj=obj,
        object_type=object_type,
        object_id=object_id,
        project_id=project_id,
        before=before,
        after=after,
        reason=reason,
        at=at,
    )
    entry.pk = pk
    entry.save(force_insert=True)
    return entry


def record_all(acts: Iterable[dict[str, Any]]) -> list[Entry]:
    """Log many actions, each with the keyword arguments of `record`, in bulk."""
    return Entry.objects.bulk_create([_build_entry(**act) for act in acts], batch_size=500)


def _build_entry(
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
    at: datetime | None = None,
) -> Entry:
    if obj is not None:
        object_type, object_id = str(obj._meta.model_name), obj.pk
    if not object_type:
        raise ValueError("An audit entry needs obj, or object_type and object_id.")
    entry = Entry(
        at=at or timezone.now(),
        actor_id=actor.pk if actor is not None else None,
        project=project_id,
        verb=verb,
        object_type=object_type,
        object_id=str(object_id),
        before=normalize_json(before),
        after=normalize_json(after),
        reason=reason,
    )
    entry.digest = digest_of(entry_content(entry))
    return entry


def entry_content(entry: Entry) -> dict[str, Any]:
    """Return the content that the digest of an entry covers."""
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


def normalize_json(value: Any) -> Any:
    """Return a value as every database returns it, so that its digest can be recomputed.

    PostgreSQL returns 1e22 as an integer and -0.0 as 0.0. Whole floats are therefore stored as integers.
    """
    if value is None:
        return None
    return _integers_for_whole_floats(json.loads(canonical(value)))


def _integers_for_whole_floats(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_integers_for_whole_floats(v) for v in value]
    if isinstance(value, dict):
        return {k: _integers_for_whole_floats(v) for k, v in value.items()}
    return value


def changed_values(before: dict[str, Any], after: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys and values that differ between two states, as (before, after)."""
    keys = [k for k in after if before.get(k) != after[k]]
    return {k: before.get(k) for k in keys}, {k: after[k] for k in keys}
