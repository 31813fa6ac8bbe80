"""A word on what somebody raised: a reply, that it is settled, that it is open again."""

from django.db import transaction
from django.utils import timezone

from api.problems import Conflict, Refused
from audit.log import record

from ..models import Answer, Member, Remark
from ..notifications.telling import What, tell


def remark(*, answer: Answer, act: str, text: str, by: Member) -> Remark:
    """Say it. A reply needs words; what is settled is not settled again, what is open is not reopened."""
    text = text.strip()
    if act == Remark.Act.REPLY and not text:
        raise Refused.field("text", "A reply says something.")
    with transaction.atomic():
        last = Remark.objects.filter(answer=answer).exclude(act=Remark.Act.REPLY).order_by("-pk").first()
        settled = last is not None and last.act == Remark.Act.SETTLED
        if act == Remark.Act.SETTLED and settled:
            raise Conflict("It is settled already.")
        if act == Remark.Act.REOPENED and not settled:
            raise Conflict("It is open already.")
        made = Remark.objects.create(answer=answer, act=act, author=by.user, text=text, at=timezone.now())
        record(
            actor=by.user, verb=f"{act} on answer", object_type="unit", object_id=answer.assignment.unit_id,
            project_id=by.project_id, after={"answer": str(answer.pk), "text": text},
        )  # fmt: skip
        # Words alone are shown to whoever gave the answer (`pages.inbox.replies_in`).
        if text and answer.author.user_id != by.user_id:
            tell([answer.author.user_id], What.REPLY, round=answer.assignment.round)
    return made
