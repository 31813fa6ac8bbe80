"""What parts share: PubMed ids, equal texts and near-equal texts; and what parts of a random split would share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .allotting import Part
from .units import Incidence, Ints, TextPair, Units

#: Maximum number of shared ids and texts that are named.
NAMED = 20


def _bits(incidence: Incidence, part: Ints) -> NDArray[np.uint64]:
    """Return for each value the parts that have it, as bits."""
    unit, value = incidence.arrays
    chosen = part[unit] >= 0
    bits = np.zeros(len(incidence), np.uint64)
    np.bitwise_or.at(bits, value[chosen], np.uint64(1) << part[unit[chosen]].astype(np.uint64))
    return bits


def _has(bits: NDArray[np.uint64], part: int) -> NDArray[np.bool_]:
    has: NDArray[np.bool_] = (bits >> np.uint64(part)) & np.uint64(1) == 1
    return has


def pairs_of(parts: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(parts) for j in range(i + 1, parts)]


def leakage(
    units: Units, part_of: Sequence[int], parts: Sequence[str], near: Mapping[TextPair, float] | None = None
) -> dict[str, Any]:
    """Return what each part has and what each pair of parts shares: PubMed ids, equal texts and near-equal texts.

    ``near``: pairs of near-equal texts with their similarity; None if they were not searched. Of everything shared, the
    number and the first `NAMED` are given: ids, and the keys of two units with an equal text.
    """
    part = np.array(part_of, np.int64)
    pmids, texts = _bits(units.pmids, part), _bits(units.texts, part)
    pairs = []
    for i, j in pairs_of(len(parts)):
        shared, equal = (np.flatnonzero(_has(bits, i) & _has(bits, j)) for bits in (pmids, texts))
        pairs.append(
            {
                "parts": [parts[i], parts[j]],
                "pmids": {"count": len(shared), "first": units.pmids.names(shared[:NAMED])},
                "texts": {
                    "count": len(equal),
                    "first": [[_unit_with(units, part, int(n), p) for p in (i, j)] for n in equal[:NAMED]],
                },
                "near": None if near is None else _near_of(units, part, texts, near, i, j),
            }
        )
    return {
        "parts": [
            {"part": name, "pmids": int(_has(pmids, n).sum()), "texts": int(_has(texts, n).sum())}
            for n, name in enumerate(parts)
        ],
        "pairs": pairs,
    }


def _unit_with(units: Units, part: Ints, text: int, of_part: int) -> str:
    """Return the first unit of a part that has a text."""
    unit, value = units.texts.arrays
    return units.keys[int(next(n for n in unit[value == text] if part[n] == of_part))]


def _near_of(
    units: Units, part: Ints, bits: NDArray[np.uint64], near: Mapping[TextPair, float], i: int, j: int
) -> dict[str, Any]:
    found = []
    for (first, second), similarity in near.items():
        for one, other in ((first, second), (second, first)):
            if _has(bits[one : one + 1], i)[0] and _has(bits[other : other + 1], j)[0]:
                found.append((one, other, similarity))
                break
    return {
        "count": len(found),
        "first": [
            [_unit_with(units, part, a, i), _unit_with(units, part, b, j), round(s, 3)] for a, b, s in found[:NAMED]
        ],
    }


def random_leakage(units: Units, parts: Sequence[Part], seed: int, repeats: int = 200) -> dict[str, Any]:
    """Return the mean number of PubMed ids that pairs of parts share if reviews are divided at random.

    ``clean_over_all``: how many of these splits pass the test of MS^2, which only looks for ids in all parts at once.
    """
    of_unit, value = units.pmids.arrays
    pairs = np.unique(np.stack([units.review_of[of_unit], value]), axis=1)
    review = pairs[0]
    bounds = np.rint(np.cumsum([part.share for part in parts]) * len(units.reviews))[:-1]
    generator, every = np.random.default_rng(seed), (np.uint64(1) << np.uint64(len(parts))) - np.uint64(1)
    totals, clean = np.zeros(len(pairs_of(len(parts)))), 0
    for _ in range(repeats):
        rank = generator.permutation(len(units.reviews))
        bits = np.zeros(len(units.pmids), np.uint64)
        np.bitwise_or.at(
            bits, pairs[1], np.uint64(1) << np.searchsorted(bounds, rank, "right").astype(np.uint64)[review]
        )
        totals += [int((_has(bits, i) & _has(bits, j)).sum()) for i, j in pairs_of(len(parts))]
        clean += int(not (bits == every).any())
    names = [part.name for part in parts]
    return {
        "repeats": repeats,
        "pairs": [
            {"parts": [names[i], names[j]], "pmids": round(float(total) / repeats, 1)}
            for (i, j), total in zip(pairs_of(len(parts)), totals, strict=True)
        ],
        "clean_over_all": clean,
    }
