"""Verification of the audit log: recompute all digests, Merkle roots and links of the chain from the rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet, Sum
from django.utils import timezone

from measures.merkle import GENESIS, chain_hash, merkle_root

from . import row_digests, rules, triggers
from .actions import header_of
from .digests import digest_of
from .models import Checkpoint, RowDigest
from .registry import LeafModel, batches, leaf_models

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Finding:
    """A violation of integrity. ``what`` is the row, checkpoint or table."""

    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}"


def rows_to_check() -> int:
    """Return the number of leaves and tracked rows."""
    tracked: int = RowDigest.objects.aggregate(n=Sum("count"))["n"] or 0
    return tracked + sum(leaf.model._default_manager.count() for leaf in leaf_models())


def findings(progress: Progress | None = None, *, expected_head: str = "") -> Iterator[Finding]:
    """Yield all violations of integrity.

    A changed row does not match its digest, or its digest in a `RowDigest`, and is reported. A pointer that contradicts
    such rows is reported too. If a row was changed together with its digest, added or removed, its checkpoint does not
    match its root and is reported. A changed checkpoint breaks the chain. A truncated chain is still
    consistent. To detect it, pass the digest of a head that was stored elsewhere, such as in a release, as
    ``expected_head``.
    """
    step = progress or (lambda _: None)
    yield from (Finding("protection", fault) for fault in triggers.trigger_faults(connection))
    previous, number, is_head_found = GENESIS, 0, not expected_head or expected_head == GENESIS.hex()
    for checkpoint in Checkpoint.objects.order_by("number").iterator(chunk_size=500):
        number += 1
        if checkpoint.number != number:
            yield Finding(
                f"checkpoint {checkpoint.number}", f"the checkpoint before it is {number - 1}: some are missing"
            )
            number = checkpoint.number
        yield from _checkpoint_findings(checkpoint, previous, step)
        is_head_found = is_head_found or checkpoint.digest == expected_head
        previous = bytes.fromhex(checkpoint.digest)
    if not is_head_found:
        yield Finding("chain", f"no checkpoint has the digest {expected_head}: the chain was truncated or rewritten")
    for leaf in leaf_models():
        yield from (finding for _, finding in _row_findings(leaf, leaf.rows(None), step) if finding)
    for batch in batches(RowDigest.objects.order_by("label", "first"), 1):
        for row_digest in batch:
            yield from (Finding(*difference) for difference in row_digests.differences(row_digest))
            step(row_digest.count)
    yield from (Finding(*difference) for difference in row_digests.late_rows(timezone.now()))
    yield from (Finding(*difference) for difference in rules.violations())


def _checkpoint_findings(checkpoint: Checkpoint, previous: bytes, step: Progress) -> Iterator[Finding]:
    name = f"checkpoint {checkpoint.number}"
    digests: list[bytes] = []
    for leaf in leaf_models():
        for digest, finding in _row_findings(leaf, leaf.rows(checkpoint), step):
            digests.append(digest)
            if finding:
                yield finding
    if len(digests) != checkpoint.leaves:
        yield Finding(name, f"it covers {checkpoint.leaves} rows, but {len(digests)} exist")
    elif merkle_root([header_of(checkpoint), *digests]).hex() != checkpoint.root:
        yield Finding(name, "its root does not match: the checkpoint was changed, or a row together with its digest")
    if checkpoint.previous != previous.hex():
        yield Finding(name, "it does not continue the checkpoint before it")
    elif _chain_digest(checkpoint) != checkpoint.digest:
        yield Finding(name, "its digest does not match its content")


def _chain_digest(checkpoint: Checkpoint) -> str:
    try:
        return chain_hash(bytes.fromhex(checkpoint.previous), bytes.fromhex(checkpoint.root)).hex()
    except ValueError:
        return ""


def _row_findings(leaf: LeafModel, rows: QuerySet[Any], step: Progress) -> Iterator[tuple[bytes, Finding | None]]:
    """Yield the stored digest of every row, with a finding if its content does not match."""
    for batch in batches(rows):
        for row, content in zip(batch, leaf.contents(batch), strict=True):
            finding = None
            if digest_of(content) != row.digest:
                finding = Finding(leaf.name(row), "the content does not match its digest: it was changed")
            yield _digest_bytes(row.digest), finding
        step(len(batch))


def _digest_bytes(digest: str) -> bytes:
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return digest.encode()
