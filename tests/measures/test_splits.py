"""Components and their allotment to parts, compared with plain definitions on random units."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.splits.allotting import Part, SplitRefused, allot, count_strata, rare_values, size_groups, table_of
from measures.splits.leaking import leakage, random_leakage
from measures.splits.units import SplitItem, Units, bridges, components

PARTS = (Part("train", 0.8), Part("dev", 0.1), Part("test", 0.1))
ITEMS = st.lists(
    st.tuples(
        st.integers(0, 12), st.lists(st.integers(0, 30), max_size=4), st.lists(st.sampled_from("abcdefgh"), max_size=2)
    ),
    min_size=1,
    max_size=25,
)


def units_of(items: list[tuple[int, list[int], list[str]]]) -> Units:
    return Units(
        SplitItem(f"{n}", f"r{review}", [str(p) for p in pmids], texts)
        for n, (review, pmids, texts) in enumerate(items)
    )


def are_linked(one: tuple[int, list[int], list[str]], other: tuple[int, list[int], list[str]]) -> bool:
    return one[0] == other[0] or bool({*one[1]} & {*other[1]}) or bool({*one[2]} & {*other[2]})


@given(ITEMS)
def test_linked_units_are_in_one_component_and_components_are_no_larger(
    items: list[tuple[int, list[int], list[str]]],
) -> None:
    # Relabel until nothing changes.
    group = list(range(len(items)))
    changed = True
    while changed:
        changed = False
        for a, b in combinations(range(len(items)), 2):
            if group[a] != group[b] and are_linked(items[a], items[b]):
                group = [group[a] if g == group[b] else g for g in group]
                changed = True
    found = components(units_of(items)).tolist()
    assert [
        (a, b) for a, b in combinations(range(len(items)), 2) if (found[a] == found[b]) != (group[a] == group[b])
    ] == []
    sizes = np.bincount(found)[1:]
    assert list(sizes) == sorted(sizes, reverse=True)
    assert min(found) == 1


@given(ITEMS, st.lists(st.integers(-1, 2), min_size=25, max_size=25))
def test_leakage_counts_the_values_of_both_parts(
    items: list[tuple[int, list[int], list[str]]], chosen: list[int]
) -> None:
    parts = chosen[: len(items)]
    report = leakage(units_of(items), parts, ["a", "b", "c"])
    for pair, (i, j) in zip(report["pairs"], combinations(range(3), 2), strict=True):
        values: dict[str, list[set[Any]]] = {
            "pmids": [set(item[1]) for item in items],
            "texts": [set(item[2]) for item in items],
        }
        for name, of_items in values.items():
            first, second = (
                set().union(*(has for has, part in zip(of_items, parts, strict=True) if part == k)) for k in (i, j)
            )
            assert pair[name]["count"] == len(first & second)
    assert all(pair["near"] is None for pair in report["pairs"])


@given(st.lists(st.integers(1, 20), min_size=10, max_size=60), st.integers(0, 5))
def test_no_part_misses_its_share_by_more_than_the_largest_component(sizes: list[int], seed: int) -> None:
    total = sum(sizes)
    if max(sizes) > total * 0.8:
        return
    chosen = allot(sizes, [str(n) for n in range(len(sizes))], PARTS, seed)
    for n, part in enumerate(PARTS):
        count = sum(size for size, other in zip(sizes, chosen, strict=True) if other == n)
        assert count > 0
        assert abs(count - part.share * total) <= max(sizes) + 1


def test_a_large_component_goes_to_the_largest_part() -> None:
    assert allot([40] + [1] * 60, [str(n) for n in range(61)], PARTS, 0)[0] == 0


def test_the_order_of_equal_components_depends_on_the_seed_and_the_names_only() -> None:
    names = [f"u{n}" for n in range(40)]
    first = dict(zip(names, allot([1] * 40, names, PARTS, 1), strict=True))
    again = dict(zip(names[::-1], allot([1] * 40, names[::-1], PARTS, 1), strict=True))
    assert first == again
    assert first != dict(zip(names, allot([1] * 40, names, PARTS, 2), strict=True))


def test_too_few_or_too_large_components_are_refused() -> None:
    with pytest.raises(SplitRefused, match="Only 2 components for 3 parts"):
        allot([5, 5], ["a", "b"], PARTS, 0)
    tenths = [Part(f"fold{n}", 0.1) for n in range(10)]
    with pytest.raises(SplitRefused, match="60 of 100 units") as refused:
        allot([60] + [1] * 40, [str(n) for n in range(41)], tenths, 0)
    assert refused.value.ways == ["Give a part a share of at least 60%."]


def test_near_equal_texts_join_components_and_are_reported_by_pair() -> None:
    units = Units(SplitItem(f"{n}", f"r{n}", [], [f"text {n}"]) for n in range(4))
    near = {(0, 3): 0.91}
    assert components(units, list(near)).tolist() == [1, 2, 3, 1]
    report = leakage(units, [0, 0, 1, 1], ["a", "b"], near)
    assert report["pairs"][0]["near"] == {"count": 1, "first": [["0", "3", 0.91]]}


def test_a_bridge_is_a_review_without_which_the_largest_component_is_smaller() -> None:
    items = [
        SplitItem("hub", "hub", ["1", "2", "3"], []),
        *(SplitItem(f"{n}", f"r{n}", [str(n)], []) for n in (1, 2, 3)),
    ]
    assert bridges(Units(items)) == [("hub", 1), ("r1", 3), ("r2", 3), ("r3", 3)]


def test_random_splits_of_units_that_share_nothing_are_clean() -> None:
    units = Units(SplitItem(f"{n}", f"r{n}", [str(n)], []) for n in range(20))
    report = random_leakage(units, PARTS, 0, 10)
    assert [pair["pmids"] for pair in report["pairs"]] == [0, 0, 0]
    assert report["clean_over_all"] == 10
    every = Units(SplitItem(f"{n}", f"r{n}", ["1"], []) for n in range(20))
    report = random_leakage(every, PARTS, 0, 10)
    assert [pair["pmids"] for pair in report["pairs"]] == [1, 1, 1]
    assert report["clean_over_all"] == 0


def test_strata_are_counted_by_part_and_rare_values_are_found() -> None:
    units = Units(SplitItem(f"{n}", f"r{n}", [], []) for n in range(4))
    units.strata = {"topic": ["eye", "eye", "heart", ""]}
    rows = count_strata(units, [0, 1, 0, -1], 2)
    assert [(row.name, row.value, row.counts) for row in rows] == [
        ("", "", (2, 1)),
        ("topic", "eye", (1, 1)),
        ("topic", "heart", (1, 0)),
    ]
    assert rows[1].deviations([0.5, 0.5]) == [0, 0]
    of_component = components(units)
    assert rare_values(of_component, units.strata["topic"], 2) == ["heart"]
    assert table_of(of_component, units.strata["topic"])[0] == ["eye", "heart"]


@given(st.lists(st.integers(0, 50), min_size=1))
def test_sizes_are_grouped_in_at_most_four_ranges_that_contain_them(sizes: list[int]) -> None:
    groups = size_groups(sizes)
    assert 1 <= len(set(groups)) <= 4
    for size, group in zip(sizes, groups, strict=True):
        low, _, high = group.partition("-")
        assert int(low) <= size <= int(high or low)
