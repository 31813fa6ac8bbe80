"""Plan returning gold items: units with a known answer that each person gets among the units of a round, unmarked.

Each returning item has a position of its own, and is planned, claimed, answered and skipped like the other units. Only
its `repeat` (`RETURNED`) tells it apart: whatever counts answers of different people reads `repeat` 0. Items of one
context return together and between contexts, because an item of another context in the middle would be conspicuous.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Self

from measures import sampling

from ..models.round import RETURNED
from .assignments import Chosen, PlannedAssignment

#: Default accuracy below which people are warned, in percent.
BAR = 85


@dataclass(frozen=True)
class Returning:
    """Settings of returning items: their share of a person's units, the bar in percent, and the items."""

    share: float
    bar: int
    #: Round whose decided units return. None for any decided units.
    source: int | None
    units: Sequence[int] = ()
    #: Number of different items that a person can get, known once the round is open.
    items: int = 0

    @classmethod
    def of(cls, sampled: Mapping[str, Any]) -> Self | None:
        """Return the settings stored in a round's ``sampled`` data, or None if no items return."""
        stored = sampled.get("returned")
        return cls(**stored) if stored else None


#: Items at one place of the order: the planned assignments of each item, without their position.
Place = list[list[PlannedAssignment]]


def plan_shared(
    chosen: Chosen, items: Chosen, *, share: float, overlap: int, people: int, seed: int
) -> list[tuple[int, Place]]:
    """Return the returning items of a shared queue as (position of the unit that follows, items).

    Each item is claimed by ``overlap`` people, like a unit. If there are more people, it has several positions, because
    nobody gets it twice.
    """
    wanted = min(ceil(share * len(chosen)), len(items) * max(1, ceil(people / overlap)))
    groups, passes = list[list[int]](), 0
    while sum(map(len, groups)) < wanted:
        groups += _groups(items, f"{seed}/returned/{passes}")
        passes += 1
    numbers = Counter[int]()
    places = list[tuple[int, Place]]()
    groups = _cut(groups, wanted)
    for before, group in zip(
        _places(list(dict(chosen).values()), len(groups), f"{seed}/returned"), groups, strict=True
    ):
        place = list[list[PlannedAssignment]]()
        for unit in group:
            place.append([PlannedAssignment(unit, 0, numbers[unit] + n, RETURNED) for n in range(1, overlap + 1)])
            numbers[unit] += overlap
        places.append((before, place))
    return places


def plan_fixed(
    planned: Sequence[PlannedAssignment],
    contexts: Mapping[int, int],
    items: Chosen,
    barred: Mapping[int, Set[int]],
    *,
    share: float,
    seed: int,
) -> list[tuple[int, Place]]:
    """Return the returning items of a fixed allocation, as `plan_shared` does. Each item has one person.

    ``barred`` are the items that a person must not get, by member id.
    """
    own = defaultdict[int, list[PlannedAssignment]](list)
    for one in planned:
        if one.person and not one.repeat:
            own[one.person].append(one)
    numbers = Counter[int]()
    places = list[tuple[int, Place]]()
    for person, units in sorted(own.items()):
        allowed = [item for item in items if item[0] not in barred.get(person, ())]
        groups = _cut(_groups(allowed, f"{seed}/returned/{person}"), ceil(share * len(units)))
        order = [contexts[one.unit] for one in units]
        for at, group in zip(_places(order, len(groups), f"{seed}/returned/{person}"), groups, strict=True):
            before = units[at].position if at < len(units) else units[-1].position + 1
            place = list[list[PlannedAssignment]]()
            for unit in group:
                numbers[unit] += 1
                place.append([PlannedAssignment(unit, 0, numbers[unit], RETURNED, person)])
            places.append((before, place))
    return sorted(places, key=lambda place: place[0])


def weave(planned: Iterable[PlannedAssignment], places: Sequence[tuple[int, Place]]) -> Iterator[PlannedAssignment]:
    """Yield planned assignments and returning items in order, with new positions. ``places`` must be sorted."""
    waiting, at, last = list(reversed(places)), -1, -1

    def due(before: int | None) -> Iterator[PlannedAssignment]:
        nonlocal at
        while waiting and (before is None or waiting[-1][0] <= before):
            for item in waiting.pop()[1]:
                at += 1
                yield from (replace(one, position=at) for one in item)

    for one in planned:
        if one.position != last:
            yield from due(one.position)
            at, last = at + 1, one.position
        yield replace(one, position=at)
    yield from due(None)


def _groups(items: Chosen, seed: str) -> list[list[int]]:
    """Return the items by context, in the seed's order. Items without a context are single."""
    groups = defaultdict[str, list[int]](list)
    for unit, context in items:
        groups[f"context {context}" if context else f"unit {unit}"].append(unit)
    return [groups[key] for key in sampling.shuffled(groups, seed)]


def _cut(groups: Sequence[list[int]], size: int) -> list[list[int]]:
    """Return the first groups with ``size`` members together; the last one is cut."""
    out = list[list[int]]()
    for group in groups:
        if (left := size - sum(map(len, out))) <= 0:
            break
        out.append(group[:left])
    return out


def _places(contexts: Sequence[int], n: int, seed: str) -> list[int]:
    """Return ``n`` places between contexts in ascending order, one at random in each of n equal parts of the order.

    A place is the index of the unit that follows.
    """
    free = [i for i in range(len(contexts) + 1) if i in (0, len(contexts)) or _changes(contexts, i)]
    out = []
    for part in range(n):
        first, end = part * len(free) // n, max((part + 1) * len(free) // n, part * len(free) // n + 1)
        out.append(sampling.shuffled(free[first:end], f"{seed}/{part}")[0])
    return out


def _changes(contexts: Sequence[int], i: int) -> bool:
    return contexts[i] == 0 or contexts[i] != contexts[i - 1]
