"""Comparing two systems by every figure that both have, by hand."""

import pytest

from measures.comparison import NONE_COMMON, ScoredUnits, probes_compared, scores_compared
from measures.means import FROM_0_TO_1
from measures.probe import OVERALL, Pair, TextNll


def units(rows: list[tuple[str, str, str, dict[str, float | None]]]) -> ScoredUnits:
    found = ScoredUnits(["f1", "coverage"])
    for unit, review, side, values in rows:
        found.add(unit, review, side, values)
    return found


def test_there_is_a_row_for_every_figure_and_side_that_both_have() -> None:
    first = units(
        [
            ("a", "1", "own", {"f1": 0.5, "coverage": None, "other": 1.0}),
            ("b", "2", "own", {"f1": 0.75}),
            ("b", "2", "propositions", {"f1": 0.1}),
        ]
    )
    second = units([("b", "2", "own", {"f1": 0.25, "coverage": 0.3}), ("c", "3", "own", {"f1": 1.0})])
    (row,) = scores_compared(first, second, {"f1": FROM_0_TO_1})
    assert (row["figure"], row["side"], row["first"], row["second"]) == ("f1", "own", 0.75, 0.25)
    assert (row["difference"]["value"], row["difference"]["n"], row["p"]) == (0.5, 1, 1.0)


@pytest.mark.usefixtures("former_rule")
def test_units_of_a_review_are_permuted_together_and_intervals_stay_in_bounds() -> None:
    names = [(f"{n}", f"{n // 2}") for n in range(8)]
    first = units([(unit, review, "own", {"f1": 1.0 - 0.01 * int(unit)}) for unit, review in names])
    second = units([(unit, review, "own", {"f1": 0.0}) for unit, review in names])
    (row,) = scores_compared(first, second, {"f1": FROM_0_TO_1})
    assert (row["difference"]["clusters"], row["differing"], row["p"]) == (4, 4, 1 / 8)
    assert row["difference"]["ci"][1] <= 1


def pair(review: str, kind: str, delta: float) -> Pair:
    return Pair(review, kind, TextNll(1.0, 1, 1.0, 1), TextNll(1.0 + delta, 1, 1.0 + delta, 1))


def test_probes_are_compared_by_kind_and_over_all_on_the_pairs_of_both() -> None:
    first = {("t", "1"): pair("r", "negation", 0.5), ("u", "2"): pair("s", "modality", 0.25)}
    second = {("u", "2"): pair("s", "modality", -0.5), ("v", "3"): pair("s", "negation", 1.0)}
    rows = {(row["kind"], row["figure"]): row for row in probes_compared(first, second, ["negation", "modality"])}
    assert list(rows) == [(k, f) for k in ("negation", "modality", OVERALL) for f in ("delta", "accuracy")]
    assert rows["negation", "delta"]["difference"]["undefined"] == NONE_COMMON
    for kind in ("modality", OVERALL):
        assert rows[kind, "delta"]["difference"]["value"] == pytest.approx(0.75)
        assert [rows[kind, "accuracy"][name] for name in ("first", "second")] == [1.0, 0.0]
