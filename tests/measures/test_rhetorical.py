"""MS^2's nine rhetorical classes and their three groups."""

import pytest

from measures.abstracts import BACKGROUND, CLASSES, DERIVED, OTHER, TARGET, derived, derived_text


def test_background_and_goal_are_the_background_and_effect_is_the_target() -> None:
    assert {name: derived(name) for name in CLASSES if derived(name) != OTHER} == {
        "BACKGROUND": BACKGROUND,
        "GOAL": BACKGROUND,
        "EFFECT": TARGET,
    }
    assert len(CLASSES) == 9
    with pytest.raises(ValueError, match="none of MS"):
        derived("RESULT")


def test_a_part_is_its_sentences_in_their_order() -> None:
    said = [("BACKGROUND", "Old."), ("METHODS", "We searched."), ("GOAL", "To see."), ("EFFECT", "It helps.")]
    assert [derived_text(part, said) for part in DERIVED] == ["Old.\nTo see.", "It helps.", "We searched."]
