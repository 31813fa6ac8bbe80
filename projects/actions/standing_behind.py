"""A curator stands behind what people agreed on, of units that no page corrects: that is gold to practise with."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from api.problems import Conflict, Refused

from .. import kinds
from ..adjudication import queue
from ..models import Answer, Decision, Member, Round, Unit
from ..rounds.counted import opinions
from ..values.in_force import SETTLED, units_settled, units_with, values_in_force
from . import adjudication
from .adjudication_at_once import AT_ONCE
from .curation import hold

Json = dict[str, Any]


def found(round: Round) -> Json:
    """How many units of a closed round a curator stands behind, could stand behind, and still has to decide."""
    adjudication.refuse_unless_closed(round)
    if kinds.get(round.kind).fields:
        # Their values are settled where they are corrected, one by one.
        return {"units": 0, "gold": 0, "waiting": 0}
    return {
        "units": len(_agreed(round)), "gold": units_settled(_asked(round), round.kind).count(),
        "waiting": len(queue.waiting(round)),
    }  # fmt: skip


def stand_behind(*, round: Round, expected: int, reason: str, by: Member) -> Json:
    """Settle up to `AT_ONCE` units as people agreed. ``expected``: how many the curator was told; `Conflict` where they
    are others by now. One act, which one `undo` takes back."""
    adjudication.refuse_unless_closed(round)
    reason = adjudication.reason_of(reason)
    if kinds.get(round.kind).fields:
        raise Refused("What is in force of such units is settled where it is corrected.")
    with transaction.atomic():
        hold(list(_unsettled(round)))
        chosen = _agreed(round)
        if len(chosen) != expected:
            raise Conflict(f"There are {len(chosen)} such units now, not {expected}. Nothing was settled.")
        made = adjudication.adopt(round=round, chosen=chosen, reason=reason, by=by) if chosen else []
    return adjudication.act_of(round, made, []) | {"units": len(chosen)}


def _asked(round: Round) -> QuerySet[Unit]:
    asked = round.assignments.filter(number__gte=1).order_by().values("unit")
    return Unit.objects.filter(pk__in=asked, superseded_by=None).order_by("pk")


def _unsettled(round: Round) -> QuerySet[Unit]:
    """The first of the units of which something is in force that nobody has settled."""
    unsettled = Decision.objects.filter(kind=round.kind).in_force().exclude(origin__in=SETTLED)
    return units_with(_asked(round), unsettled)[:AT_ONCE]


def _agreed(round: Round) -> Mapping[Unit, Answer]:
    """The units that nobody has settled and that do not wait, each with an answer that says what is in force. A fixed
    number of queries."""
    kind = kinds.get(round.kind)
    waits = {one.unit for one in queue.waiting(round)}
    units = {unit.pk: unit for unit in _unsettled(round) if unit.pk not in waits}
    in_force = values_in_force(list(units.values()), kind.key)
    answers = sorted(
        opinions(round).filter(assignment__unit__in=list(units)).select_related("assignment"),
        key=lambda answer: (answer.assignment.unit_id, answer.pk),
    )
    said = kind.values(answer.pk for answer in answers)
    fields = kind.fields_of(round)
    chosen: dict[Unit, Answer] = {}
    for unit, given in groupby(answers, key=lambda answer: answer.assignment.unit_id):
        for answer in given:
            if all(kind.says_same(field, in_force[unit], said[answer.pk]) for field in fields):
                chosen[units[unit]] = answer
                break
    return chosen
