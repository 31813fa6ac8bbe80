"""Which units of a round wait for a curator. Each question is one query of the whole round, none of a unit.

A unit waits where the newest word on one of its fields is a contest, or where somebody flagged an answer and nobody has
settled that. Writing is in `projects.actions.adjudication`.
"""

from dataclasses import dataclass, field
from typing import Any

from ..models import Decision, Origin, Round
from ..rounds import raised

PLACE = ("unit__context", "unit__position", "unit")


@dataclass
class Waiting:
    """One unit and why it waits."""

    #: Context, position, id: the order of the queue, in which units of one context stand together.
    place: tuple[int, int, int]
    contested: list[str] = field(default_factory=list)
    flagged: bool = False

    @property
    def unit(self) -> int:
        return self.place[2]


def waiting(round: Round) -> list[Waiting]:
    """The units that wait, contested ones first. Two queries."""
    found: dict[int, Waiting] = {}
    contests = _of(round).contested().values_list(*PLACE, "field")
    for *place, name in contests:
        found.setdefault(place[2], Waiting(tuple(place))).contested.append(name)
    flags = raised.raised(round.project).filter(raised.FLAGGED, assignment__round=round).exclude(raised.SETTLED)
    flags = flags.filter(assignment__unit__superseded_by=None).order_by()
    for place in flags.values_list(*(f"assignment__{name}" for name in PLACE)):
        found.setdefault(place[2], Waiting(place)).flagged = True
    return sorted(found.values(), key=lambda w: (not w.contested, w.place))


def decided(round: Round) -> list[tuple[int, int, int]]:
    """Places of the units of which a curator decided something as of this round, and that do not wait. One query."""
    return sorted(_of(round).filter(origin=Origin.CURATED).in_force().values_list(*PLACE).distinct())


def _of(round: Round) -> Any:
    return Decision.objects.filter(round=round, kind=round.kind, unit__superseded_by=None)
