"""The queue of a round as a curator has it before them: what waits, with its texts, and reasons to take again."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Min

from .. import kinds
from ..adjudication.queue import Waiting, decided, waiting
from ..models import Decision, Origin, Round, Unit

Json = dict[str, Any]
#: What the queue can be narrowed to.
SHOW = ("waiting", "contested", "flagged", "decided")
ROWS = 50
#: Reasons that are offered again: as many as there are keys for them.
REASONS = 6


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


def counts(found: Sequence[Waiting], decided: int) -> Json:
    return {
        "waiting": len(found),
        "contested": sum(bool(w.contested) for w in found),
        "flagged": sum(w.flagged for w in found),
        "decided": decided,
    }
