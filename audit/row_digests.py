"""Integrity tracking of rows that have no digest column.

An app registers a model with `track` in its ``AppConfig.ready``. Before each audit checkpoint, `store_pending_digests`
stores the digests of new rows in `RowDigest` rows, several hundred per row. The checkpoint covers them like other
leaves. The code that writes the tracked rows does not change, and rows from earlier versions are covered from their
first checkpoint on. Columns that may change are excluded. A `RowDigest` stores the names of its columns, so that a
column that a later version adds does not invalidate it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import IntegrityError, models, transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from sql.batches import ids_of

from .digests import digest_of
from .log import COMPLETE, REMOVE, record_all
from .models import Entry, RowDigest

#: Maximum number of rows in one `RowDigest`.
BATCH = 500
#: Longer than any transaction: a row that appears among ids digested before this time was inserted afterwards.
SETTLED = timedelta(days=1)
#: Types of values that all databases return in the same form.
SIMPLE = frozenset({str, int, bool, type(None)})
#: Returns immutable related data of some rows as plain values, in the order of the rows.
Part = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class TrackedModel:
    """A tracked model: its columns except those that may change, and related data (``parts``).

    Digests and their labels are never rewritten. After a rename, ``label`` is the first label of the model, and
    ``renamed`` maps the attribute of a column to the first name of the column.
    """

    label: str
    model: type[models.Model]
    but: frozenset[str] = frozenset()
    parts: Mapping[str, Part] = field(default_factory=dict)
    batch: int = BATCH
    #: If set, only these columns are tracked, and only for rows that the app passes to `store_digests`.
    only: tuple[str, ...] = ()
    #: Condition of tracked rows. Other rows may be deleted, or be tracked later with lower ids (see `store_digests`).
    when: models.Q = field(default_factory=models.Q)
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """Return the attribute of each column, by the name that digests use."""
        attributes = [f.attname for f in self.model._meta.concrete_fields if not f.primary_key]
        return {self.renamed.get(attribute, attribute): attribute for attribute in attributes}

    @property
    def object_types(self) -> set[str]:
        """Return the current and the first name of the model: the types of its entries in the audit log."""
        first_name = self.label.rpartition(".")[2]
        return {str(self.model._meta.model_name)} | (set() if self.only else {first_name})

    @property
    def names(self) -> list[str]:
        """Return the columns and parts that a new `RowDigest` covers."""
        if self.only:
            return list(self.only)
        names = [name for name, attribute in self.columns.items() if attribute not in self.but]
        return names + sorted(self.parts)

    @property
    def rows(self) -> QuerySet[Any]:
        return self.model._default_manager.filter(self.when).order_by("pk")

    def name(self, pk: int) -> str:
        return f"{self.model._meta.label_lower} {pk}"

    def digests(self, ids: Sequence[int], names: Sequence[str]) -> dict[int, str]:
        """Return the digest of each existing row. Uses a fixed number of queries."""
        attributes = {name: self.columns[name] for name in names if name not in self.parts}
        found = self.rows.filter(pk__in=ids)
        if len(attributes) == len(names):
            # Instances would take most of the time.
            return {
                pk: digest_of({name: _plain(value) for name, value in zip(attributes, values, strict=True)})
                for pk, *values in found.values_list("pk", *attributes.values())
            }
        rows = list(found.only("pk", *attributes.values()))
        parts = {name: self.parts[name](rows) for name in names if name in self.parts}
        return {
            row.pk: digest_of(
                {name: _plain(getattr(row, attribute)) for name, attribute in attributes.items()}
                | {name: _plain(values[n]) for name, values in parts.items()}
            )
            for n, row in enumerate(rows)
        }

    def knows(self, names: Sequence[str]) -> bool:
        """Return whether this version has all columns and parts of a `RowDigest`."""
        return set(names) <= set(self.columns) | set(self.parts)


_tracked: dict[str, TrackedModel] = {}


def track(
    model: type[models.Model],
    *,
    but: Sequence[str] = (),
    parts: Mapping[str, Part] | None = None,
    batch: int = BATCH,
    only: Sequence[str] = (),
    label: str = "",
    when: models.Q | None = None,
    renamed: Mapping[str, str] | None = None,
) -> None:
    """Track the rows of a model, whose ids must be increasing numbers.

    ``but``: columns that may change. ``batch``: rows per `RowDigest`; use fewer for large rows. ``only`` (which needs
    its own ``label``), ``when`` and ``renamed`` (with the ``label`` before a rename of the model): see `TrackedModel`.
    """
    tracked = TrackedModel(
        label or model._meta.label_lower,
        model,
        frozenset(but),
        parts or {},
        batch,
        tuple(only),
        when or models.Q(),
        renamed or {},
    )
    if tracked.label in _tracked:
        raise ValueError(f"The integrity of {tracked.label} is already tracked.")
    unknown = (tracked.but | set(tracked.renamed)) - {f.attname for f in model._meta.concrete_fields}
    if unknown:
        raise ValueError(f"{tracked.label} has no columns named {', '.join(sorted(unknown))}.")
    _tracked[tracked.label] = tracked


def tracked_models() -> list[TrackedModel]:
    """Return the models whose rows are tracked automatically."""
    return [_tracked[label] for label in sorted(_tracked) if not _tracked[label].only]


def tracked_model(label: str) -> TrackedModel | None:
    return _tracked.get(label)


def _plain(value: Any) -> Any:
    """Return the value in a form that is equal on all databases and that canonical JSON accepts."""
    if type(value) in SIMPLE:
        return value
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, float):
        if value - value != 0:
            return repr(value)  # JSON has no infinities and no NaN
        return int(value) if value.is_integer() else value
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return value


def store_pending_digests(now: datetime | None = None) -> int:
    """Store the digests of all new rows, and return their number.

    Each batch has its own short transaction. The rows do not change, so they are read before it.
    """
    now = now or timezone.now()
    digested = _digested_ids(now)
    return sum(
        _store_new_digests(tracked, _undigested(tracked, digested.get(tracked.label)), now)
        for tracked in tracked_models()
    )


def store_digests(label: str, rows: QuerySet[Any]) -> int:
    """Store the digests of these rows under a label, once, and return the number of rows.

    Used for rows that become immutable at a time that the app knows.
    """
    tracked, now = _tracked[label], timezone.now()
    _store_new_digests(tracked, undigested_among(tracked, rows), now)
    return rows.count()


def record_completed(model: type[models.Model], ids: Sequence[int], *, by: Any, project: int) -> None:
    """Log the digests of rows that the application has just changed, in the same transaction.

    A row may differ from its `RowDigest` if the newest of these entries has its digest.
    """
    tracked = next(t for t in tracked_models() if t.model is model)
    names = tracked.names
    for batch in _batches(iter(sorted(ids)), BATCH):
        record_all(
            {
                "actor": by,
                "verb": COMPLETE,
                "object_type": model._meta.model_name,
                "object_id": pk,
                "project_id": project,
                "after": {"names": names, "digest": digest},
            }
            for pk, digest in tracked.digests(batch, names).items()
        )


def _store_new_digests(tracked: TrackedModel, ids_iterator: Iterator[int], now: datetime) -> int:
    count = 0
    for ids in _batches(ids_iterator, tracked.batch):
        names = tracked.names
        digests = tracked.digests(ids, names)
        if not digests:
            continue  # deleted in the meantime
        row_digest = RowDigest.of(tracked.label, names, digests, now)
        try:
            with transaction.atomic():
                row_digest.save(force_insert=True)
        except IntegrityError:
            continue  # another worker has just stored them
        count += row_digest.count
    return count


def _digested_ids(now: datetime) -> dict[str, tuple[int, int]]:
    """Return (highest id, highest settled id) with a digest, by label.

    A settled id was digested so long ago that no lower id can still appear; 0 if there is none. One query for all
    tables, because most have no new rows.
    """
    settled = Max("last", filter=Q(made_at__lt=now - SETTLED), default=0)
    highest_ids = RowDigest.objects.order_by().values_list("label").annotate(Max("last"), settled=settled)
    return {label: (last, before) for label, last, before in highest_ids}


def _undigested(tracked: TrackedModel, digested: tuple[int, int] | None) -> Iterator[int]:
    """Yield ids without a digest: new ids, and ids of transactions that committed after a higher id was digested."""
    highest, settled = digested or (0, 0)
    if highest > settled:
        row_digests = RowDigest.objects.filter(label=tracked.label, first__gt=settled)
        expected_count = sum(row_digests.values_list("count", flat=True))
        if tracked.rows.filter(pk__gt=settled, pk__lte=highest).count() != expected_count:
            yield from undigested_among(tracked, tracked.rows.filter(pk__gt=settled, pk__lte=highest))
    yield from ids_of(tracked.rows.filter(pk__gt=highest))


def undigested_among(tracked: TrackedModel, rows: QuerySet[Any]) -> Iterator[int]:
    """Yield the ids of these rows that have no digest."""
    for ids in _batches(iter(ids_of(rows.order_by("pk"))), 2000):
        row_digests = RowDigest.objects.filter(label=tracked.label, first__lte=ids[-1], last__gte=ids[0])
        known = {int(pk) for digests in row_digests.values_list("digests", flat=True) for pk in digests}
        yield from (pk for pk in ids if pk not in known)


def count_undigested() -> int:
    """Return the approximate number of rows without a digest: those above the highest id with one."""
    highest_ids = dict(RowDigest.objects.order_by().values_list("label").annotate(last=Max("last")))
    return sum(w.rows.filter(pk__gt=highest_ids.get(w.label, 0)).count() for w in tracked_models())


def _batches(ids: Iterator[int], size: int) -> Iterator[list[int]]:
    while batch := list(islice(ids, size)):
        yield batch


def differences(row_digest: RowDigest) -> Iterator[tuple[str, str]]:
    """Yield (row, message) for each row that differs from its digest in this `RowDigest`."""
    tracked = tracked_model(row_digest.label)
    if tracked is None or not tracked.knows(row_digest.names):
        yield (
            f"audit.rowdigest {row_digest.pk}",
            f"this version of Concord lacks columns of {row_digest.label} that the digests cover",
        )
        return
    ids = [int(pk) for pk in row_digest.digests]
    digests = tracked.digests(ids, row_digest.names)
    missing = [pk for pk in ids if pk not in digests]
    removed_ids = _removed_ids(tracked, missing)
    completed_ids = _completed_ids(tracked, [pk for pk in digests if digests[pk] != row_digest.digests[str(pk)]])
    for pk in ids:
        if pk in missing:
            if pk not in removed_ids:
                yield tracked.name(pk), "the row is missing"
        elif digests[pk] != row_digest.digests[str(pk)] and pk not in completed_ids:
            yield tracked.name(pk), "the row has changed since its digest was stored"


def _removed_ids(tracked: TrackedModel, ids: Sequence[int]) -> set[int]:
    """Return the ids of rows whose removal is in the audit log."""
    if not ids:
        return set()
    entries = Entry.objects.filter(
        object_type__in=tracked.object_types, object_id__in=[str(pk) for pk in ids], verb=REMOVE
    )
    return {int(pk) for pk in entries.values_list("object_id", flat=True)}


def _completed_ids(tracked: TrackedModel, ids: Sequence[int]) -> set[int]:
    """Return the ids of rows that equal their newest "complete" entry in the audit log."""
    if not ids:
        return set()
    entries = Entry.objects.filter(
        object_type__in=tracked.object_types, object_id__in=[str(pk) for pk in ids], verb=COMPLETE
    )
    newest: dict[int, Any] = {
        int(pk): content for pk, content in entries.order_by("pk").values_list("object_id", "after")
    }
    return {
        pk
        for pk, content in newest.items()
        if tracked.knows(content["names"]) and tracked.digests([pk], content["names"]).get(pk) == content["digest"]
    }


def late_rows(now: datetime) -> Iterator[tuple[str, str]]:
    """Yield (row, message) for rows that were inserted between ids that were settled before."""
    digested = _digested_ids(now)
    for tracked in tracked_models():
        _, settled = digested.get(tracked.label, (0, 0))
        for pk in undigested_among(tracked, tracked.rows.filter(pk__lte=settled)):
            yield tracked.name(pk), "the row was inserted among rows that already had digests"


def row_digest_contents(rows: Sequence[RowDigest]) -> list[dict[str, Any]]:
    return [row.content() for row in rows]
