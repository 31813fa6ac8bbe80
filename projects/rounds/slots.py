"""Which slots a round has: how many people each unit is asked of, who they are, and what one of them is asked again.

Most units are asked of ``overlap`` people. An *overlap block*, a share of the units drawn by the seed, is asked of
more: one rater each and a block of three gives agreement at little cost. *Repeats* ask a person some of the own units
again, at a distance: what people say twice is apart from what two people say, in progress, gold and agreement.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Any, Self

from measures import sampling

#: Unit id and context.
Chosen = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Slot:
    """One slot to be: place in the walk, number among those of its unit, which time, and whose where it is dealt."""

    unit: int
    position: int
    number: int
    repeat: int = 0
    person: int | None = None


@dataclass(frozen=True)
class Shape:
    """How many people units are asked of, and how much of it again. Shares are of 1; 0 for none."""

    overlap: int
    block_share: float = 0.0
    block_overlap: int = 0
    repeat_share: float = 0.0
    #: So many other units of the person's own lie between the first time and the second.
    repeat_distance: int = 0

    @classmethod
    def of(cls, overlap: int, sampled: Mapping[str, Any]) -> Self:
        """The shape that was frozen in a round (`as_json`)."""
        block, repeats = sampled.get("block") or {}, sampled.get("repeats") or {}
        return cls(
            overlap,
            block.get("share", 0.0),
            block.get("overlap", 0),
            repeats.get("share", 0.0),
            repeats.get("distance", 0),
        )

    def as_json(self) -> dict[str, Any]:
        """What is frozen beside the overlap: nothing of what the round does not have."""
        block = {"block": {"share": self.block_share, "overlap": self.block_overlap}} if self.block_share else {}
        again = {"share": self.repeat_share, "distance": self.repeat_distance}
        return block | ({"repeats": again} if self.repeat_share else {})

    @property
    def most(self) -> int:
        """How many people a unit is asked of at most."""
        return max(self.overlap, self.block_overlap if self.block_share else 0)

    def overlaps(self) -> set[int]:
        """How many people a unit can be asked of."""
        return {self.overlap, self.most}

    def in_block(self, units: int) -> int:
        """How many of so many units lie in the block."""
        return ceil(self.block_share * units)

    def count(self, units: int) -> int:
        """How many slots so many units have, without what is asked again."""
        return units * self.overlap + self.in_block(units) * (
            self.block_overlap - self.overlap if self.block_share else 0
        )

    def again(self, units: int, people: int) -> int:
        """About how many of these slots' answers, dealt to so many people, are asked a second time (`_again`)."""
        each = self.count(units) / people if people else 0
        far = max(0.0, each - self.repeat_distance - 1)
        return round(people * min(ceil(self.repeat_share * each), far))


def lay_out(
    chosen: Chosen, shape: Shape, people: Sequence[int] | None, seed: int,
    by_kind: Mapping[int, Sequence[int]] | None = None,
) -> Iterator[Slot]:  # fmt: skip
    """The slots of these (unit, context) ids, in the order of the walk. ``people``: among whom they are dealt; None
    where people come and claim them. ``by_kind``: whom each unit is asked of, where the kind deals them itself."""
    block = _block([unit for unit, _ in chosen], shape, seed)
    if people is None:
        for position, (unit, _) in enumerate(chosen):
            for number in range(1, (shape.block_overlap if unit in block else shape.overlap) + 1):
                yield Slot(unit, position, number)
    else:
        dealt = _placed(chosen, by_kind) if by_kind else _dealt(chosen, shape, block, people, seed)
        yield from sorted([*dealt, *_again(dealt, shape, seed)], key=attrgetter("position", "number", "repeat", "unit"))


def _block(units: Sequence[int], shape: Shape, seed: int) -> set[int]:
    return set(sampling.sample(units, shape.in_block(len(units)), f"{seed}/block")) if shape.block_share else set()


def _dealt(chosen: Chosen, shape: Shape, block: set[int], people: Sequence[int], seed: int) -> list[Slot]:
    contexts = dict(chosen)
    rest = [unit for unit in contexts if unit not in block]
    dealt = sampling.deal(rest, people, shape.overlap, seed, groups=contexts)
    if block:
        most = [unit for unit in contexts if unit in block]
        dealt |= sampling.deal(most, people, shape.block_overlap, seed, groups=contexts)
    return _placed(chosen, dealt)


def _placed(chosen: Chosen, dealt: Mapping[int, Sequence[int]]) -> list[Slot]:
    return [
        Slot(unit, position, number, person=person)
        for position, unit in enumerate(dict(chosen))
        for number, person in enumerate(dealt[unit], start=1)
    ]


def _again(dealt: Sequence[Slot], shape: Shape, seed: int) -> Iterator[Slot]:
    """What each person is asked a second time: a share of the own units, each where another one of theirs stands that
    comes far enough after it. At the end of a walk there is none so far, so those are never asked again."""
    walks: dict[int, list[Slot]] = defaultdict(list)
    if shape.repeat_share:
        for slot in dealt:
            walks[slot.person or 0].append(slot)
    for person, walk in walks.items():
        # One further: of two slots at one place the other may come first.
        ahead = shape.repeat_distance + 1
        early = {slot.unit: n for n, slot in enumerate(walk[: max(0, len(walk) - ahead)])}
        wanted = min(ceil(shape.repeat_share * len(walk)), len(early))
        for unit in sampling.sample(early, wanted, f"{seed}/again/{person}"):
            first = walk[early[unit]]
            yield Slot(unit, walk[early[unit] + ahead].position, first.number, 1, person)
