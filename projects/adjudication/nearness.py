"""How far the answers to one unit are apart. Pure: values in, figures out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from .. import kinds

#: Two figures that differ by less are the same.
SAME = 1e-9


@dataclass(frozen=True)
class Nearness:
    """What some answers to one unit have in common."""

    #: The fields in which not all of them say the same.
    differing: list[str]
    #: 1 less the mean distance of all pairs; None of fewer than two answers.
    agreement: float | None
    #: Which answers have the smallest sum of distances to the others: one, or the first of several that say the same;
    #: several where answers that differ are equally near, as two always are.
    nearest: list[int]


def nearness(kind: kinds.Kind, fields: Sequence[str], values: Sequence[kinds.Value]) -> Nearness:
    """Each pair is compared once, field by field; their distance is the mean over the fields, from 0 to 1."""
    pairs = list(combinations(range(len(values)), 2))
    apart = {pair: [kind.apart(f, values[pair[0]], values[pair[1]]) for f in fields] for pair in pairs}
    distance = {pair: fmean(by_field) for pair, by_field in apart.items()}
    sums = [0.0] * len(values)
    for (one, other), far in distance.items():
        sums[one] += far
        sums[other] += far
    best = [i for i, total in enumerate(sums) if total - min(sums) < SAME]
    return Nearness(
        differing=[f for n, f in enumerate(fields) if any(by_field[n] > 0 for by_field in apart.values())],
        agreement=1 - fmean(distance.values()) if pairs else None,
        nearest=[i for n, i in enumerate(best) if all(distance[other, i] >= SAME for other in best[:n])],
    )
