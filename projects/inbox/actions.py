"""Remarks on answers in the inbox: reply, settle, reopen."""

from django.db import transaction
from django.utils import timezone

from api.problems import Conflict, Refused
from audit.log import record

from ..models import Answer, Member, Remark
from ..notifications.actions import What, notify


def remark(*, answer: Answer, act: str, text: str, by: Member) -> Remark:
    """Add a remark to an answer. Raise `Refused` if a reply has no text.

    Raise `Conflict` if a settled answer is settled again, or an open one reopened.
    """
    text = text.strip()
    if act == Remark.Act.REPLY and not text:
        raise Refused.field("text", "Enter the text of the reply.")
    with transaction.atomic():
        last = Remark.objects.filter(answer=answer).exclude(act=Remark.Act.REPLY).order_by("-pk").first()
        settled = last is not None and last.act == Remark.Act.SETTLED
        if act == Remark.Act.SETTLED and settled:
            raise Conflict("This answer is already settled.")
        if act == Remark.Act.REOPENED and not settled:
            raise Conflict("This answer is already open.")
        created = Remark.objects.create(answer=answer, act=act, author=by.user, text=text, at=timezone.now())
        record(
            actor=by.user,
            verb=f"{act} on answer",
            object_type="unit",
            object_id=answer.assignment.unit_id,
            project_id=by.project_id,
            after={"answer": str(answer.pk), "text": text},
        )
        # Authors see only remarks with text (`inbox.queries.replies_in`).
        author = answer.author.user_id
        if text and author is not None and author != by.user_id:
            notify([author], What.REPLY, round=answer.assignment.round)
    return created
