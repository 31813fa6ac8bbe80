"""The assignments of a round: overlap and repeats. Properties, without a database."""

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from projects.answers.assignments import PlannedAssignment, Shape, create_items

PEOPLE = (11, 12, 13, 14)


def chosen(units: int, size: int = 3) -> list[tuple[int, int]]:
    return [(100 + n, n // size) for n in range(units)]


def walks(slots: list[PlannedAssignment]) -> dict[int, list[PlannedAssignment]]:
    """Return each person's assignments in queue order."""
    found: dict[int, list[PlannedAssignment]] = defaultdict(list)
    for slot in slots:
        found[slot.person or 0].append(slot)
    return found


def test_a_round_without_an_overlap_block_asks_k_people_for_each_unit() -> None:
    slots = list(create_items(chosen(4), Shape(2), None, 1))
    assert [(s.unit, s.position, s.number) for s in slots[:3]] == [(100, 0, 1), (100, 0, 2), (101, 1, 1)]
    assert len(slots) == Shape(2).count(4) == 8


@given(
    units=st.integers(1, 60), share=st.sampled_from([0.1, 0.25, 0.5, 1.0]), dealt=st.booleans(), seed=st.integers(0, 9)
)
def test_a_block_is_a_share_of_the_units_and_each_of_them_has_distinct_people(
    units: int, share: float, dealt: bool, seed: int
) -> None:
    shape = Shape(1, share, 3)
    slots = list(create_items(chosen(units), shape, PEOPLE if dealt else None, seed))
    k = Counter(slot.unit for slot in slots)
    assert Counter(k.values())[3] == shape.in_block(units)
    assert set(k.values()) <= shape.overlaps()
    assert len(slots) == shape.count(units)
    assert slots == sorted(slots, key=lambda s: (s.position, s.number))
    if dealt:
        assert all(len({s.person for s in slots if s.unit == unit}) == n for unit, n in k.items())
        loads = Counter(s.person for s in slots)
        assert max(loads.values()) - min(loads[p] for p in PEOPLE) <= 2, "each part is even to one"


@given(
    units=st.integers(1, 80),
    distance=st.integers(1, 30),
    share=st.sampled_from([0.05, 0.2, 0.5]),
    seed=st.integers(0, 9),
)
def test_people_are_asked_again_only_what_they_were_asked_and_with_enough_in_between(
    units: int, distance: int, share: float, seed: int
) -> None:
    shape = Shape(2, repeat_share=share, repeat_distance=distance)
    for walk in walks(list(create_items(chosen(units), shape, PEOPLE, seed))).values():
        at = {(slot.unit, slot.repeat): n for n, slot in enumerate(walk)}
        firsts = [slot for slot in walk if not slot.repeat]
        again = [slot for slot in walk if slot.repeat]
        assert len(at) == len(walk), "nobody is asked a third time"
        for slot in again:
            between = {s.unit for s in walk[at[slot.unit, 0] + 1 : at[slot.unit, 1]] if not s.repeat}
            assert len(between) >= distance
            assert slot.number == next(s.number for s in firsts if s.unit == slot.unit)
        far = max(0, len(firsts) - distance - 1)
        assert len(again) == min(-(-len(firsts) * share // 1), far)


def test_the_same_seed_gives_the_same_assignments() -> None:
    shape = Shape(1, 0.3, 2, 0.2, 5)
    of = [list(create_items(chosen(40), shape, PEOPLE, seed)) for seed in (4, 4, 5)]
    assert of[0] == of[1] != of[2]


def test_frozen_settings_omit_options_that_a_round_lacks() -> None:
    assert Shape(2).as_json() == {}
    shape = Shape(1, 0.2, 3, 0.1, 15)
    assert Shape.of(1, shape.as_json()) == shape
