"""Rankers side by side, against counts by hand."""

import pytest

from measures.evidence import Pair
from measures.means import NO_ITEMS
from measures.rankers import side_by_side

GOLD = {1: (1, frozenset({0})), 2: (1, frozenset({1})), 3: (2, frozenset({0, 4})), 4: (2, frozenset({2}))}


def ranked(**orders: tuple[int, ...]) -> dict[int, Pair]:
    """Return pairs of five sentences; ``p1`` is the order of pair 1, of review 1."""
    return {
        int(name[1:]): Pair(review, 5, gold, order)
        for name, order in orders.items()
        for review, gold in [GOLD[int(name[1:])]]
    }


ABC = {
    # Evidence first in 3 of 4 pairs, and among three in 4.
    "a": ranked(p1=(0, 1, 2, 3, 4), p2=(1, 0, 2, 3, 4), p3=(4, 0, 1, 2, 3), p4=(0, 1, 2, 3, 4)),
    # First in 1 of 4, and among three in 2.
    "b": ranked(p1=(0, 1, 2, 3, 4), p2=(4, 3, 2, 1, 0), p3=(1, 2, 0, 3, 4), p4=(0, 1, 3, 2, 4)),
    # First in 1 of 4, and among three in 3.
    "c": ranked(p1=(1, 0, 2, 3, 4), p2=(4, 3, 2, 1, 0), p3=(0, 1, 2, 3, 4), p4=(0, 2, 1, 3, 4)),
}


def test_recall_at_1_and_3_and_differences_from_the_best_equal_a_count_by_hand() -> None:
    beside = side_by_side(ABC)
    assert (beside.against, len(beside.common)) == ("a", 4)
    figures = {row.name: (row.report.top_1.value, row.report.top_3.value) for row in beside.rows}
    assert figures == {"a": (0.75, 1.0), "b": (0.25, 0.5), "c": (0.25, 0.75)}
    assert all((row.report.top_1.n, row.report.top_1.clusters) == (4, 2) for row in beside.rows)
    best, b, c = beside.rows
    assert best.differences == ()
    assert [one.comparison.difference.value for one in b.differences] == [-0.5, -0.5]
    assert [one.comparison.difference.value for one in c.differences] == [-0.5, -0.25]
    # Sums by review at 1: -1 and -1 for both, so 2 of 4 swaps are as extreme, times 2 rankers, at most 1.
    assert [one.comparison.p for one in b.differences] == [0.5, 0.5]
    assert b.differences[0].p == 1.0
    assert b.differences[0].comparison.difference.ci is None
    assert "few reviews" in b.differences[0].comparison.difference.ci_reason


def test_the_reference_can_be_chosen_and_must_exist() -> None:
    beside = side_by_side(ABC, "c")
    assert [row.name for row in beside.rows if not row.differences] == ["c"]
    [a] = [row for row in beside.rows if row.name == "a"]
    assert [one.comparison.difference.value for one in a.differences] == [0.5, 0.25]
    with pytest.raises(KeyError):
        side_by_side(ABC, "d")


def test_all_are_compared_on_the_pairs_that_each_has_ranked() -> None:
    few = {"d": ranked(p1=(0, 1, 2, 3, 4), p2=(0, 1, 2, 3, 4)), "without any": {}}
    beside = side_by_side(ABC | few)
    assert beside.common == {1, 2}
    rows = {row.name: row for row in beside.rows}
    assert rows["a"].report.top_1.value == 1.0
    assert (rows["d"].ranked, rows["a"].ranked, rows["a"].report.top_1.n) == (2, 4, 2)
    none = rows["without any"]
    assert (none.report.top_1.value, none.report.top_1.undefined) == (None, NO_ITEMS)
    assert none.differences[0].comparison.difference.undefined
    assert side_by_side({}).rows == ()


def test_many_reviews_have_intervals_and_a_small_p() -> None:
    def of(first: int) -> dict[int, Pair]:
        others = [n for n in range(5) if n != first]
        return {n: Pair(n // 2, 5, frozenset({0 if n % 7 else 1}), (first, *others)) for n in range(120)}

    beside = side_by_side({"first": of(0), "last": of(4)})
    first, last = beside.rows
    assert first.report.top_1.value == pytest.approx(102 / 120)
    assert first.report.top_1.ci
    assert (first.report.top_1.n, first.report.top_1.clusters) == (120, 60)
    assert last.differences[0].comparison.difference.value == pytest.approx(-102 / 120)
    assert last.differences[0].p is not None
    assert last.differences[0].p < 0.001
