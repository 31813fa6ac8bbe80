"""Verification of one audit entry: its checkpoint, and the chain of checkpoints.

This is a cheaper form of `verify_audit`. The digests of other rows of the checkpoint are read, not recomputed.
"""

from collections.abc import Iterator

from measures.merkle import GENESIS, chain_hash, merkle_root

from .actions import header_of
from .digests import digest_of
from .log import entry_content
from .models import Checkpoint, Entry
from .registry import leaf_models


def matches_digest(entry: Entry) -> bool:
    """Return whether an entry's content matches its digest."""
    return digest_of(entry_content(entry)) == entry.digest


def entry_findings(entry: Entry) -> Iterator[str]:
    """Yield messages for each error in an entry's checkpoint or chain. An entry without a checkpoint yet is valid."""
    if entry.checkpoint is not None:
        yield from _checkpoint_findings(entry, entry.checkpoint)
        yield from _chain_findings()
    elif Entry.objects.filter(pk__gt=entry.pk, checkpoint__isnull=False).exists():
        yield f"audit log, entry {entry.pk}: it has no checkpoint, although later entries have one"


def _checkpoint_findings(entry: Entry, checkpoint: Checkpoint) -> Iterator[str]:
    digests = [d for leaf in leaf_models() for d in leaf.rows(checkpoint).values_list("digest", flat=True)]
    try:
        root = merkle_root([header_of(checkpoint), *map(bytes.fromhex, digests)])
    except ValueError:
        root = b""
    if entry.digest not in digests or len(digests) != checkpoint.leaves or root.hex() != checkpoint.root:
        name = f"audit log, entry {entry.pk}"
        yield f"{name}: the rows of its checkpoint, number {checkpoint.number}, have changed"


def _chain_findings() -> Iterator[str]:
    """Yield a message for the first checkpoint that does not continue the previous one."""
    end, expected = GENESIS, 1
    checkpoints = Checkpoint.objects.order_by("number").values_list("number", "previous", "root", "digest")
    for number, previous, root, digest in checkpoints.iterator(chunk_size=2000):
        try:
            fits = chain_hash(bytes.fromhex(previous), bytes.fromhex(root)).hex() == digest
        except ValueError:
            fits = False
        if number != expected or previous != end.hex() or not fits:
            yield f"audit log: checkpoint {number} does not continue the chain of checkpoints"
            return
        end, expected = bytes.fromhex(digest), number + 1
