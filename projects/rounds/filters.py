"""How the units of every kind can be narrowed: by what was said of them."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from api.parameters import Parameter, Takes

from ..kinds import Filter
from ..models import WAITING, Answer, Assignment, Change, Decision, Origin, Unit
from ..values.in_force import units_with

Units = QuerySet[Unit]
#: Where a value in force can come from.
ORIGINS = tuple(str(origin) for origin in Origin if origin not in WAITING)


def general(kind: str) -> Sequence[Filter]:
    """The filters that all kinds have, of what was said of the units as this one."""
    decisions = Decision.objects.filter(kind=kind)

    def gold(units: Units, which: str) -> Units:
        return units_with(units, decisions.in_force(), there=which == "with")

    def contested(units: Units, _: Any) -> Units:
        return units_with(units, decisions.contested())

    def origin(units: Units, which: str) -> Units:
        return units_with(units, decisions.filter(origin=which).in_force())

    def flagged(units: Units, _: Any) -> Units:
        said = Answer.objects.filter(assignment__unit=OuterRef("pk"), assignment__round__kind=kind)
        return units.filter(Exists(said.filter(flag=True, current_of__isnull=False)))

    def unasked(units: Units, _: Any) -> Units:
        return units.filter(~Exists(Assignment.objects.asked_as(kind).filter(unit=OuterRef("pk"))))

    def stale(units: Units, _: Any) -> Units:
        return units.filter(Exists(Change.objects.unsettled().filter(unit=OuterRef("pk"), kind=kind)))

    return (
        Filter(
            Parameter(
                "gold", Takes.CHOICE, "Current label", choices=("with", "without"), words=("labelled", "unlabelled")
            ),
            gold,
        ),
        Filter(Parameter("origin", Takes.CHOICE, "Where it comes from", choices=ORIGINS), origin),
        Filter(Parameter("unasked", Takes.SWITCH, "not yet in a round of this task", default=False), unasked),
        Filter(Parameter("contested", Takes.SWITCH, "contested", default=False), contested),
        Filter(Parameter("flagged", Takes.SWITCH, "flagged", default=False), flagged),
        Filter(Parameter("stale", Takes.SWITCH, "stale: to be looked at again", default=False), stale),
    )
