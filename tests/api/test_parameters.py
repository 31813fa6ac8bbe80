"""Declared parameters: multiple choices, single choices, texts and numbers."""

import pytest

from api.parameters import Parameter, Takes, check, in_words

RUNS = Parameter("runs", Takes.SEVERAL, "Runs", default=[], choices=("1", "2", "3"), words=("One", "Two", "Three"))


@pytest.mark.parametrize(
    ("given", "meant", "fault"),
    [
        (["3", "1"], ["1", "3"], ""),
        ([], [], ""),
        (None, [], ""),
        (["1", "1"], ["1"], ""),
        (["4"], ["4"], "'4' is not one of: 1, 2, 3."),
        ("1", "1", "Expected a list of choices."),
        ([1], [1], "Expected a list of choices."),
    ],
)
def test_several_are_kept_in_the_order_of_the_choices(given: object, meant: object, fault: str) -> None:
    clean, faults = check([RUNS], {"runs": given})
    assert clean["runs"] == meant
    assert [message for _, message in faults] == ([fault] if fault else [])


def test_one_at_least_can_be_asked_for() -> None:
    needed = Parameter("runs", Takes.SEVERAL, "Runs", default=[], choices=("1",), required=True)
    assert check([needed], {"runs": []})[1] == [("runs", "This value is required.")]


def test_several_read_as_their_words() -> None:
    assert in_words(RUNS, ["1", "3"]) == "One, Three"
    assert in_words(RUNS, []) == "none"


@pytest.mark.parametrize("takes", [Takes.TEXT, Takes.INTEGER, Takes.SWITCH])
def test_a_list_is_no_value_of_anything_else(takes: Takes) -> None:
    assert check([Parameter("one", takes, "One", default=None)], {"one": []})[1]
