"""Confirm agreed values in bulk, for kinds without a correction page."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from api.problems import Conflict, Refused

from .. import kinds
from ..answers.queries import opinions
from ..gold.actions import lock_units
from ..gold.queries import SETTLED, current_values, units_decided, units_with
from ..models import Answer, Decision, Member, Round, Unit
from . import actions as adjudication_actions
from . import queries as adjudication_queries
from .actions import MAX_BULK_UNITS

Json = dict[str, Any]


def count_confirmable(round: Round) -> Json:
    """Count the units of a closed round that a curator can confirm, that have gold, and that wait for a curator."""
    adjudication_actions.require_closed(round)
    if kinds.get(round.kind).fields:
        # Values of these kinds are confirmed one by one on their correction page.
        return {"units": 0, "gold": 0, "waiting": 0}
    return {
        "units": len(_agreed(round)),
        "gold": units_decided(_assigned_units(round), round.kind).count(),
        "waiting": len(adjudication_queries.queued_units(round)),
    }


def confirm_agreed(*, round: Round, expected: int, reason: str, by: Member) -> Json:
    """Confirm the agreed values of up to `MAX_BULK_UNITS` units.

    ``expected`` is the number of units that the curator was shown. Raise `Conflict` if the number has changed. The call
    is one act, which one `undo` reverts.
    """
    adjudication_actions.require_closed(round)
    reason = adjudication_actions.require_reason(reason)
    if kinds.get(round.kind).fields:
        raise Refused("Values of this task are confirmed one by one on their correction page.")
    with transaction.atomic():
        lock_units(list(_unconfirmed(round)))
        chosen = _agreed(round)
        if len(chosen) != expected:
            raise Conflict(
                f"{len(chosen)} units match now instead of {expected}. Nothing was confirmed. Reload the page."
            )
        decisions = (
            adjudication_actions.apply_answers(round=round, chosen=chosen, reason=reason, by=by) if chosen else []
        )
    return adjudication_actions.act_result(round, decisions, []) | {"units": len(chosen)}


def _assigned_units(round: Round) -> QuerySet[Unit]:
    unit_ids = round.assignments.filter(number__gte=1).order_by().values("unit")
    return Unit.objects.filter(pk__in=unit_ids, superseded_by=None).order_by("pk")


def _unconfirmed(round: Round) -> QuerySet[Unit]:
    """Return up to `MAX_BULK_UNITS` units whose current value still needs confirmation (see `SETTLED`)."""
    unsettled = Decision.objects.filter(kind=round.kind).current().exclude(origin__in=SETTLED)
    return units_with(_assigned_units(round), unsettled)[:MAX_BULK_UNITS]


def _agreed(round: Round) -> Mapping[Unit, Answer]:
    """Return the unconfirmed units that do not wait for a curator, each with an answer that has the current value.

    Use a fixed number of queries.
    """
    kind = kinds.get(round.kind)
    queued = {one.unit for one in adjudication_queries.queued_units(round)}
    units = {unit.pk: unit for unit in _unconfirmed(round) if unit.pk not in queued}
    current = current_values(list(units.values()), kind.key)
    answers = sorted(
        opinions(round).filter(assignment__unit__in=list(units)).select_related("assignment"),
        key=lambda answer: (answer.assignment.unit_id, answer.pk),
    )
    values = kind.values(answer.pk for answer in answers)
    fields = kind.fields_of(round)
    chosen: dict[Unit, Answer] = {}
    for unit, unit_answers in groupby(answers, key=lambda answer: answer.assignment.unit_id):
        for answer in unit_answers:
            if all(kind.is_equal(field, current[unit], values[answer.pk]) for field in fields):
                chosen[units[unit]] = answer
                break
    return chosen
