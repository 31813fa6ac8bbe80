import pytest

from generation.backends.assembly import cut, shares


def test_cutting_from_the_front_keeps_the_first_documents_whole() -> None:
    assert shares([5, 5, 5], 12, equal=False) == [5, 5, 2]
    assert shares([5, 5, 5], 4, equal=False) == [4, 0, 0]
    assert shares([5, 5], 99, equal=False) == [5, 5]


def test_unused_budget_of_short_documents_goes_to_the_others() -> None:
    assert shares([2, 9, 9], 12, equal=True) == [2, 5, 5]
    assert shares([9, 2, 9], 13, equal=True) == [6, 2, 5]
    assert shares([3, 3], 99, equal=True) == [3, 3]


@pytest.mark.parametrize("equal", [True, False])
def test_shares_never_exceed_the_budget(equal: bool) -> None:
    for most in range(-1, 40):
        kept = shares([0, 3, 17, 4, 9], most, equal=equal)
        assert sum(kept) == max(min(most, 33), 0)


def test_no_documents_get_no_share_of_the_budget() -> None:
    assert shares([], 10, equal=True) == []


def test_a_text_is_cut_where_its_last_token_ends() -> None:
    offsets = [(0, 3), (3, 7), (7, 12)]
    assert cut("Two big men.", offsets, 2) == "Two big"
    assert cut("Two big men.", offsets, 3) == "Two big men."
    assert cut("Two big men.", offsets, 0) == ""
