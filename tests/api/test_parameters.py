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
def test_several_values_are_kept_in_the_order_of_the_choices(given: object, meant: object, fault: str) -> None:
    clean, faults = check([RUNS], {"runs": given})
    assert clean["runs"] == meant
    assert [message for _, message in faults] == ([fault] if fault else [])


def test_a_parameter_with_several_values_can_require_one() -> None:
    needed = Parameter("runs", Takes.SEVERAL, "Runs", default=[], choices=("1",), required=True)
    assert check([needed], {"runs": []})[1] == [("runs", "This value is required.")]


def test_several_values_are_shown_by_their_labels() -> None:
    assert in_words(RUNS, ["1", "3"]) == "One, Three"
    assert in_words(RUNS, []) == "none"


@pytest.mark.parametrize("takes", [Takes.TEXT, Takes.INTEGER, Takes.SWITCH])
def test_a_list_is_refused_for_single_valued_parameters(takes: Takes) -> None:
    assert check([Parameter("one", takes, "One", default=None)], {"one": []})[1]
