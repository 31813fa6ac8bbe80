"""Answers given under an earlier guideline stand under the newest one: said once for all of a round."""

from django.db import transaction

from api.problems import Conflict
from audit.log import record

from ..models import Guideline, Member, Round
from ..values.outdated import UPHOLD, outdated


def uphold(*, round: Round, guideline: int, reason: str, by: Member) -> int:
    """Confirm the answers of a round that were given under this version of the guideline.

    Nothing of them is changed. They wait no more to be looked at until there is a newer version. How many there were;
    `Conflict` where none wait.
    """
    with transaction.atomic():
        waiting = outdated(round.project, kind=round.kind)
        count = waiting.filter(assignment__round=round, guideline__number=guideline).count()
        if not count:
            raise Conflict("No answers of this round wait to be looked at again: it was done already.")
        newest = Guideline.objects.filter(project=round.project_id, kind=round.kind).order_by("-number").first()
        record(
            actor=by.user, verb=UPHOLD, obj=round, project_id=round.project_id, reason=reason,
            after={"guideline": guideline, "newest": newest.number if newest else guideline, "answers": count},
        )  # fmt: skip
    return count
