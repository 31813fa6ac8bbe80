"""Corrections of written summaries."""

from django.db import IntegrityError, transaction
from django.db.models import Max

from api.problems import Conflict, Refused
from projects.models import Member, Unit
from projects.staleness import actions as staleness_actions

from ..models import WrittenSummary


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
