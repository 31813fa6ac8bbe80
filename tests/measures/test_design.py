"""Designs of rating rounds: balanced, reproducible by seed, and different for other seeds."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from measures.design import (
    balance,
    balanced_pairs,
    checks,
    degraded,
    digest,
    latin_lists,
    order_of_page,
    pair_balance,
    position_bounds,
    repeated,
    williams_square,
    with_check,
)

SYSTEMS = ["bart", "bigbird", "pegasus", "primera", "reference"]
PAGES = [f"page {i}" for i in range(40)]
SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize("m", range(2, 13))
def test_a_williams_square_balances_positions_and_neighbours(m: int) -> None:
    rows = williams_square(m)
    assert len(rows) == (2 * m if m % 2 else m)
    assert all(sorted(row) == list(range(m)) for row in rows)
    places = Counter((each, place) for row in rows for place, each in enumerate(row))
    assert set(places.values()) == {len(rows) // m}
    assert len(places) == m * m
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert set(followed) == set(permutations(range(m), 2))
    assert set(followed.values()) == {len(rows) // m}


def test_one_system_has_a_square_and_none_has_not() -> None:
    assert williams_square(1) == ((0,),)
    assert order_of_page(["only"], 3, 1, 0, "s") == ["only"]
    with pytest.raises(ValueError, match="needs a system"):
        williams_square(0)


@given(st.integers(2, 7), st.integers(0, 5), st.integers(0, 3), SEEDS)
def test_every_row_comes_once_in_consecutive_pages_of_a_place(m: int, block: int, number: int, seed: int) -> None:
    systems = [f"s{i}" for i in range(m)]
    rows = len(williams_square(m))
    orders = [tuple(order_of_page(systems, block * rows + i, number, 0, seed)) for i in range(rows)]
    assert len(set(orders)) == rows
    found = balance(orders)
    assert {count for line in found["positions"] for count in line} == {rows // m}
    assert {count for i, line in enumerate(found["transitions"]) for j, count in enumerate(line) if i != j} == {
        rows // m
    }


@given(st.integers(2, 6), st.integers(1, 30), st.integers(1, 3), SEEDS)
def test_no_seed_gives_counts_beyond_those_that_are_certain(m: int, pages: int, numbers: int, seed: int) -> None:
    systems = [f"s{i}" for i in range(m)]
    least, most = position_bounds(m, range(pages), numbers)
    found = balance(order_of_page(systems, page, n, 0, seed) for page in range(pages) for n in range(numbers))
    follows = [count for i, line in enumerate(found["transitions"]) for j, count in enumerate(line) if i != j]
    assert all(
        least <= count <= most for count in (*follows, *(count for line in found["positions"] for count in line))
    )
    assert (least == most) == (pages % len(williams_square(m)) == 0)


@given(st.integers(2, 6), st.integers(0, 50), st.integers(0, 3), SEEDS)
def test_a_repeated_page_has_another_order(m: int, page: int, number: int, seed: int) -> None:
    systems = [f"s{i}" for i in range(m)]
    had = [tuple(order_of_page(systems, page, number, repeat, seed)) for repeat in range(2)]
    assert had[0] != had[1]


def test_the_order_does_not_depend_on_how_the_systems_come() -> None:
    assert order_of_page(SYSTEMS, 7, 1, 0, 3) == order_of_page(SYSTEMS[::-1], 7, 1, 0, 3)


def test_systems_are_balanced_over_500_pages() -> None:
    """Chi-square, p > .01, of positions 0 and 1 of each page, and of whole orders."""
    for number in (0, 1):
        orders = [tuple(order_of_page(SYSTEMS[:4], page, number, 0, "uniform")) for page in range(500)]
        for counts in balance(orders)["positions"]:
            assert stats.chisquare(counts).pvalue > 0.01
        # A block of four pages has four balanced orders, one of which begins with the first system.
        wholes = Counter(order for order in orders if order[0] == SYSTEMS[0])
        assert wholes.total() == 125
        assert stats.chisquare([wholes[SYSTEMS[0], *each] for each in permutations(SYSTEMS[1:4])]).pvalue > 0.01


def test_two_raters_of_a_page_mostly_have_other_orders() -> None:
    same = sum(order_of_page(SYSTEMS, p, 0, 0, 1) == order_of_page(SYSTEMS, p, 1, 0, 1) for p in range(200))
    assert same < 20


@given(st.integers(1, 30), st.integers(1, 6), SEEDS)
def test_latin_lists_show_each_source_once_and_each_system_over_all_lists(n: int, m: int, seed: int) -> None:
    sources, systems = [f"q{i}" for i in range(n)], [f"s{i}" for i in range(m)]
    lists = latin_lists(sources, systems, seed)
    assert len(lists) == m
    for each in lists:
        assert sorted(each) == sorted(sources)
        counts = Counter(each.values())
        assert max(counts[s] for s in systems) - min(counts[s] for s in systems) <= 1
    for source in sources:
        assert sorted(each[source] for each in lists) == sorted(systems)


def test_the_next_system_in_a_list_is_independent_of_earlier_ones() -> None:
    """Each of 4 systems follows each one equally often up to one, and no fixed step leads to the next."""
    for seed in range(30):
        sources = [f"q{i}" for i in range(64)]
        lists = latin_lists(sources, SYSTEMS[:4], seed)
        for each in lists:
            followed = Counter(pairwise(each.values()))
            assert set(followed.values()) <= {2, 3, 4, 5, 6}
            assert len(followed) == 16
        steps = Counter((lists[0][source], lists[1][source]) for source in sources)
        assert len(steps) > 4  # a cyclic square has one step for each system


def test_a_source_comes_again_in_the_next_list_after_many_others() -> None:
    sources = [f"q{i}" for i in range(60)]
    walk = [source for each in latin_lists(sources, SYSTEMS, 3) for source in each]
    last: dict[str, int] = {}
    gaps = []
    for at, source in enumerate(walk):
        if source in last:
            gaps.append(at - last[source])
        last[source] = at
    assert min(gaps) >= 15


@given(st.integers(1, 25), st.integers(2, 5), st.data(), SEEDS)
def test_pairs_are_balanced_over_sources_and_sides_are_halved(n: int, m: int, data: st.DataObject, seed: int) -> None:
    sources, systems = [f"q{i}" for i in range(n)], [f"s{i}" for i in range(m)]
    each = data.draw(st.none() | st.integers(1, m * (m - 1) // 2))
    pairs = balanced_pairs(sources, systems, seed, each=each)
    assert Counter(pair.source for pair in pairs) == dict.fromkeys(sources, each or m * (m - 1) // 2)
    shown = Counter((pair.left, pair.right) for pair in pairs)
    counts = [shown[a, b] + shown[b, a] for a, b in combinations(systems, 2)]
    assert max(counts) - min(counts) <= 1
    assert all(abs(shown[a, b] - shown[b, a]) <= 1 for a, b in combinations(systems, 2))
    assert len({(pair.source, frozenset((pair.left, pair.right))) for pair in pairs}) == len(pairs)


def test_the_second_place_and_a_repeat_have_the_sides_turned() -> None:
    pairs = balanced_pairs(PAGES, SYSTEMS, 1)
    pair = pairs[0]
    assert pair.seen_at(0) == pair.seen_at(1, repeat=1) == pair.seen_at(2) == (pair.left, pair.right)
    assert pair.seen_at(1) == pair.seen_at(0, repeat=1) == (pair.right, pair.left)
    found = pair_balance(pairs, numbers=2)
    assert found["systems"] == SYSTEMS
    assert found["sides"] == [{"left": 160, "right": 160}] * 5
    assert {count for i, line in enumerate(found["pairs"]) for j, count in enumerate(line) if i != j} == {40}


def test_impossible_numbers_of_pairs_are_refused() -> None:
    for systems, each in ((SYSTEMS, 11), (SYSTEMS, 0), (SYSTEMS[:1], None)):
        with pytest.raises(ValueError, match="do not form"):
            balanced_pairs(PAGES, systems, 1, each=each)


def test_checks_are_a_share_of_the_pages_and_use_systems_equally() -> None:
    found = checks(dict.fromkeys(PAGES, SYSTEMS), 0.25, 3)
    assert len({each.page for each in found}) == 10
    assert set(Counter(each.system for each in found).values()) == {2}
    assert checks(dict.fromkeys(PAGES, SYSTEMS), 0, 3) == []
    assert len(checks(dict.fromkeys(PAGES, SYSTEMS), 1, 3)) == 40
    with pytest.raises(ValueError, match="between 0 and 1"):
        checks({}, 1.1, 3)


def test_checks_are_independent_of_the_previous_page() -> None:
    chosen = {each.page for each in checks({f"{i}": SYSTEMS for i in range(2000)}, 0.1, "any")}
    after = Counter((f"{i}" in chosen, f"{i + 1}" in chosen) for i in range(1999))
    table = [[after[a, b] for b in (False, True)] for a in (False, True)]
    assert stats.chi2_contingency(table).pvalue > 0.01


def test_a_check_can_have_any_position_on_its_page() -> None:
    places = Counter(with_check(["a", "b", "c"], "x", page, 0, 0, 5).index("x") for page in range(400))
    assert stats.chisquare([places[i] for i in range(4)]).pvalue > 0.01
    assert with_check(["a", "b"], "x", "p", 0, 0, 5) == with_check(["a", "b"], "x", "p", 0, 0, 5)


@given(st.integers(0, 60), st.floats(0, 1), st.integers(0, 25), SEEDS)
def test_a_repeated_page_comes_after_the_minimum_distance(n: int, share: float, distance: int, seed: int) -> None:
    pages = [f"p{i}" for i in range(n)]
    steps = repeated(pages, share, seed, distance=distance)
    assert [page for page, repeat in steps if not repeat] == pages
    again = {page: i for i, (page, repeat) in enumerate(steps) if repeat}
    assert len(again) == min(int(n * share + 0.5), max(n - distance, 0)) == len(steps) - n
    for page, at in again.items():
        assert at - steps.index((page, 0)) > distance


TEXT = "Aspirin lowers the risk of stroke. No effect on death was seen! More trials are needed."
OTHERS = ["Ranibizumab improved vision in eyes with macular oedema.", "Fewer fractures with vitamin D were seen."]


def test_a_degraded_text_is_the_same_for_a_seed_and_plainly_bad() -> None:
    worse = degraded(TEXT, OTHERS, 1)
    assert worse == degraded(TEXT, OTHERS[::-1], 1) == WORSE
    assert worse != degraded(TEXT, OTHERS, 2)
    mine, words = TEXT.split(), worse.split()
    assert len(set(words) & set(mine)) <= 0.6 * len(mine)
    assert set(words) <= set(mine) | {word for other in OTHERS for word in other.split()}


@given(st.text("aB .,é\n!", max_size=30), st.lists(st.text("aB .c", max_size=12), max_size=3), SEEDS)
def test_a_degraded_text_is_never_the_text_itself(text: str, others: list[str], seed: int) -> None:
    if not text.split():
        with pytest.raises(ValueError, match="without words"):
            degraded(text, others, seed)
        return
    worse = degraded(text, others, seed)
    assert worse.split()
    assert worse.split() != text.split()


def test_the_same_seed_gives_the_same_design_on_every_machine() -> None:
    williams = [order_of_page(SYSTEMS, page, number, 0, 7) for page in range(30) for number in range(2)]
    pairs = [[pair.source, pair.left, pair.right] for pair in balanced_pairs(PAGES, SYSTEMS, 7)]
    marks = [[each.page, each.system] for each in checks(dict.fromkeys(PAGES, SYSTEMS), 0.1, 7)]
    lists = [list(each.items()) for each in latin_lists(PAGES, SYSTEMS, 7)]
    again = [list(each) for each in repeated(PAGES, 0.1, 7)]
    found = [digest(plan) for plan in (williams, pairs, marks, lists, again)]
    assert found == GOLDEN
    assert digest({"a": 1, "b": [2.5]}) == digest({"b": [2.5], "a": 1}) != digest({"a": 1, "b": [2.6]})


WORSE = "in trials needed. effect death in on stroke. of D lowers"
GOLDEN = [
    "1e17c783ae495ed9e10277705126f79aaaea571650d9a94e95a20259f0d004f9",
    "f2415936ce458227a943eb600b9acc2448b958d0b341af8f1373d53878bb8ad4",
    "e28a3ee22fb74ced1f71ef2d82f35dafa5268b0778d9c60905cadd9459ee3ced",
    "115a5b6105791f4e5c1c3a5d946b88f04141dfb9a3974295746fd50a8a65584a",
    "7a5a01531b0ecba8603b684d52d5b935250035500a9be3d0de9419c29c87ef89",
]
