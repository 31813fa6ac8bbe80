"""Find nearly identical sentences with opposite polarity.

Two sentences are near duplicates if the Jaccard index of their sets of words is at least 0.9. Pairs are found by prefix
filtering (Chaudhuri, Ganti and Kaushik 2006; Xiao et al. 2008): the rarest words of two such sets must overlap.
Therefore only sentences with a rare word in common are compared.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from measures.consistency.claims import NEGATIVE, POSITIVE, Claim, Cluster, Finding
from measures.sentences import tokens_of

#: Read clusters by number, in order, as (number, cluster). Clusters that no longer exist are left out.
Read = Callable[[Sequence[int]], Iterable[tuple[int, Cluster]]]
#: Approximate number of clusters that are reread at a time.
AT_ONCE = 500
Ints = npt.NDArray[np.int64]


class AcrossClusters(Protocol):
    def add(self, number: int, cluster: Cluster) -> None:
        """Store the keys of a cluster."""

    def find(self, read: Read) -> Iterator[Finding]:
        """Return the findings on the added clusters, ordered by the first cluster of each."""


def integers(values: array[int]) -> Ints:
    """Return the numbers (n,) as an array without copying."""
    return np.frombuffer(values, dtype=np.int64) if values else np.empty(0, dtype=np.int64)


def groups(keys: Ints) -> Iterator[Ints]:
    """Yield the indices of each key that is repeated in ``keys`` (n,), ordered by first index."""
    by_key = np.argsort(keys, kind="stable")
    ordered = keys[by_key]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    ranges = [(start, stop) for start, stop in pairwise([0, *starts.tolist(), len(keys)]) if stop - start > 1]
    for start, stop in sorted(ranges, key=lambda bounds: by_key[bounds[0]]):
        yield by_key[start:stop]


def chunks(index_groups: Iterable[Ints]) -> Iterator[Ints]:
    """Concatenate groups until they have `AT_ONCE` members."""
    collected: list[Ints] = []
    size = 0
    for indices in index_groups:
        collected.append(indices)
        size += len(indices)
        if size >= AT_ONCE:
            yield np.concatenate(collected)
            collected, size = [], 0
    if collected:
        yield np.concatenate(collected)


NEAR = 0.9
#: Minimum number of words. Shorter sentences are similar by chance.
LEAST_WORDS = 6


class NearDuplicates:
    """Find pairs of near duplicates of which one is positive and the other negative, the most similar first.

    The hashes of the words of each sentence are kept, 8 bytes each.
    """

    def __init__(self) -> None:
        self._numbers, self._keys, self._negative = array("q"), array("q"), array("q")
        self._words, self._ends = array("q"), array("q")

    def add(self, number: int, cluster: Cluster) -> None:
        for claim in cluster.claims:
            if claim.polarity in (POSITIVE, NEGATIVE):
                self._numbers.append(number)
                self._keys.append(_key(claim))
                self._negative.append(claim.polarity == NEGATIVE)
                self._words.extend(hash(word) for word in _words(claim))
                self._ends.append(len(self._words))

    def find(self, read: Read) -> Iterator[Finding]:
        pairs, numbers, keys = self._pairs(), integers(self._numbers), integers(self._keys)
        for start in range(0, len(pairs), AT_ONCE // 2):
            chunk = pairs[start : start + AT_ONCE // 2]
            places = np.array(chunk, dtype=np.int64).ravel()
            wanted = set(keys[places].tolist())
            claims: dict[int, Claim] = {}
            for _, cluster in read(sorted(set(numbers[places].tolist()))):
                for claim in cluster.claims:
                    if claim.polarity in (POSITIVE, NEGATIVE) and (key := _key(claim)) in wanted:
                        claims.setdefault(key, claim)
            for places_of in chunk:
                first, second = (claims.get(int(keys[place])) for place in places_of)
                if first and second and (share := _shared(first, second)) >= NEAR:
                    yield Finding(
                        "near duplicate",
                        (first.unit, second.unit),
                        f"Two sentences share {share:.0%} of their words; one is {first.polarity}, the other "
                        f"{second.polarity}.",
                        (first.polarity, second.polarity),
                        weight=share,
                    )

    def _pairs(self) -> list[tuple[int, int]]:
        """Return pairs of indices of near duplicates by hash, the earlier one first, ordered by the size of the
        larger set.
        """
        words, ends = integers(self._words), integers(self._ends)
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if len(ends) else ends
        sizes = ends - starts
        # Another rule handles identical sentences; only the first occurrence is compared here.
        firsts = np.sort(np.unique(integers(self._keys), return_index=True)[1])
        firsts = firsts[sizes[firsts] >= LEAST_WORDS]
        order = firsts[np.argsort(sizes[firsts], kind="stable")]
        prefixes, ranks = self._prefixes(words, starts, ends, order)
        negative = integers(self._negative)

        def words_of(rank: int) -> set[int]:
            place = order[rank]
            return set(words[starts[place] : ends[place]].tolist())

        duplicates: set[tuple[int, int]] = set()
        for members in groups(prefixes):
            among = np.sort(ranks[members])
            is_negative_of = negative[order[among]]
            if is_negative_of.all() or not is_negative_of.any():
                continue
            sets = {rank: words_of(rank) for rank in among.tolist()}
            for rank, is_negative in zip(among.tolist(), is_negative_of.tolist(), strict=True):
                smaller = among[(among < rank) & (is_negative_of != is_negative)]
                smaller = smaller[sizes[order[smaller]] >= NEAR * len(sets[rank]) - 1e-9]
                for before in smaller.tolist():
                    both = len(sets[rank] & sets[before])
                    if both / (len(sets[rank]) + len(sets[before]) - both) >= NEAR:
                        duplicates.add((rank, int(order[before])))
        pairs = sorted(duplicates)
        return [(min(int(order[rank]), place), max(int(order[rank]), place)) for rank, place in pairs]

    @staticmethod
    def _prefixes(words: Ints, starts: Ints, ends: Ints, order: Ints) -> tuple[Ints, Ints]:
        """Return the rarest words of each sentence that also occur in another one, and the sentence's rank in
        ``order``.

        Two near duplicates have at least one of these words in common.
        """
        vocabulary, frequency = np.unique(words, return_counts=True)
        prefixes, ranks = array("q"), array("q")
        for rank, place in enumerate(order.tolist()):
            own_words = np.searchsorted(vocabulary, words[starts[place] : ends[place]])
            first = len(own_words) - math.ceil(NEAR * len(own_words)) + 1
            rarest = own_words[np.lexsort((own_words, frequency[own_words]))[:first]]
            for word in rarest[frequency[rarest] > 1].tolist():
                prefixes.append(word)
                ranks.append(rank)
        return integers(prefixes), integers(ranks)


def _words(claim: Claim) -> frozenset[str]:
    return frozenset(key for key in tokens_of(claim.text).keys if key[0].isalnum())


def _key(claim: Claim) -> int:
    return hash((claim.text, claim.polarity))


def _shared(first: Claim, second: Claim) -> float:
    """Return the share of common words of two sentences, 0..1, or 0 if the sentences are identical."""
    if first.text == second.text:
        return 0.0
    words, others = _words(first), _words(second)
    return len(words & others) / len(words | others)
