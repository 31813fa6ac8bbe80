"""Checking the log: every digest, every root, every link computed again from the rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet, Sum
from django.utils import timezone

from measures.merkle import GENESIS, chain_hash, merkle_root

from . import protection, rules, witness
from .actions import header
from .digests import digest_of
from .leaves import LeafModel, batches, leaf_models
from .models import Seal, Witness

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was written: ``what`` names the row, the seal or the table."""

    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}"


def rows_to_check() -> int:
    """How many leaves and witnessed rows there are, sealed or not."""
    witnessed: int = Witness.objects.aggregate(n=Sum("count"))["n"] or 0
    return witnessed + sum(leaf.model._default_manager.count() for leaf in leaf_models())


def findings(progress: Progress | None = None, *, expected_head: str = "") -> Iterator[Finding]:
    """Everything that is wrong; nothing when all is well.

    A row changed after it was written no longer fits its digest, or that which a witness keeps of it, and is named; so
    is a pointer that does not follow from such rows. A row changed together with its digest,
    added or taken away no longer fits the root of its seal, and the seal is named. A seal changed breaks the chain.
    A chain cut at its end is whole in itself: hand in the digest of a head noted elsewhere, such as in a release's
    manifest, as ``expected_head``.
    """
    step = progress or (lambda _: None)
    yield from (Finding("protection", fault) for fault in protection.faults(connection))
    previous, number, seen = GENESIS, 0, not expected_head or expected_head == GENESIS.hex()
    for seal in Seal.objects.order_by("number").iterator(chunk_size=500):
        number += 1
        if seal.number != number:
            yield Finding(f"seal {seal.number}", f"the seals before it end at {number - 1}: some are missing")
            number = seal.number
        yield from _seal(seal, previous, step)
        seen = seen or seal.digest == expected_head
        previous = bytes.fromhex(seal.digest)
    if not seen:
        yield Finding("chain", f"no seal has the digest {expected_head}: the chain was cut or rewritten")
    for leaf in leaf_models():
        yield from (finding for _, finding in _rows(leaf, leaf.rows(None), step) if finding)
    for batch in batches(Witness.objects.order_by("watched", "first"), 1):
        for made in batch:
            yield from (Finding(*wrong) for wrong in witness.differences(made))
            step(made.count)
    yield from (Finding(*wrong) for wrong in witness.late(timezone.now()))
    yield from (Finding(*wrong) for wrong in rules.broken())


def _seal(seal: Seal, previous: bytes, step: Progress) -> Iterator[Finding]:
    name = f"seal {seal.number}"
    digests: list[bytes] = []
    for leaf in leaf_models():
        for digest, finding in _rows(leaf, leaf.rows(seal), step):
            digests.append(digest)
            if finding:
                yield finding
    if len(digests) != seal.leaves:
        yield Finding(name, f"it was made over {seal.leaves} rows, {len(digests)} are there")
    elif merkle_root([header(seal.number, seal.leaves, seal.sealed_at), *digests]).hex() != seal.root:
        yield Finding(name, "its root does not fit: the seal, or a row together with its digest, was changed")
    if seal.previous != previous.hex():
        yield Finding(name, "it does not continue the seal before it")
    elif _chained(seal) != seal.digest:
        yield Finding(name, "its own digest does not fit")


def _chained(seal: Seal) -> str:
    try:
        return chain_hash(bytes.fromhex(seal.previous), bytes.fromhex(seal.root)).hex()
    except ValueError:
        return ""


def _rows(leaf: LeafModel, rows: QuerySet[Any], step: Progress) -> Iterator[tuple[bytes, Finding | None]]:
    """The stored digest of every row, and what is wrong with it."""
    for batch in batches(rows):
        for row, content in zip(batch, leaf.contents(batch), strict=True):
            finding = None
            if digest_of(content) != row.digest:
                finding = Finding(leaf.name(row), "its content does not fit its digest: it was changed")
            yield _bytes(row.digest), finding
        step(len(batch))


def _bytes(digest: str) -> bytes:
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return digest.encode()
