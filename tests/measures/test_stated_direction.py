"""Macro F1 of stated directions, against scikit-learn's definition by hand and the program's file."""

import pytest

from measures.direction import MS2_CLASSES
from measures.stated_direction import CELLS, OTHER, macro_f1, stated_direction

DECREASED, NONE, INCREASED = MS2_CLASSES


def counts(target: str, output: str) -> dict[str, float | None]:
    return {f"{stated_direction(target)}/{stated_direction(output)}": 1.0}


def test_only_the_three_names_are_directions() -> None:
    assert [stated_direction(f" {name.upper()}\n") for name in MS2_CLASSES] == ["decreases", "no change", "increases"]
    assert {stated_direction(text) for text in ("", "decreased", "significantly decreased pain")} == {OTHER}


def test_macro_f1_equals_a_hand_count() -> None:
    rows = [
        (1, counts(NONE, NONE)),
        (1, counts(NONE, NONE)),
        (1, counts(NONE, INCREASED)),
        (2, counts(INCREASED, INCREASED)),
        (2, counts(INCREASED, "it helps")),
    ]
    found = macro_f1(rows)
    # No change: P 2/2, R 2/3, F1 .8. Increases: P 1/2, R 1/2, F1 .5. Nothing decreases.
    assert found["macro_f1"] == pytest.approx((0.8 + 0.5) / 2)
    assert found["classes"]["no change"] == {
        "precision": 1.0, "recall": pytest.approx(2 / 3), "f1": pytest.approx(0.8), "n": 3, "outputs": 2,
    }  # fmt: skip
    assert found["classes"]["decreases"]["f1"] is None
    assert (found["other"], found["n"], found["reviews"]) == (1, 5, 2)
    assert found["ci"] is None
    assert "few reviews" in found["ci_reason"]


def test_the_interval_is_over_reviews_and_contains_the_value() -> None:
    wrong = {1: DECREASED, 2: INCREASED, 3: "?"}
    rows = [
        (review, counts(MS2_CLASSES[(review + n) % 3], wrong.get((review * n) % 5, MS2_CLASSES[(review + n) % 3])))
        for review in range(60)
        for n in range(4)
    ]
    found = macro_f1(rows)
    assert found["ci"][0] < found["macro_f1"] < found["ci"][1]
    assert macro_f1(reversed(rows)) == found


def test_without_directions_there_is_a_reason() -> None:
    found = macro_f1([(1, dict.fromkeys(CELLS))])
    assert (found["macro_f1"], found["undefined"]) == (None, "no target is a direction")
