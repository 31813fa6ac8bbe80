"""Near-equal texts, by MinHash over word triples. Only workers and commands import datasketch."""

import re
from array import array
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.problems import Conflict
from measures.splits.units import TextPair, folded

INSTALL = "pip install -r requirements/splits.txt"
#: Number of hash functions: the standard error of a similarity of 0.8 is 0.035.
HASHES = 128
#: Shorter texts, in words, are only compared for equality.
SHORTEST = 6
#: Number of words of a shingle.
WORDS = 3
#: Bands find a pair of the threshold's similarity with at least this probability.
CERTAINTY = 0.99
#: Texts of a band that are all compared with each other. More of them are only compared with the first and the next.
MOST = 40
_WORD = re.compile(r"\w+")


class NotInstalled(Conflict):
    """A library of requirements/splits.txt is missing on this worker."""

    def __init__(self, what: str, library: str) -> None:
        super().__init__(f"{what} need {library}, which is not installed on this worker: {INSTALL}.")


class NearTexts:
    """Signatures of texts, added one at a time: 512 bytes each. Raise `NotInstalled`."""

    def __init__(self) -> None:
        if find_spec("datasketch") is None:
            raise NotInstalled("Near-equal texts", "datasketch")
        from datasketch import MinHash

        self._empty: Any = MinHash(num_perm=HASHES, seed=1)
        self._signatures = array("I")
        #: Numbers of the texts that have a signature.
        self._texts: list[int] = []
        self._count = 0

    def add(self, text: str) -> None:
        words = _WORD.findall(folded(text))
        if len(words) >= SHORTEST:
            sketch = self._empty.copy()
            sketch.update_batch({" ".join(words[n : n + WORDS]).encode() for n in range(len(words) - WORDS + 1)})
            self._signatures.frombytes(sketch.hashvalues.astype(np.uint32).tobytes())
            self._texts.append(self._count)
        self._count += 1

    def pairs(self, threshold: float) -> dict[TextPair, float]:
        """Return the pairs of texts whose estimated Jaccard similarity reaches the threshold, by similarity."""
        rows = np.frombuffer(self._signatures, np.uint32).reshape(-1, HASHES)
        found: dict[TextPair, float] = {}
        for one, other in _candidates(rows, threshold):
            pair = (self._texts[one], self._texts[other])
            if pair not in found:
                similarity = float((rows[one] == rows[other]).mean())
                if similarity >= threshold:
                    found[pair] = similarity
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def band_rows(threshold: float) -> int:
    """Return the number of hashes per band: the largest that finds a pair at the threshold with `CERTAINTY`."""
    fitting = [r for r in range(1, 17) if 1 - (1 - threshold**r) ** (HASHES // r) >= CERTAINTY]
    return max(fitting, default=1)


def _candidates(rows: NDArray[np.uint32], threshold: float) -> Iterator[TextPair]:
    width = band_rows(threshold)
    for start in range(0, HASHES - width + 1, width):
        band = np.ascontiguousarray(rows[:, start : start + width])
        keys = band.view(np.dtype((np.void, band.dtype.itemsize * width))).ravel()
        _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(sizes)
        for n in np.flatnonzero(sizes > 1):
            yield from _pairs(order[ends[n] - sizes[n] : ends[n]].tolist())


def _pairs(texts: list[int]) -> Iterable[TextPair]:
    if len(texts) <= MOST:
        return combinations(texts, 2)
    return {*((texts[0], other) for other in texts[1:]), *pairwise(texts)}
