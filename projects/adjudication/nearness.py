"""How far the answers to one unit are apart. Pure: values in, figures out."""

from collections.abc import Sequence
from itertools import combinations
from statistics import mean

from .. import kinds

#: Two sums of distances that differ by less are the same.
SAME = 1e-9


def differing(kind: kinds.Kind, fields: Sequence[str], values: Sequence[kinds.Value]) -> list[str]:
    """The fields in which not all of the answers say the same."""
    return [f for f in fields if any(kind.apart(f, one, other) for one, other in combinations(values, 2))]


def distance(kind: kinds.Kind, fields: Sequence[str], one: kinds.Value, other: kinds.Value) -> float:
    """The mean over the fields of how far two answers are apart, from 0 to 1."""
    return mean(kind.apart(f, one, other) for f in fields)


def agreement(kind: kinds.Kind, fields: Sequence[str], values: Sequence[kinds.Value]) -> float | None:
    """1 less the mean distance of all pairs of answers; None of fewer than two."""
    pairs = list(combinations(values, 2))
    return 1 - mean(distance(kind, fields, one, other) for one, other in pairs) if pairs else None


def nearest(kind: kinds.Kind, fields: Sequence[str], values: Sequence[kinds.Value]) -> list[int]:
    """Which answers have the smallest sum of distances to the others. One, or the first of several that say the same;
    several where answers that differ are equally near, as two always are."""
    sums = [sum(distance(kind, fields, one, other) for other in values) for one in values]
    best = [i for i, total in enumerate(sums) if total - min(sums) < SAME]
    return [
        i
        for n, i in enumerate(best)
        if all(distance(kind, fields, values[i], values[other]) >= SAME for other in best[:n])
    ]
