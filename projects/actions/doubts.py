"""A value that somebody doubts waits to be looked at again, and in the queue of the round that decided it."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from ..models import Change, Decision, Member, Origin, Round, Unit
from ..values.in_force import contested_fields, decisions_in_force
from . import staleness
from .curation import hold
from .decisions import insert_decisions


def doubt(*, units: Sequence[Unit], kind: str, reason: str, by: Member) -> list[Change]:
    """Make what was said of these units in one kind stale. Fields that a closed round decided are contested in it, so
    that its queue holds them; what was brought in or edited by hand has no queue. What is in force stays so."""
    with transaction.atomic():
        hold(units)
        made = staleness.changed(units=units, what=Change.DOUBT, reason=reason, by=by, kinds=[kind])
        waits, now = contested_fields(units, kind), timezone.now()
        decided = decisions_in_force([u.pk for u in units], kind)
        rounds = Round.objects.in_bulk({d.round_id for d in decided.values() if d.round_id})
        insert_decisions(
            Decision(
                unit_id=unit, kind=kind, field=field, origin=Origin.CONTESTED, round=round, decided_by=by.user,
                reason=reason, decided_at=now,
            )
            for (unit, field), d in decided.items()
            if (unit, field) not in waits and (round := rounds.get(d.round_id or 0)) and round.has_queue
        )  # fmt: skip
    return made
