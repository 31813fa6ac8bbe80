"""The methods text states what people made of suggestions, and how the blind part compares."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from measures.suggestions import SuggestedAnswer, report
from releases.methods.facts.drift import DriftFacts
from releases.methods.facts.suggestions import suggestion_facts
from releases.methods.sections.annotation import _returned, _suggestions


def answered(review: str, *, shown: bool, same: bool, seconds: float) -> SuggestedAnswer:
    return SuggestedAnswer(
        review=review,
        shown=shown,
        rejected=False,
        same={"polarity": same},
        seconds=seconds,
        right=None,
        model_right=None,
    )


def test_accepted_edited_and_blind_answers_are_counted_with_their_times() -> None:
    answers = [answered(f"{n}", shown=True, same=n > 0, seconds=10) for n in range(4)]
    answers += [answered(f"{n}", shown=False, same=n > 1, seconds=20) for n in range(4)]
    made = {
        "set": {"name": "Set A", "model": "tiny", "version": "b" * 64},
        "blind_share": 50,
        **report(answers, ["polarity"], seed=1),
    }
    round: Any = SimpleNamespace(name="round", suggestions=1)
    with patch("releases.methods.facts.suggestions.suggestion_report", return_value=made):
        facts = suggestion_facts(round)
    assert facts
    said = " ".join(_suggestions(round, facts))
    assert "the model tiny (suggestions “Set A”, version bbbbbbbbbbbb) suggested values" in said
    assert "4 answers were given with a suggestion and 4 without (50% planned)." in said
    assert "Polarity: 3 accepted, 1 edited and 0 rejected" in said
    assert "answers equal the suggestion in 3 of 4 (75.0%) with it and in 2 of 4 (50.0%) without." in said
    assert "The median working time was 10 s with (n = 4) and 20 s without (n = 4)." in said
    assert suggestion_facts(SimpleNamespace(suggestions=None)) is None  # type: ignore[arg-type]


def test_accuracy_on_returning_items_is_stated_with_its_n() -> None:
    facts = DriftFacts(share=0.05, bar=85, people=3, answers=60, right=54, warned=1, recovered=0, practised=1)
    round: Any = SimpleNamespace(name="round")
    said = " ".join(_returned(round, facts))
    assert "In “round”, 5% of the units were gold items that returned unmarked" in said
    assert "3 people answered 54 of 60 such items (90.0%) correctly. 1 person was warned." in said
    assert said.endswith("1 person got a practice round.")
