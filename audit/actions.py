"""Creation of audit checkpoints: new rows are bound to a chain of checkpoints."""

import random
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from measures.merkle import GENESIS, chain_hash, merkle_root

from .digests import digest_of
from .models import Checkpoint
from .registry import BATCH, LeafModel, leaf_models
from .row_digests import count_undigested, store_pending_digests

#: Maximum number of rows in one checkpoint. More rows give more checkpoints, with constant memory.
CHECKPOINT_SIZE = 10_000
#: Maximum number of rows in a checkpoint of a background worker, and seconds of pause after each.
BACKGROUND_SIZE, PAUSE = 1000, 0.05
#: Maximum number of retries after a conflict with another worker.
TRIES = 50


@dataclass(frozen=True)
class Head:
    """The end of the chain: number and digest of the last checkpoint, or 0 and 64 zeros."""

    number: int
    digest: str


class _LostRaceError(Exception):
    """Another worker has used the number or the rows of this checkpoint."""


def head() -> Head:
    """Return the current end of the chain."""
    last = Checkpoint.objects.order_by("-number").values_list("number", "digest").first()
    return Head(*last) if last else Head(0, GENESIS.hex())


def create_checkpoints_if_due() -> bool:
    """Create checkpoints if the settings CHECKPOINT_AFTER_ROWS or CHECKPOINT_AFTER_HOURS require it.

    Return whether it did.

    Workers call this every minute. The checkpoints are small, with pauses between them, because SQLite allows only one
    writer.
    """
    limit, now = settings.CHECKPOINT_AFTER_ROWS, timezone.now()
    rows = count_undigested() + sum(leaf.rows(None).order_by()[:limit].count() for leaf in leaf_models())
    last = Checkpoint.objects.order_by("-number").values_list("created_at", flat=True).first()
    # The last checkpoint is in the future if the clock was set back since.
    recent = last is not None and timedelta() <= now - last < timedelta(hours=settings.CHECKPOINT_AFTER_HOURS)
    if not rows or (recent and rows < limit):
        return False
    create_checkpoints(size=BACKGROUND_SIZE, pause=PAUSE)
    return True


def create_checkpoints(now: datetime | None = None, *, size: int | None = None, pause: float = 0.0) -> Head:
    """Store digests and create checkpoints for all new rows, and return the end of the chain. Idempotent.

    Concurrent calls create one chain: the number of a checkpoint is unique, so one of two conflicting transactions
    fails and is retried. ``size``: maximum number of rows in a checkpoint. ``pause``: seconds between checkpoints.
    """
    store_pending_digests(now)
    conflicts = 0
    while True:
        try:
            with transaction.atomic():
                count = _create_checkpoint(now or timezone.now(), size or CHECKPOINT_SIZE)
        except (IntegrityError, _LostRaceError):
            conflicts += 1
            if conflicts == TRIES:
                raise
            time.sleep(random.uniform(0.01, 0.05) * min(conflicts, 10))
            continue
        if not count:
            return head()
        time.sleep(pause)


def header(number: int, leaves: int, created_at: datetime) -> bytes:
    """Return the first leaf of a checkpoint: its own fields, so that the root covers them too.

    The names are those of the first version. Digests cover them, so they stay when a field is renamed.
    """
    return bytes.fromhex(digest_of({"number": number, "leaves": leaves, "sealed_at": created_at}))


def header_of(checkpoint: Checkpoint) -> bytes:
    return header(checkpoint.number, checkpoint.leaves, checkpoint.created_at)


def _create_checkpoint(now: datetime, size: int) -> int:
    """Create a checkpoint over up to ``size`` rows and return their number.

    The end of the chain is read first. If another worker then takes the same rows, the number of the checkpoint
    conflicts.
    """
    last = head()
    batches = _rows_without_checkpoint(size)
    count = sum(len(rows) for _, rows in batches)
    if not count:
        return 0
    leaves = [header(last.number + 1, count, now)]
    leaves += [bytes.fromhex(digest) for _, rows in batches for _, digest in rows]
    root = merkle_root(leaves)
    checkpoint = Checkpoint.objects.create(
        number=last.number + 1,
        previous=last.digest,
        root=root.hex(),
        leaves=count,
        digest=chain_hash(bytes.fromhex(last.digest), root).hex(),
        created_at=now,
    )
    for leaf, rows in batches:
        for start in range(0, len(rows), BATCH):
            keys = [pk for pk, _ in rows[start : start + BATCH]]
            if leaf.rows(None).filter(pk__in=keys).order_by().update(checkpoint=checkpoint) != len(keys):
                raise _LostRaceError
    return count


def _rows_without_checkpoint(remaining: int) -> list[tuple[LeafModel, list[tuple[Any, str]]]]:
    """Return keys and digests of the rows of the next checkpoint, in order."""
    batches: list[tuple[LeafModel, list[tuple[Any, str]]]] = []
    for leaf in leaf_models():
        rows = list(leaf.rows(None).values_list("pk", "digest")[:remaining])
        remaining -= len(rows)
        if rows:
            batches.append((leaf, rows))
    return batches
