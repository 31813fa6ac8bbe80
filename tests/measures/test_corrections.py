"""Figures of correction rounds, compared with results by hand."""

import pytest

from measures.agreement import Review, Scale, corrections

SCALE = Scale("polarity", ("positive", "negative"), "polarity")


def review(n: int, shown: str, given: str) -> Review:
    cells = [("", {"polarity": shown}, {"polarity": given})]
    return Review(f"u{n}", {"polarity": shown == given, "cue": True}, cells)


def table(pp: int, pn: int, np: int, nn: int) -> list[Review]:
    """Return reviews of each pair of shown and answered values."""
    pairs = (
        [("positive", "positive")] * pp
        + [("positive", "negative")] * pn
        + [("negative", "positive")] * np
        + [("negative", "negative")] * nn
    )
    return [review(n, *pair) for n, pair in enumerate(pairs)]


def test_kappa_between_shown_and_corrected_is_that_of_a_textbook_table() -> None:
    """Po = .70; Pe = .60 x .50 + .40 x .50 = .50; kappa = .40 (Cohen 1960, by hand)."""
    found = corrections([SCALE], table(20, 10, 5, 15))
    (measure,) = found["measures"]
    assert (measure["n"], measure["same"]) == (50, 35)
    assert measure["kappa"] == pytest.approx(0.4)
    assert measure["method"].startswith("Cohen kappa")
    assert (found["reviewed"], found["corrected"], found["confirmed"]) == (50, 15, 35)


def test_fields_are_counted_one_by_one_and_a_unit_once() -> None:
    both = Review("a", {"polarity": False, "cue": False})
    one = Review("b", {"polarity": True, "cue": False})
    none = Review("c", {"polarity": True})
    found = corrections([SCALE], [both, one, none])
    assert found["fields"] == [
        {"field": "polarity", "reviewed": 3, "corrected": 1},
        {"field": "cue", "reviewed": 2, "corrected": 2},
    ]
    assert (found["reviewed"], found["corrected"]) == (3, 2)


def test_kappa_is_undefined_with_its_reason_where_nothing_varies_or_nothing_was_reviewed() -> None:
    (same,) = corrections([SCALE], table(5, 0, 0, 0))["measures"]
    assert same["kappa"] is None
    assert same["undefined"]
    (nothing,) = corrections([SCALE], [])["measures"]
    assert (nothing["n"], nothing["kappa"]) == (0, None)
    assert nothing["undefined"]


def test_empty_values_are_excluded_from_n() -> None:
    scale = Scale("rank", ("weak", "strong"), "polarity", weights="linear", metric="ordinal", missing=("none",))
    rows = [("weak", "weak"), ("weak", "strong"), ("strong", "strong"), ("none", "weak")]
    made = [Review(f"{n}", {"r": a == b}, [("", {"polarity": a}, {"polarity": b})]) for n, (a, b) in enumerate(rows)]
    (measure,) = corrections([scale], made)["measures"]
    assert measure["n"] == 3


def test_the_parts_of_a_unit_are_items() -> None:
    good, bad = {"polarity": "positive"}, {"polarity": "negative"}
    found = corrections([SCALE], [Review("a", {"polarity": False}, [("1", good, bad), ("2", bad, bad)])])
    assert found["measures"][0]["n"] == 2
    assert found["reviewed"] == 1
