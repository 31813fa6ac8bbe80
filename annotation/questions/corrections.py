"""Corrections of written summaries, and of the texts of questions and passages."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, Q

from api.problems import Conflict, Refused
from audit.log import record
from projects.models import Change, Member, Unit
from projects.staleness import actions as staleness_actions
from projects.stored_figures.actions import content_changed

from ..clusters import strata
from ..models import Part, Passage, Question, QuestionText, WrittenSummary

#: Maximum number of characters of a text, by what it is.
LONGEST = {Part.QUESTION: strata.DOCUMENT, Part.PASSAGE: strata.DOCUMENT, Part.PAGE: 1_000_000, Part.URL: 2_000}


def current_texts(of: Question | Passage) -> list[QuestionText]:
    """Return the current texts of a question, or of a passage: the passage, its page and its address."""
    passage = of if isinstance(of, Passage) else None
    question = of.question_id if isinstance(of, Passage) else of.pk
    rows = {row.part: row for row in QuestionText.objects.current().filter(question=question, passage=passage)}
    return [rows[part] for part in Part if part in rows]


def correct_text(*, of: Question | Passage, part: str, text: str, reason: str, by: Member) -> QuestionText:
    """Replace a text of a question or of a passage by its next version, and return the new row.

    Summaries that people wrote in rounds, and ratings of passages, become stale: of the question, and of all its
    passages if the question changed. Raise `Refused` for invalid input, and `Conflict` if someone else has corrected
    the text in the meantime.
    """
    texts = current_texts(of)
    old = next((row for row in texts if row.part == part or not part), None)
    if old is None:
        raise Refused.field("part", f"There is no text {part!r} to correct.")
    if not reason.strip():
        raise Refused.field("reason", "Give a reason for the correction.")
    if not text.strip():
        raise Refused.field("text", "Enter the corrected text.")
    if text == old.text:
        raise Refused.field("text", "This is the current text. Change it, or cancel.")
    longest = LONGEST[Part(old.part)]
    if len(text) > longest:
        raise Refused.field("text", f"At most {longest:,} characters are allowed.")
    try:
        with transaction.atomic():
            if not QuestionText.objects.current().filter(pk=old.pk).update(is_current=False):
                raise IntegrityError
            new = QuestionText.objects.create(
                question_id=old.question_id,
                passage_id=old.passage_id,
                part=old.part,
                version=old.version + 1,
                text=text,
            )
            _mark_stale(of, new, before=old.text, reason=reason, by=by)
            return new
    except IntegrityError:
        raise Conflict("Another person has just corrected this text. Reload the page to see the new text.") from None


def _mark_stale(of: Question | Passage, new: QuestionText, *, before: str, reason: str, by: Member) -> None:
    """Log the correction, and mark what people answered about the text. An address is not what they answered about."""
    log: dict[str, Any] = {"before": {"text": before}, "after": {"text": new.text, "version": new.version}}
    record(actor=by.user, verb="correct text", obj=of.unit, project_id=of.unit.project_id, reason=reason, **log)
    content_changed(Q(pk=of.unit.project_id))
    if new.part == Part.URL:
        return
    about: dict[str, Any] = {"what": Change.TEXT, "reason": reason, "by": by, "before": before, "after": new.text}
    staleness_actions.changed(units=[of.unit], **about)
    if isinstance(of, Passage):
        staleness_actions.changed(units=[of.question.unit], **about)
    else:
        staleness_actions.changed(units=[one.unit for one in of.passages.select_related("unit")], **about)


def supersede_summary(*, summary: WrittenSummary, text: str, reason: str, by: Member) -> WrittenSummary:
    """Replace the text of a written summary, and return the new row. It stays that of its writer.

    The chunks of an extractive text are dropped, because the new text need not consist of them. Raise `Refused` for
    invalid input and for the author, and `Conflict` if someone else has corrected the text in the meantime.
    """
    if summary.author_id is not None and summary.author_id == by.user_id:
        raise Refused.field("text", "You wrote this summary. Somebody else must correct it.")
    if not reason.strip():
        raise Refused.field("reason", "Give a reason for the correction.")
    if text == summary.text:
        raise Refused.field("text", "This is the current text. Change it, or cancel.")
    if summary.unit.superseded_by_id:
        raise Conflict("This text was already corrected. Reload the page to see the current text.")
    try:
        with transaction.atomic():
            return _supersede(summary, text, reason, by)
    except IntegrityError:
        raise Conflict("Another person has just corrected this text. Reload the page to see the new text.") from None


def _supersede(summary: WrittenSummary, text: str, reason: str, by: Member) -> WrittenSummary:
    of = {name: getattr(summary, name) for name in ("question_id", "passage_id", "form", "author_id", "writer")}
    version = 1 + (WrittenSummary.objects.filter(**of).aggregate(newest=Max("version"))["newest"] or 0)
    old = summary.unit
    unit = Unit.objects.create(
        project_id=old.project_id,
        type=old.type,
        key=f"{old.key.rsplit('~', 1)[0]}~{version}",
        context=old.context,
        position=old.position,
        made_by=by.user,
    )
    new = WrittenSummary.objects.create(**of, version=version, text=text, answer_id=summary.answer_id, unit=unit)
    # The audit trail, which more people read than the texts of writers, names the versions instead.
    staleness_actions.superseded(
        old=old, new=unit, reason=reason, by=by, before=f"version {summary.version}", after=f"version {version}"
    )
    return new
