"""Which units of a round wait for a curator. Each question is one query of the whole round, none of a unit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Min

from .. import inbox, kinds
from ..models import Decision, Origin, Round, Unit

Json = dict[str, Any]
#: What the queue can be narrowed to.
SHOW = ("waiting", "contested", "flagged", "decided")
ROWS = 50
#: Reasons that are offered again: as many as there are keys for them.
REASONS = 6
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
    flags = inbox.raised(round.project).filter(inbox.FLAGGED, assignment__round=round).exclude(inbox.SETTLED)
    flags = flags.filter(assignment__unit__superseded_by=None).order_by()
    for place in flags.values_list(*(f"assignment__{name}" for name in PLACE)):
        found.setdefault(place[2], Waiting(place)).flagged = True
    return sorted(found.values(), key=lambda w: (not w.contested, w.place))


def decided(round: Round) -> list[tuple[int, int, int]]:
    """Places of the units of which a curator decided something as of this round, and that do not wait. One query."""
    return sorted(_of(round).filter(origin=Origin.CURATED).in_force().values_list(*PLACE).distinct())


def _of(round: Round) -> Any:
    return Decision.objects.filter(round=round, kind=round.kind, unit__superseded_by=None)


def counts(found: Sequence[Waiting], decided: int) -> Json:
    return {
        "waiting": len(found),
        "contested": sum(bool(w.contested) for w in found),
        "flagged": sum(w.flagged for w in found),
        "decided": decided,
    }


def page(round: Round, *, show: str = "waiting", after: int | None = None) -> Json:
    """Some rows of the queue with their texts, from after one unit on. A fixed number of queries."""
    found = waiting(round)
    waits = {w.unit: w for w in found}
    done = [place for place in decided(round) if place[2] not in waits]
    if show == "decided":
        units = [place[2] for place in done]
    else:
        units = [w.unit for w in found if show == "waiting" or getattr(w, show)]
    first = units.index(after) + 1 if after in units else 0
    shown = units[first : first + ROWS]
    keys = dict(Unit.objects.filter(pk__in=shown).values_list("pk", "key"))
    kind = kinds.get(round.kind)
    texts, fields = kind.texts(shown), kind.fields_of(round)
    return {
        "counts": counts(found, len(done)),
        "total": len(units),
        "reasons": reasons(round),
        "rows": [
            {
                "unit": unit, "key": keys[unit], "text": texts.get(unit, ""),
                "contested": [f for f in fields if unit in waits and f in waits[unit].contested],
                "flagged": unit in waits and waits[unit].flagged,
            }
            for unit in shown
        ],
    }  # fmt: skip


def reasons(round: Round) -> list[str]:
    """The reasons last given in this round, in the order in which each was first given: so a key keeps its reason."""
    given = Decision.objects.filter(round=round, origin=Origin.CURATED).exclude(reason="").order_by()
    rows = list(given.values_list("reason").annotate(first=Min("id")).order_by("-first")[:REASONS])
    return [reason for reason, _ in reversed(rows)]
