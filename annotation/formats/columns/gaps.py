"""Ids that a table leaves out."""

from collections.abc import Iterator
from itertools import pairwise

from ...imports.format import Notice


def gap_notices(keys: Iterator[str], kind: str = "gaps in ids", listed: int = 20) -> Iterator[Notice]:
    """Yield a notice of missing ids, if the ids are numbers."""
    ids = sorted({int(key) for key in keys if key.isdecimal() and len(key) < 10})
    if not ids or ids[-1] >= 10 * len(ids):
        return
    missing: list[int] = []
    total = 0
    for before, after in pairwise(ids):
        total += after - before - 1
        missing += range(before + 1, min(after, before + 1 + listed - len(missing)))
    if total:
        shown = ", ".join(map(str, missing[:listed])) + (" …" if total > listed else "")
        yield Notice(kind, f"{total} ids between {ids[0]} and {ids[-1]} do not occur: {shown}.")
