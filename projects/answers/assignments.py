"""Plan the assignments of a round: units, overlap, people and repeats.

Most units are assigned to ``overlap`` people. An *overlap block*, a share of the units drawn by the seed, is assigned
to more people. One rater for most units and a block with three gives agreement at little cost.

*Repeats* assign some of a person's units to the same person again, at a distance. Progress, gold and agreement keep
repeats apart from the answers of different people.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Any, Self

from measures import sampling

#: (unit id, context id) pairs.
Chosen = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class PlannedAssignment:
    """A planned assignment.

    ``position`` is the order in the round, ``number`` counts the assignments of the unit, and ``repeat`` is 1 for a
    repeat. ``person`` is None in rounds with a shared queue.
    """

    unit: int
    position: int
    number: int
    repeat: int = 0
    person: int | None = None


@dataclass(frozen=True)
class Shape:
    """Overlap and repeats of a round. Shares are fractions of 1; 0 means none."""

    overlap: int
    block_share: float = 0.0
    block_overlap: int = 0
    repeat_share: float = 0.0
    #: Minimum number of the person's other units between an answer and its repeat.
    repeat_distance: int = 0

    @classmethod
    def of(cls, overlap: int, sampled: Mapping[str, Any]) -> Self:
        """Return the shape stored in a round's ``sampled`` data (see `as_json`)."""
        block, repeats = sampled.get("block") or {}, sampled.get("repeats") or {}
        return cls(
            overlap,
            block.get("share", 0.0),
            block.get("overlap", 0),
            repeats.get("share", 0.0),
            repeats.get("distance", 0),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the data stored with the round's overlap. Omit the parts that the round does not use."""
        block = {"block": {"share": self.block_share, "overlap": self.block_overlap}} if self.block_share else {}
        repeats = {"share": self.repeat_share, "distance": self.repeat_distance}
        return block | ({"repeats": repeats} if self.repeat_share else {})

    @property
    def most(self) -> int:
        """Maximum number of people per unit."""
        return max(self.overlap, self.block_overlap if self.block_share else 0)

    def overlaps(self) -> set[int]:
        """Return the possible numbers of people per unit."""
        return {self.overlap, self.most}

    def in_block(self, units: int) -> int:
        """Return how many of ``units`` units are in the overlap block."""
        return ceil(self.block_share * units)

    def count(self, units: int) -> int:
        """Return the number of assignments of ``units`` units, without repeats."""
        return units * self.overlap + self.in_block(units) * (
            self.block_overlap - self.overlap if self.block_share else 0
        )

    def again(self, units: int, people: int) -> int:
        """Return the approximate number of repeats for ``people`` people (see `_plan_repeats`)."""
        each = self.count(units) / people if people else 0
        far = max(0.0, each - self.repeat_distance - 1)
        return round(people * min(ceil(self.repeat_share * each), far))


def create_items(
    chosen: Chosen,
    shape: Shape,
    people: Sequence[int] | None,
    seed: int,
    by_kind: Mapping[int, Sequence[int]] | None = None,
    together: Mapping[int, int] | None = None,
) -> Iterator[PlannedAssignment]:
    """Yield the planned assignments of the chosen units, in the order of the round.

    ``people`` are the ids of the people in a fixed allocation, or None for a shared queue. ``by_kind`` gives the people
    of each unit if the kind allocates them itself. ``together``: see `overlap_block`.
    """
    block = overlap_block([unit for unit, _ in chosen], shape, seed, together)
    if people is None:
        for position, (unit, _) in enumerate(chosen):
            for number in range(1, (shape.block_overlap if unit in block else shape.overlap) + 1):
                yield PlannedAssignment(unit, position, number)
    else:
        allocated = _plan_allocated(chosen, by_kind) if by_kind else _allocate(chosen, shape, block, people, seed)
        yield from sorted(
            [*allocated, *_plan_repeats(allocated, shape, seed)], key=attrgetter("position", "number", "repeat", "unit")
        )


def overlap_block(units: Sequence[int], shape: Shape, seed: int, together: Mapping[int, int] | None = None) -> set[int]:
    """Return the units of the overlap block.

    ``together`` gives the group of each unit. Whole groups are drawn; the last one is cut to the size of the block.
    """
    if not shape.block_share:
        return set()
    size = shape.in_block(len(units))
    if not together:
        return set(sampling.sample(units, size, f"{seed}/block"))
    groups: dict[int, list[int]] = defaultdict(list)
    for unit in units:
        groups[together[unit]].append(unit)
    return set(sampling.shuffled_groups(groups, f"{seed}/block")[:size])


def _allocate(
    chosen: Chosen, shape: Shape, block: set[int], people: Sequence[int], seed: int
) -> list[PlannedAssignment]:
    contexts = dict(chosen)
    rest = [unit for unit in contexts if unit not in block]
    allocated = sampling.deal(rest, people, shape.overlap, seed, groups=contexts)
    if block:
        most = [unit for unit in contexts if unit in block]
        allocated |= sampling.deal(most, people, shape.block_overlap, seed, groups=contexts)
    return _plan_allocated(chosen, allocated)


def _plan_allocated(chosen: Chosen, allocated: Mapping[int, Sequence[int]]) -> list[PlannedAssignment]:
    return [
        PlannedAssignment(unit, position, number, person=person)
        for position, unit in enumerate(dict(chosen))
        for number, person in enumerate(allocated[unit], start=1)
    ]


def _plan_repeats(allocated: Sequence[PlannedAssignment], shape: Shape, seed: int) -> Iterator[PlannedAssignment]:
    """Yield the repeats of each person: a share of the person's own units.

    A repeat takes the position of a later unit of the same person, at the required distance. Units near the end of the
    person's order have no later position, so they are never repeated.
    """
    walks: dict[int, list[PlannedAssignment]] = defaultdict(list)
    if shape.repeat_share:
        for planned in allocated:
            walks[planned.person or 0].append(planned)
    for person, walk in walks.items():
        # One more than the distance, because two assignments at one position may come in either order.
        ahead = shape.repeat_distance + 1
        early = {planned.unit: n for n, planned in enumerate(walk[: max(0, len(walk) - ahead)])}
        wanted = min(ceil(shape.repeat_share * len(walk)), len(early))
        for unit in sampling.sample(early, wanted, f"{seed}/again/{person}"):
            first = walk[early[unit]]
            yield PlannedAssignment(unit, walk[early[unit] + ahead].position, first.number, 1, person)
