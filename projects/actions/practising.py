"""Slots of a practice round: everyone is asked every unit, and whoever may do so once more is asked them again."""

from django.db import transaction
from django.db.models import Max

from accounts.models import User
from api.problems import Conflict
from audit.log import record

from ..models import Assignment, Member, Participant, Round
from ..rounds import practice


def deal(round: Round, member: Member) -> None:
    """All units to somebody who joins, in the caller's transaction. Whoever comes back goes on where it was left."""
    number = max(1, (Assignment.objects.filter(round=round).aggregate(most=Max("number"))["most"] or 0) + 1)
    mine = Assignment.objects.filter(round=round, person=member)
    had = set(mine.values_list("unit", flat=True))
    mine.filter(number__lt=0, unit__superseded_by=None).update(number=number)
    Assignment.objects.bulk_create(
        Assignment(round=round, unit_id=unit, position=position, number=number, person=member)
        for unit, position in practice.units_of(round)
        if unit not in had
    )


def begin_again(*, round: Round, user: User) -> None:
    """A second attempt at all units; the first stays as it is. `Conflict` where there may be none."""
    with transaction.atomic():
        held = Participant.objects.select_for_update(no_key=True).filter(
            round=round, member__user=user, left_at=None, member__left_at=None
        )
        participant = held.select_related("member").first() if round.meaning.gives_feedback else None
        if participant is None:
            raise Conflict("You are not at work in a practice round.")
        member = participant.member
        mine = practice.attempts(round, [member.pk])[member.pk]
        if not practice.may_begin_again(round, mine):
            raise Conflict("There is no other attempt: the last one is not done, was passed, or was the last.")
        before = Assignment.objects.filter(round=round, person=member, repeat=0, unit__superseded_by=None).counted()
        Assignment.objects.bulk_create(
            Assignment(
                round=round, unit_id=slot.unit_id, position=slot.position, number=slot.number, person=member,
                repeat=len(mine),
            )
            for slot in before.order_by("position")
        )  # fmt: skip
        record(
            actor=user, verb="practise again", obj=round, project_id=round.project_id,
            after={"person": member.pseudonym, "attempt": len(mine) + 1},
        )  # fmt: skip
