"""Units of a split, and their components.

Units that share a review, a PubMed id or a text are in one *component*, and a component is never divided.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

Ints = NDArray[np.int64]
#: Two texts of the units, by their numbers in `Units.texts`.
TextPair = tuple[int, int]
#: Number of reviews of a component that `bridges` tries to leave out.
TRIED = 60


@dataclass(frozen=True)
class SplitItem:
    """A unit: its review (or question), and the PubMed ids and texts that it consists of."""

    key: str
    review: str
    pmids: Sequence[str]
    texts: Sequence[str]


class Incidence:
    """Which units have which values. Row n: the unit ``units[n]`` has the value ``values[n]``."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._units, self._values = array("i"), array("i")
        self._arrays: tuple[Ints, Ints] | None = None

    def add(self, unit: int, values: Iterable[Any]) -> None:
        for value in values:
            self._units.append(unit)
            self._values.append(self._numbers.setdefault(value, len(self._numbers)))

    def __len__(self) -> int:
        """Return the number of distinct values."""
        return len(self._numbers)

    def names(self, numbers: Iterable[int]) -> list[Any]:
        """Return the values with these numbers, in their order."""
        wanted = dict.fromkeys(int(number) for number in numbers)
        known = {number: value for value, number in self._numbers.items() if number in wanted}
        return [known[number] for number in wanted]

    @property
    def arrays(self) -> tuple[Ints, Ints]:
        """Return the units and the values of the rows. No unit may be added afterwards."""
        if self._arrays is None:
            self._arrays = np.array(self._units, np.int64), np.array(self._values, np.int64)
            self._units, self._values = array("i"), array("i")
        return self._arrays


def folded(text: str) -> str:
    """Return a text for comparison: case and white space do not matter."""
    return " ".join(text.casefold().split())


def text_id(text: str) -> bytes:
    """Return the identity of a text: 16 bytes of a hash of its folded form. Empty for an empty text."""
    content = folded(text)
    return blake2b(content.encode(), digest_size=16).digest() if content else b""


class Units:
    """The units of a split in corpus order. Only digests of texts are kept."""

    def __init__(self, items: Iterable[SplitItem] = (), on_text: Callable[[str], None] | None = None) -> None:
        """``on_text`` is called with each distinct text, in the order of their numbers."""
        self._on_text = on_text
        self.keys: list[str] = []
        self.reviews, self.pmids, self.texts = Incidence(), Incidence(), Incidence()
        #: Values by stratum, one for each unit, "" for none. Set when all units are added.
        self.strata: dict[str, list[str]] = {}
        for item in items:
            self.add(item)

    def add(self, item: SplitItem) -> None:
        number = len(self.keys)
        self.keys.append(item.key)
        self.reviews.add(number, [item.review])
        self.pmids.add(number, filter(None, dict.fromkeys(item.pmids)))
        for text in item.texts:
            known = len(self.texts)
            self.texts.add(number, filter(None, [text_id(text)]))
            if self._on_text and len(self.texts) > known:
                self._on_text(text)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def review_of(self) -> Ints:
        """Return the number of the review of each unit."""
        return self.reviews.arrays[1]

    def review_keys(self, units: Iterable[int]) -> list[str]:
        """Return the reviews of units, each once."""
        return [str(name) for name in self.reviews.names(self.review_of[list(units)])]


def components(units: Units, near: Sequence[TextPair] = (), without: int | None = None) -> Ints:
    """Return the component of each unit, from 1 for the largest. Equal ones are in corpus order.

    ``near``: pairs of texts that count as equal. ``without``: a review whose units leave; their component is 0.
    """
    rows, columns, start = [], [], len(units)
    kept = np.ones(len(units), bool) if without is None else units.review_of != without
    for incidence in (units.reviews, units.pmids, units.texts):
        of_unit, value = incidence.arrays
        chosen = kept[of_unit]
        rows.append(of_unit[chosen])
        columns.append(value[chosen] + start)
        if incidence is units.texts and len(near):
            pairs = np.array(near, np.int64) + start
            rows.append(pairs[:, 0])
            columns.append(pairs[:, 1])
        start += len(incidence)
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = coo_array((np.ones(len(row), np.int8), (row, column)), (start, start))
    labels = connected_components(graph, directed=False)[1][: len(units)]
    present, first, size = np.unique(labels[kept], return_index=True, return_counts=True)
    number = np.zeros(start, np.int64)
    number[present[np.lexsort((first, -size))]] = np.arange(1, len(present) + 1)
    return np.where(kept, number[labels], 0)


def bridges(units: Units, near: Sequence[TextPair] = ()) -> list[tuple[str, int]]:
    """Return reviews without which the largest component is smaller, and the size that is left, best first.

    Only the `TRIED` reviews of the component that share the most PubMed ids with others are tried.
    """
    number = components(units, near)
    unit, value = units.pmids.arrays
    times = np.bincount(value, minlength=len(units.pmids))
    inside = number[unit] == 1
    shared = np.bincount(units.review_of[unit[inside]], (times[value[inside]] > 1).astype(float), len(units.reviews))
    size = int((number == 1).sum())
    found = []
    for review in np.argsort(-shared, kind="stable")[:TRIED]:
        if shared[review]:
            left = int(np.bincount(components(units, near, int(review)))[1:].max(initial=0))
            if left < size:
                found.append((str(units.reviews.names([review])[0]), left))
    return sorted(found, key=lambda pair: pair[1])
