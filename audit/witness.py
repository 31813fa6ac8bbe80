"""Rows without a digest of their own, witnessed: before a seal is made, what they say is digested beside them.

An app *watches* a model in its ``AppConfig.ready``. The sealer then writes, for rows that have none yet, `Witness` rows
with the digest of each, some hundred in one; they are sealed like every leaf. Nothing is asked of the code that writes
the rows, and those of an earlier version are covered from their first seal on. Columns that may change are named, and
what a witness covers stands in it, so that a column which a later version adds breaks no old one.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import IntegrityError, models, transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from .digests import digest_of
from .log import COMPLETE, REMOVE, record_all
from .models import Entry, Witness

#: How many rows one witness has at most.
BATCH = 500
#: No transaction is open for so long: a row that appears among ids witnessed earlier was not there then.
SETTLED = timedelta(days=1)
#: What hangs on some rows, as plain values in their order: of what never changes once the row is there.
Part = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class Watch:
    """A model whose rows are witnessed: its columns but those that may change, and the parts that hang on them."""

    label: str
    model: type[models.Model]
    but: frozenset[str] = frozenset()
    parts: Mapping[str, Part] = field(default_factory=dict)
    batch: int = BATCH
    #: Columns alone that are witnessed, of rows that the app hands over itself (`take`); else every row is, in passing.
    only: tuple[str, ...] = ()
    #: Which rows are witnessed; others may still go, and come later with ids from before (see `take`).
    when: models.Q = field(default_factory=models.Q)

    @property
    def names(self) -> list[str]:
        """What a witness of today covers: columns, then parts."""
        if self.only:
            return list(self.only)
        columns = [f.attname for f in self.model._meta.concrete_fields if not f.primary_key]
        return [name for name in columns if name not in self.but] + sorted(self.parts)

    @property
    def rows(self) -> QuerySet[Any]:
        return self.model._default_manager.filter(self.when).order_by("pk")

    def name(self, pk: int) -> str:
        return f"{self.model._meta.label_lower} {pk}"

    def digests(self, ids: Sequence[int], names: Sequence[str]) -> dict[int, str]:
        """The digest of each row that is there. A fixed number of queries."""
        columns = [name for name in names if name not in self.parts]
        rows = list(self.rows.filter(pk__in=ids).only("pk", *columns))
        parts = {name: self.parts[name](rows) for name in names if name in self.parts}
        return {
            row.pk: digest_of(
                {c: _plain(getattr(row, c)) for c in columns}
                | {name: _plain(found[n]) for name, found in parts.items()}
            )
            for n, row in enumerate(rows)
        }

    def knows(self, names: Sequence[str]) -> bool:
        """Whether this version has all that a witness covers."""
        return set(names) <= {f.attname for f in self.model._meta.concrete_fields} | set(self.parts)


_watches: dict[str, Watch] = {}


def watch(
    model: type[models.Model],
    *,
    but: Sequence[str] = (),
    parts: Mapping[str, Part] | None = None,
    batch: int = BATCH,
    only: Sequence[str] = (),
    label: str = "",
    when: models.Q | None = None,
) -> None:
    """Have a model's rows witnessed; their ids are numbers that grow. ``but``: columns that may change. ``batch``:
    fewer at a time where rows are large. ``only``, with a ``label`` of its own, ``when``: see `Watch` and `take`."""
    watched = Watch(
        label or model._meta.label_lower, model, frozenset(but), parts or {}, batch, tuple(only), when or models.Q()
    )  # fmt: skip
    if watched.label in _watches:
        raise ValueError(f"{watched.label} is watched twice.")
    unknown = watched.but - {f.attname for f in model._meta.concrete_fields}
    if unknown:
        raise ValueError(f"{watched.label} has no columns {', '.join(sorted(unknown))}.")
    _watches[watched.label] = watched


def watches() -> list[Watch]:
    """Those whose rows are witnessed in passing."""
    return [_watches[label] for label in sorted(_watches) if not _watches[label].only]


def watch_named(label: str) -> Watch | None:
    return _watches.get(label)


def _plain(value: Any) -> Any:
    """As every data base gives it back, and canonical JSON takes it."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, float):
        if value - value != 0:
            return repr(value)  # no JSON has infinities
        return int(value) if value.is_integer() else value
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return value


def witness_pending(now: datetime | None = None) -> int:
    """Witness every row that has no witness yet; how many. Each batch is a short transaction of its own: the rows do
    not change, so they are read before it."""
    now = now or timezone.now()
    marks = _marks(now)
    return sum(_witness(watched, _unwitnessed(watched, marks.get(watched.label)), now) for watched in watches())


def take(label: str, rows: QuerySet[Any]) -> int:
    """Witness these rows under a label, once; how many they are. For what settles at a moment that the app knows."""
    watched, now = _watches[label], timezone.now()
    _witness(watched, unwitnessed_among(watched, rows), now)
    return rows.count()


def completed(model: type[models.Model], ids: Sequence[int], *, by: Any, project: int) -> None:
    """Write down that rows got what they lacked, as they are now, in the transaction that changed them: a row may
    differ from its witness where the log says how it came to be so."""
    watched = _watches[model._meta.label_lower]
    names = watched.names
    for some in _batches(iter(sorted(ids)), BATCH):
        record_all(
            {
                "actor": by, "verb": COMPLETE, "object_type": model._meta.model_name, "object_id": pk,
                "project_id": project, "after": {"names": names, "digest": digest},
            }
            for pk, digest in watched.digests(some, names).items()
        )  # fmt: skip


def _witness(watched: Watch, new: Iterator[int], now: datetime) -> int:
    count = 0
    for ids in _batches(new, watched.batch):
        names = watched.names
        digests = watched.digests(ids, names)
        if not digests:
            continue  # taken out meanwhile
        made = Witness.of(watched.label, names, digests, now)
        try:
            with transaction.atomic():
                made.save(force_insert=True)
        except IntegrityError:
            continue  # another sealer has just witnessed them
        count += made.count
    return count


def _marks(now: datetime) -> dict[str, tuple[int, int]]:
    """By label, the highest id that has a witness, and the highest witnessed so long ago that no earlier one can still
    appear (0 where there is none): asked once for all tables, of which most have nothing new."""
    settled = Max("last", filter=Q(made_at__lt=now - SETTLED), default=0)
    found = Witness.objects.order_by().values_list("watched").annotate(Max("last"), settled=settled)
    return {label: (last, before) for label, last, before in found}


def _unwitnessed(watched: Watch, marks: tuple[int, int] | None) -> Iterator[int]:
    """Ids without a witness: the newest, and those of transactions that ended after a later id was witnessed."""
    mark, settled = marks or (0, 0)
    if mark > settled:
        mine = Witness.objects.filter(watched=watched.label, first__gt=settled)
        recent = sum(mine.values_list("count", flat=True))
        if watched.rows.filter(pk__gt=settled, pk__lte=mark).count() != recent:
            yield from unwitnessed_among(watched, watched.rows.filter(pk__gt=settled, pk__lte=mark))
    yield from _ids(watched.rows.filter(pk__gt=mark))


def unwitnessed_among(watched: Watch, rows: QuerySet[Any]) -> Iterator[int]:
    """Of these rows, the ids that no witness has."""
    for ids in _batches(iter(_ids(rows)), 2000):
        there = Witness.objects.filter(watched=watched.label, first__lte=ids[-1], last__gte=ids[0])
        known = {int(pk) for digests in there.values_list("digests", flat=True) for pk in digests}
        yield from (pk for pk in ids if pk not in known)


def _ids(rows: QuerySet[Any]) -> "array[int]":
    """The ids in order, eight bytes each, all read before the first is used: on SQLite a connection that has read part
    of its rows, and on which anybody else has written since, cannot write ("database is locked")."""
    return array("q", rows.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=2000))


def waiting() -> int:
    """About how many rows have no witness yet: those above the highest that has one."""
    marks = dict(Witness.objects.order_by().values_list("watched").annotate(last=Max("last")))
    return sum(w.rows.filter(pk__gt=marks.get(w.label, 0)).count() for w in watches())


def _batches(ids: Iterator[int], size: int) -> Iterator[list[int]]:
    while batch := list(islice(ids, size)):
        yield batch


def differences(made: Witness) -> Iterator[tuple[str, str]]:
    """(row, what is wrong with it) for the rows of one witness."""
    watched = watch_named(made.watched)
    if watched is None or not watched.knows(made.names):
        yield f"witness {made.pk}", f"this version does not know all that it covers of {made.watched}"
        return
    ids = [int(pk) for pk in made.digests]
    found = watched.digests(ids, made.names)
    gone = [pk for pk in ids if pk not in found]
    removed = _removed(watched, gone)
    completed = _as_completed(watched, [pk for pk in found if found[pk] != made.digests[str(pk)]])
    for pk in ids:
        if pk in gone:
            if pk not in removed:
                yield watched.name(pk), "it is gone"
        elif found[pk] != made.digests[str(pk)] and pk not in completed:
            yield watched.name(pk), "it is not as it was when it was sealed"


def _removed(watched: Watch, gone: Sequence[int]) -> set[int]:
    """Those of which the log says that a person took them out."""
    if not gone:
        return set()
    acts = Entry.objects.filter(
        object_type=watched.model._meta.model_name, object_id__in=[str(pk) for pk in gone], verb=REMOVE
    )
    return {int(pk) for pk in acts.values_list("object_id", flat=True)}


def _as_completed(watched: Watch, changed: Sequence[int]) -> set[int]:
    """Those that are as the log says that they were completed last."""
    if not changed:
        return set()
    acts = Entry.objects.filter(
        object_type=watched.model._meta.model_name, object_id__in=[str(pk) for pk in changed], verb=COMPLETE
    )
    newest: dict[int, Any] = {int(pk): said for pk, said in acts.order_by("pk").values_list("object_id", "after")}
    return {
        pk
        for pk, said in newest.items()
        if watched.knows(said["names"]) and watched.digests([pk], said["names"]).get(pk) == said["digest"]
    }


def late(now: datetime) -> Iterator[tuple[str, str]]:
    """(row, what is wrong) for rows with ids among those that were witnessed long before them."""
    marks = _marks(now)
    for watched in watches():
        _, settled = marks.get(watched.label, (0, 0))
        for pk in unwitnessed_among(watched, watched.rows.filter(pk__lte=settled)):
            yield watched.name(pk), "it was put in among rows that were sealed before it came"


def witness_contents(rows: Sequence[Witness]) -> list[dict[str, Any]]:
    return [row.content() for row in rows]
