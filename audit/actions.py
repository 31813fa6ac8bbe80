"""Sealing: binding all rows that no seal covers yet to the chain of seals."""

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
from .leaves import BATCH, LeafModel, leaf_models
from .models import Seal
from .witness import waiting, witness_pending

#: The most rows that one seal covers; more rows give more seals, at constant memory.
SEAL_SIZE = 10_000
#: The same in the background, with seconds of pause after each.
SMALL, PAUSE = 1000, 0.05
#: How often a sealer that lost to another one looks again.
TRIES = 50


@dataclass(frozen=True)
class Head:
    """The end of the chain: number and digest of its last seal; 0 and 64 zeros before the first."""

    number: int
    digest: str


class _LostRaceError(Exception):
    """Another sealer took the number, or rows, that this one had read."""


def head() -> Head:
    """The end of the chain now."""
    last = Seal.objects.order_by("-number").values_list("number", "digest").first()
    return Head(*last) if last else Head(0, GENESIS.hex())


def seal_if_due() -> bool:
    """Seal where many rows wait, or some since a day: what a worker asks every minute. True where it sealed.

    In small seals with pauses between: on SQLite whoever seals keeps everybody else from writing.
    """
    limit, now = settings.SEAL_AFTER_ROWS, timezone.now()
    rows = waiting() + sum(leaf.rows(None).order_by()[:limit].count() for leaf in leaf_models())
    last = Seal.objects.order_by("-number").values_list("sealed_at", flat=True).first()
    # A last seal that lies ahead was dated by a clock that was set back since.
    recent = last is not None and timedelta() <= now - last < timedelta(hours=settings.SEAL_AFTER_HOURS)
    if not rows or (recent and rows < limit):
        return False
    seal_pending(size=SMALL, pause=PAUSE)
    return True


def seal_pending(now: datetime | None = None, *, size: int | None = None, pause: float = 0.0) -> Head:
    """Witness and seal every row that is not sealed yet, and return the end of the chain. With nothing to seal nothing
    changes.

    There is one chain however many call this at once: a seal's number is unique, so of two sealers that continue the
    same end one fails as a whole and looks again. ``size``: the most rows of a seal; ``pause``: seconds between two.
    """
    witness_pending(now)
    lost = 0
    while True:
        try:
            with transaction.atomic():
                sealed = _seal_some(now or timezone.now(), size or SEAL_SIZE)
        except (IntegrityError, _LostRaceError):
            lost += 1
            if lost == TRIES:
                raise
            time.sleep(random.uniform(0.01, 0.05) * min(lost, 10))
            continue
        if not sealed:
            return head()
        time.sleep(pause)


def header(number: int, leaves: int, sealed_at: datetime) -> bytes:
    """The first leaf of every seal: what the seal says of itself, so that it is bound by the root as well."""
    return bytes.fromhex(digest_of({"number": number, "leaves": leaves, "sealed_at": sealed_at}))


def _seal_some(now: datetime, size: int) -> int:
    """One seal over up to ``size`` rows; how many. The end of the chain is read first: rows that another sealer
    takes after that make the number collide."""
    last = head()
    taken = _unsealed(size)
    count = sum(len(rows) for _, rows in taken)
    if not count:
        return 0
    leaves = [header(last.number + 1, count, now)]
    leaves += [bytes.fromhex(digest) for _, rows in taken for _, digest in rows]
    root = merkle_root(leaves)
    seal = Seal.objects.create(
        number=last.number + 1,
        previous=last.digest,
        root=root.hex(),
        leaves=count,
        digest=chain_hash(bytes.fromhex(last.digest), root).hex(),
        sealed_at=now,
    )
    for leaf, rows in taken:
        for start in range(0, len(rows), BATCH):
            keys = [pk for pk, _ in rows[start : start + BATCH]]
            if leaf.rows(None).filter(pk__in=keys).order_by().update(seal=seal) != len(keys):
                raise _LostRaceError
    return count


def _unsealed(room: int) -> list[tuple[LeafModel, list[tuple[Any, str]]]]:
    """Keys and digests of the rows that the next seal takes, in sealing order."""
    taken: list[tuple[LeafModel, list[tuple[Any, str]]]] = []
    for leaf in leaf_models():
        rows = list(leaf.rows(None).values_list("pk", "digest")[:room])
        room -= len(rows)
        if rows:
            taken.append((leaf, rows))
    return taken
