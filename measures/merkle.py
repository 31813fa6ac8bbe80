"""Merkle trees over digests (RFC 6962, section 2.1) and the hash chain of audit checkpoints.

Leaves and nodes are hashed with different prefixes, so that a node cannot be presented as a leaf. The root commits to
each leaf and its position. A proof of about log2(n) digests shows that a leaf is included.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

_LEAF = b"\x00"
_NODE = b"\x01"
_LINK = b"\x02"

DIGEST_SIZE = 32
GENESIS = bytes(DIGEST_SIZE)
"""The previous hash of the first checkpoint of a chain."""


def leaf_hash(leaf: bytes) -> bytes:
    """Return SHA-256 of 0x00 and the leaf. Leaves are SHA-256 digests of row contents."""
    return hashlib.sha256(_LEAF + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over ``leaves`` in their order, or SHA-256 of the empty string if there are none."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    level = [leaf_hash(leaf) for leaf in leaves]
    while len(level) > 1:
        level = _parents(level)
    return level[0]


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the sibling digests from leaf ``index`` up to the root. Raise IndexError if there is no such leaf."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"no leaf {index} among {len(leaves)}")
    level = [leaf_hash(leaf) for leaf in leaves]
    path: list[bytes] = []
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):  # the last node of an odd level moves up unpaired
            path.append(level[sibling])
        level, index = _parents(level), index // 2
    return tuple(path)


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether ``path`` proves that ``leaf`` is number ``index`` of the ``size`` leaves under ``root``."""
    if not 0 <= index < size:
        return False
    node, last, rest = leaf_hash(leaf), size - 1, list(path)
    while last > 0:
        if index % 2 or index < last:
            if not rest:
                return False
            sibling = rest.pop(0)
            node = node_hash(sibling, node) if index % 2 else node_hash(node, sibling)
        index //= 2
        last //= 2
    return not rest and hmac.compare_digest(node, root)


def chain_hash(previous: bytes, root: bytes) -> bytes:
    """Return the hash of a checkpoint from the previous hash and the checkpoint's Merkle root.

    Raise ValueError unless both have 32 bytes.
    """
    if len(previous) != DIGEST_SIZE or len(root) != DIGEST_SIZE:
        raise ValueError("a chain links SHA-256 digests of 32 bytes")
    return hashlib.sha256(_LINK + previous + root).digest()


def chain_head(roots: Sequence[bytes], start: bytes = GENESIS) -> bytes:
    """Return the hash of the last checkpoint of a chain with these Merkle roots, or ``start`` if there are none."""
    head = start
    for root in roots:
        head = chain_hash(head, root)
    return head


def _parents(level: list[bytes]) -> list[bytes]:
    """Hash the nodes in pairs. An odd last node moves up unchanged, which gives RFC 6962's split at powers of two."""
    paired = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
    return [*paired, level[-1]] if len(level) % 2 else paired
