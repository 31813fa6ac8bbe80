"""Normalised display of the texts of a round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.design.typography import lowers, one_form, writes_without_capitals


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("no change <n> in relapse .", "No change in relapse."),
        ("nepralin , like placebo , helped ( p = 0.02 ) .", "Nepralin, like placebo, helped (p = 0.02)."),
        ("the patient 's long - term outcome", "The patient's long-term outcome"),
        ("It helped.  it did not harm.", "It helped. It did not harm."),
        ("exposure to h. pylori vs. none", "Exposure to h. pylori vs. none"),
        ("one\u00a0word in \u201cquotes\u201d", 'One word in "quotes"'),
    ],
)
def test_marks_of_a_system_are_taken_off(written: str, shown: str) -> None:
    assert one_form(written, lowered=False) == shown


def test_lower_case_systems_are_normalised_for_all() -> None:
    assert lowers([["Aspirin in RCTs."], ["aspirin in rcts."]])
    assert not lowers([["Aspirin in RCTs."], ["Another RCT."]])
    assert one_form("Aspirin in RCTs. AMD was rare.", lowered=True) == "Aspirin in rcts. Amd was rare."
    assert not writes_without_capitals([])


@given(st.text(max_size=200), st.booleans())
def test_the_normalised_form_is_idempotent(text: str, lowered: bool) -> None:
    once = one_form(text, lowered=lowered)
    assert one_form(once, lowered=lowered) == once


@given(st.text(alphabet="ab .,()<n>'-", max_size=80))
def test_the_displayed_form_of_a_text_keeps_every_letter(text: str) -> None:
    def letters(said: str) -> str:
        return "".join(c for c in said.replace("<n>", "").casefold() if c in "ab")

    assert letters(one_form(text, lowered=True)) == letters(text)
