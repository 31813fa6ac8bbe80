"""Whether one entry stands where the log has it: under its seal, and that seal in its place in the chain.

What `verify_audit` does for the whole log, for one witness: the rows beside it under its seal are taken at their word
(their digests are read, not computed), so that it costs the chain of seals and the digests of one.
"""

from collections.abc import Iterator

from measures.merkle import GENESIS, chain_hash, merkle_root

from .actions import header
from .digests import digest_of
from .leaves import leaf_models
from .log import entry_content
from .models import Entry, Seal


def fits_its_digest(entry: Entry) -> bool:
    """Whether an entry's content is what it was when it was written."""
    return digest_of(entry_content(entry)) == entry.digest


def place_findings(entry: Entry) -> Iterator[str]:
    """What is wrong with the place of an entry, a sentence each. One that waits for its seal is in order."""
    if entry.seal is not None:
        yield from _sealed(entry, entry.seal)
        yield from _chain()
    elif Entry.objects.filter(pk__gt=entry.pk, seal__isnull=False).exists():
        yield f"audit log, entry {entry.pk}: it has no seal, and entries after it have"


def _sealed(entry: Entry, seal: Seal) -> Iterator[str]:
    digests = [d for leaf in leaf_models() for d in leaf.rows(seal).values_list("digest", flat=True)]
    try:
        root = merkle_root([header(seal.number, seal.leaves, seal.sealed_at), *map(bytes.fromhex, digests)])
    except ValueError:
        root = b""
    if entry.digest not in digests or len(digests) != seal.leaves or root.hex() != seal.root:
        name = f"audit log, entry {entry.pk}"
        yield f"{name}: the rows under its seal, number {seal.number}, are not those that were sealed"


def _chain() -> Iterator[str]:
    """The first seal that does not continue the one before it."""
    end, expected = GENESIS, 1
    seals = Seal.objects.order_by("number").values_list("number", "previous", "root", "digest")
    for number, previous, root, digest in seals.iterator(chunk_size=2000):
        try:
            fits = chain_hash(bytes.fromhex(previous), bytes.fromhex(root)).hex() == digest
        except ValueError:
            fits = False
        if number != expected or previous != end.hex() or not fits:
            yield f"audit log: seal {number} does not continue the chain of the seals before it"
            return
        end, expected = bytes.fromhex(digest), number + 1
