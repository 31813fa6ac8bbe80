"""Verification of the audit log: recompute all digests, Merkle roots and links of the chain from the rows."""

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
    """A violation of integrity. ``what`` is the row, checkpoint or table."""

    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}"


def rows_to_check() -> int:
    """Return the number of leaves and tracked rows."""
    witnessed: int = Witness.objects.aggregate(n=Sum("count"))["n"] or 0
    return witnessed + sum(leaf.model._default_manager.count() for leaf in leaf_models())


def findings(progress: Progress | None = None, *, expected_head: str = "") -> Iterator[Finding]:
    """Yield all violations of integrity.

    A changed row does not match its digest, or its digest in a `Witness`, and is reported. A pointer that contradicts
    such rows is reported too. If a row was changed together with its digest, added or removed, the checkpoint (`Seal`)
    does not match its root and is reported. A changed checkpoint breaks the chain. A truncated chain is still
    consistent. To detect it, pass the digest of a head that was stored elsewhere, such as in a release, as
    ``expected_head``.
    """
    step = progress or (lambda _: None)
    yield from (Finding("protection", fault) for fault in protection.trigger_faults(connection))
    previous, number, is_head_found = GENESIS, 0, not expected_head or expected_head == GENESIS.hex()
    for seal in Seal.objects.order_by("number").iterator(chunk_size=500):
        number += 1
        if seal.number != number:
            yield Finding(f"checkpoint {seal.number}", f"the checkpoint before it is {number - 1}: some are missing")
            number = seal.number
        yield from _checkpoint_findings(seal, previous, step)
        is_head_found = is_head_found or seal.digest == expected_head
        previous = bytes.fromhex(seal.digest)
    if not is_head_found:
        yield Finding("chain", f"no checkpoint has the digest {expected_head}: the chain was truncated or rewritten")
    for leaf in leaf_models():
        yield from (finding for _, finding in _row_findings(leaf, leaf.rows(None), step) if finding)
    for batch in batches(Witness.objects.order_by("watched", "first"), 1):
        for witness_row in batch:
            yield from (Finding(*difference) for difference in witness.differences(witness_row))
            step(witness_row.count)
    yield from (Finding(*difference) for difference in witness.late_rows(timezone.now()))
    yield from (Finding(*difference) for difference in rules.violations())


def _checkpoint_findings(seal: Seal, previous: bytes, step: Progress) -> Iterator[Finding]:
    name = f"checkpoint {seal.number}"
    digests: list[bytes] = []
    for leaf in leaf_models():
        for digest, finding in _row_findings(leaf, leaf.rows(seal), step):
            digests.append(digest)
            if finding:
                yield finding
    if len(digests) != seal.leaves:
        yield Finding(name, f"it covers {seal.leaves} rows, but {len(digests)} exist")
    elif merkle_root([header(seal.number, seal.leaves, seal.sealed_at), *digests]).hex() != seal.root:
        yield Finding(name, "its root does not match: the checkpoint was changed, or a row together with its digest")
    if seal.previous != previous.hex():
        yield Finding(name, "it does not continue the checkpoint before it")
    elif _chain_digest(seal) != seal.digest:
        yield Finding(name, "its digest does not match its content")


def _chain_digest(seal: Seal) -> str:
    try:
        return chain_hash(bytes.fromhex(seal.previous), bytes.fromhex(seal.root)).hex()
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
