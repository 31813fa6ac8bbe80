"""Texts of units that can be corrected, whatever the unit is."""

from typing import Any

from api.problems import Refused
from projects.models import Member

from ..clusters import strata
from ..kinds.supersede import supersede_target, supersede_text
from ..models import Part, Passage, Proposition, Question, Target, WrittenSummary
from ..questions.corrections import LONGEST, correct_text, current_texts, supersede_summary

#: Rows whose texts can be corrected.
WithText = Proposition | Target | WrittenSummary | Question | Passage


def shown_texts(row: WithText) -> list[dict[str, Any]]:
    """Return the current texts of a unit, with their limits. Only questions and passages have several, or parts."""
    if isinstance(row, Question | Passage):
        return [
            {
                "part": text.part,
                "title": text.get_part_display(),
                "version": text.version,
                "text": text.text,
                "longest": LONGEST[Part(text.part)],
                "may_be_empty": False,
            }
            for text in current_texts(row)
        ]
    is_summary = isinstance(row, WrittenSummary)
    limits = {"longest": strata.DOCUMENT if is_summary else strata.CLAIM, "may_be_empty": is_summary}
    return [{"part": "", "title": "Text", "version": row.version, "text": row.text, **limits}]


def correct(row: WithText, *, text: str, reason: str, by: Member, part: str = "") -> tuple[int, int]:
    """Replace a text, and return the unit that has the new one and its version. Raise `Refused` and `Conflict`."""
    if isinstance(row, Question | Passage):
        version = correct_text(of=row, part=part, text=text, reason=reason, by=by).version
        return row.unit_id, version
    [shown] = shown_texts(row)
    if len(text) > shown["longest"]:
        raise Refused.field("text", f"At most {shown['longest']:,} characters are allowed.")
    new: Proposition | Target | WrittenSummary
    if isinstance(row, WrittenSummary):
        new = supersede_summary(summary=row, text=text, reason=reason, by=by)
    elif isinstance(row, Target):
        new = supersede_target(target=row, text=text, reason=reason, by=by)
    else:
        new = supersede_text(proposition=row, text=text, reason=reason, by=by)
    return new.unit_id, new.version
