"""Cues typed into a sheet, with the separators that spreadsheet programs write."""

import pytest

from annotation.kinds.label.sheet import value
from projects.kinds import SheetFaults

TEXT = "Exercise reduced falls in older people; pain \u2026 relief did not differ."


def cue(typed: str, text: str = TEXT) -> list[str]:
    row = {"polarity": "positive", "modality": "moderate", "polarity_cue": typed}
    return [piece["quote"] for piece in value(text, row)["polarity_cue"]]


@pytest.mark.parametrize("gap", [" ... ", " \u2026 ", "\u2026", "...", "\u00a0\u2026 "])
def test_the_gap_between_two_parts_may_be_an_ellipsis_typed_by_autocorrect(gap: str) -> None:
    assert cue(f"Exercise{gap}falls") == ["Exercise", "falls"]


def test_an_ellipsis_that_is_in_the_text_is_part_of_the_cue() -> None:
    assert cue("pain \u2026 relief") == ["pain \u2026 relief"]


def test_parts_that_are_not_in_the_text_are_a_fault_of_their_column() -> None:
    with pytest.raises(SheetFaults) as raised:
        cue("Exercise \u2026 worsened")
    assert [column for column, _ in raised.value.faults] == ["polarity_cue"]
