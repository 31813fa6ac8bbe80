"""Samples and allocations: reproducible, balanced, with groups kept together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.sampling import deal, sample, shuffled, shuffled_groups, stratified

IDS = st.lists(st.integers(0, 10_000), unique=True, max_size=40)


def test_the_order_is_fixed_for_all_platforms_and_versions() -> None:
    assert shuffled(["a", "b", "c", "d", "e", "f"], seed=7) == FIXED
    assert sample(range(100), 5, seed="study") == [36, 16, 56, 71, 27]


FIXED = ["c", "e", "a", "f", "d", "b"]  # by sha256sum of "7:a" ... "7:f"


@given(IDS, st.integers())
def test_the_order_does_not_depend_on_the_order_of_the_ids(ids: list[int], seed: int) -> None:
    assert shuffled(ids, seed) == shuffled(list(reversed(ids)), seed)
    assert sorted(shuffled(ids, seed)) == sorted(ids)


@given(IDS, st.integers(), st.data())
def test_a_larger_sample_only_appends(ids: list[int], seed: int, data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(ids)))
    assert shuffled(ids, seed)[:n] == sample(ids, n, seed)


def test_sampling_more_than_exists_is_refused_and_ids_are_unique() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        sample([1, 2], 3, seed=0)
    with pytest.raises(ValueError, match="repeated"):
        shuffled([1, 1], seed=0)


def test_strata_are_sampled_in_proportion_with_the_largest_remainders() -> None:
    strata = {"strong": range(16), "moderate": range(100, 339), "weak": range(400, 503), "none": range(600, 623)}
    chosen = stratified({k: list(v) for k, v in strata.items()}, 40, seed=3)
    by_stratum = Counter(name for each in chosen for name, ids in strata.items() if each in ids)
    assert by_stratum == {"strong": 2, "moderate": 25, "weak": 11, "none": 2}
    assert chosen == stratified({k: list(reversed(v)) for k, v in strata.items()}, 40, seed=3)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), min_size=1), st.data())
def test_each_stratum_is_within_one_of_its_share(sizes: dict[str, int], data: st.DataObject) -> None:
    strata = {name: [f"{name}{i}" for i in range(size)] for name, size in sizes.items()}
    total = sum(sizes.values())
    n = data.draw(st.integers(0, total))
    chosen = stratified(strata, n, seed=1)
    assert len(chosen) == len(set(chosen)) == n
    for name, size in sizes.items():
        got = sum(each.startswith(name) for each in chosen)
        assert total == 0 or abs(got - n * size / total) < 1


def test_groups_are_shuffled_whole_and_keep_their_own_order() -> None:
    groups = {f"g{i}": [(i, j) for j in range(3)] for i in range(10)}
    order: list[tuple[int, int]] = shuffled_groups(groups, seed=5)
    heads = [i for i, j in order if j == 0]
    assert order == [(i, j) for i in heads for j in range(3)]
    assert heads != sorted(heads)
    assert shuffled_groups(list(groups.values()), seed=5) != shuffled_groups(list(groups.values()), seed=6)


@st.composite
def rounds(draw: st.DrawFn) -> tuple[list[int], list[str], int, dict[int, int], int]:
    n, p = draw(st.integers(0, 60)), draw(st.integers(1, 8))
    k = draw(st.integers(1, p))
    groups = {u: draw(st.integers(0, 8)) for u in range(n)} if draw(st.booleans()) else {}
    return list(range(n)), [f"p{i}" for i in range(p)], k, groups, draw(st.integers(0, 99))


@given(rounds())
def test_each_unit_gets_k_distinct_people_and_loads_differ_by_at_most_one(
    case: tuple[list[int], list[str], int, dict[int, int], int],
) -> None:
    units, people, k, groups, seed = case
    dealt = deal(units, people, k, seed, groups=groups)
    assert list(dealt) == units
    assert all(len(team) == len(set(team)) == k for team in dealt.values())
    loads = Counter(dict.fromkeys(people, 0))
    loads.update(person for team in dealt.values() for person in team)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert dealt == deal(units, list(reversed(people)), k, seed, groups=groups)


def test_units_of_one_context_go_to_the_same_people_if_balance_allows() -> None:
    units = [f"c{c}u{i}" for c in range(60) for i in range(5)]
    groups = {unit: unit.split("u")[0] for unit in units}
    dealt = deal(units, [f"p{i}" for i in range(6)], 3, seed=11, groups=groups)
    whole = sum(len({frozenset(dealt[u]) for u in units if groups[u] == c}) == 1 for c in set(groups.values()))
    assert whole >= 54


def test_every_two_people_share_units_so_that_they_can_be_compared() -> None:
    people = [f"p{i}" for i in range(6)]
    dealt = deal(range(120), people, 2, seed=2)
    together = Counter(frozenset(pair) for team in dealt.values() for pair in combinations(team, 2))
    assert len(together) == 15
    assert min(together.values()) >= 4


def test_seeds_change_the_allocation_and_neighbouring_units_mix_people() -> None:
    people = [f"p{i}" for i in range(5)]
    first = deal(range(50), people, 2, seed=1)
    assert first != deal(range(50), people, 2, seed=2)
    assert any(first[a] != first[b] for a, b in pairwise(range(50)))


def test_an_overlap_above_the_number_of_people_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be assigned"):
        deal([1, 2], ["ann", "bob"], 3, seed=0)
    with pytest.raises(ValueError, match="distinct"):
        deal([1, 1], ["ann", "bob"], 1, seed=0)
