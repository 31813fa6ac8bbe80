"""The rule that warns of a fall of accuracy: exact false warnings, prefixes, recovery."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.drift import ROUNDS, false_warnings, noticed
from measures import drift

answers = st.lists(st.booleans(), max_size=120)


def test_the_rule_meets_both_aims_in_a_small_simulation() -> None:
    """Steady annotators: at most 5% per round. A fall from .95 to .70: 90% within 40 items (`benchmarks/drift.py`)."""
    assert max(false_warnings(items) for items in ROUNDS) <= 0.05
    share, delay = noticed(20)
    assert share >= 0.9
    assert delay <= 20


def test_the_probability_of_false_warnings_equals_a_count_of_all_series() -> None:
    """All 2^12 series of 12 items, weighted by their probability."""
    bar, threshold, accuracy, n = 85, 150, 0.9, 12
    total = 0.0
    for series in range(2**n):
        score, wrong, reached = 0, 0, False
        for i in range(n):
            is_correct = bool(series >> i & 1)
            wrong += not is_correct
            score = max(0, score + (-15 if is_correct else 85))
            reached |= score >= threshold
        total += reached * accuracy ** (n - wrong) * (1 - accuracy) ** wrong
    assert drift.false_warnings(threshold, bar, n, accuracy) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("bar", [50, 70, 85, 95])
@pytest.mark.parametrize("horizon", [200, 500])
def test_the_threshold_is_the_smallest_with_few_false_warnings(bar: int, horizon: int) -> None:
    threshold, steady = drift.threshold_of(bar, horizon), drift.steady(bar)
    assert drift.false_warnings(threshold, bar, horizon, steady) <= drift.FALSE_WARNINGS
    assert drift.false_warnings(threshold - 1, bar, horizon, steady) > drift.FALSE_WARNINGS


@given(answers, st.integers(0, 120))
def test_signals_of_the_beginning_are_the_first_signals(series: list[bool], n: int) -> None:
    whole, beginning = list(drift.signals(series, 85)), list(drift.signals(series[:n], 85))
    assert whole[: len(beginning)] == beginning


@given(answers)
def test_a_warning_is_not_repeated_before_a_recovery(series: list[bool]) -> None:
    whole = [one.what for one in drift.signals(series, 85)]
    assert whole == ["warned", "recovered"] * (len(whole) // 2) + ["warned"] * (len(whole) % 2)


def test_a_person_recovers_with_twenty_items_at_the_bar_after_the_warning() -> None:
    warned, recovered, again = drift.signals([False] * 4 + [True] * 20 + [False] * 4, 85)
    assert (warned.what, warned.answers, warned.right, warned.window) == ("warned", 4, 0, 4)
    assert (recovered.what, recovered.answers, recovered.right) == ("recovered", 24, 20)
    assert (again.what, again.answers) == ("warned", 28)


@given(answers)
def test_windows_cover_each_answer_once(series: list[bool]) -> None:
    windows = drift.windows(series)
    assert sum(one.n for one in windows) == len(series)
    assert sum(one.right for one in windows) == sum(series)


def test_wilson_s_interval_equals_a_published_value() -> None:
    """Newcombe (1998), Table I, method 3: 81 of 263 gives .2553 to .3662."""
    assert drift.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


@pytest.mark.parametrize(("values", "length"), [("", 0), ("a", 1), ("abba", 2), ("aabbbab", 3)])
def test_the_longest_run_is_found(values: str, length: int) -> None:
    assert drift.longest_run(list(values)) == length
