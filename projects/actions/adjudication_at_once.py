"""Many contested units at once: the answer that is nearest to the others, where people nearly agreed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db import transaction

from api.problems import Conflict

from .. import kinds
from ..adjudication import queue
from ..adjudication.nearness import SAME, nearness
from ..models import Answer, Member, Round, Unit
from ..rounds.counted import opinions
from . import adjudication
from .curation import hold

Json = dict[str, Any]
#: Units that one act decides: it is one transaction, for which nobody else can write on SQLite.
AT_ONCE = 500
#: Units whose answers are in memory together.
PART = 500
#: Shares of agreement that a page offers.
STEPS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass
class Candidates:
    """The contested units of a round that could be decided without a look at each."""

    #: (agreement, unit id, the answers that are nearest to the others) in the order of the queue.
    found: list[tuple[float, int, list[Answer]]] = field(default_factory=list)
    contested: int = 0
    #: Left out.
    flagged: int = 0

    def above(self, agreement: float, *, tied: bool) -> list[tuple[int, Answer]]:
        """(unit id, answer) where people agreed at least so far. Of answers that are equally near the first is taken:
        their order is by the identifiers that browsers drew, which know nothing of who gave them."""
        return [
            (unit, nearest[0])
            for share, unit, nearest in self.found
            if share >= agreement - SAME and (tied or len(nearest) == 1)
        ]


def candidates(round: Round) -> Candidates:
    """Some queries for each `PART` of the contested units."""
    kind, out = kinds.get(round.kind), Candidates()
    fields = kind.fields_of(round)
    waiting = [w for w in queue.waiting(round) if w.contested]
    out.contested, out.flagged = len(waiting), sum(w.flagged for w in waiting)
    units = [w.unit for w in waiting if not w.flagged]
    for first in range(0, len(units), PART):
        part = units[first : first + PART]
        answers = dict(_by_unit(round, part))
        values = kind.values(a.pk for given in answers.values() for a in given)
        for unit in part:
            given = answers.get(unit, [])
            said = [values[a.pk] for a in given]
            near = nearness(kind, fields, said)
            if near.agreement is not None:
                out.found.append((near.agreement, unit, [given[i] for i in near.nearest]))
    return out


def preview(round: Round) -> Json:
    """How many units would be decided at each share of agreement."""
    found = candidates(round)
    counts = [(step, len(found.above(step, tied=False)), len(found.above(step, tied=True))) for step in STEPS]
    return {
        "contested": found.contested, "flagged": found.flagged, "at_once": AT_ONCE,
        "steps": [{"agreement": step, "units": clear, "tied": every - clear} for step, clear, every in counts],
    }  # fmt: skip


def adjudicate_at_once(
    *, round: Round, found: Candidates, agreement: float, tied: bool, expected: int, reason: str, by: Member
) -> Json:
    """Decide up to `AT_ONCE` units on which people agreed at least so far. ``expected``: how many the curator was told;
    `Conflict` where they are others by now. One act, which one `undo` takes back."""
    adjudication.refuse_unless_closed(round)
    reason = adjudication.reason_of(reason)
    with transaction.atomic():
        chosen = found.above(agreement, tied=tied)
        if len(chosen) != expected:
            raise Conflict(f"There are {len(chosen)} such units now, not {expected}. Nothing was decided.")
        ids = [unit for unit, _ in chosen[:AT_ONCE]]
        units = {u.pk: u for u in Unit.objects.filter(pk__in=ids)}
        hold(list(units.values()))
        # Held now: whoever was a moment faster with one of them has decided it, and it stays so.
        still = {w.unit for w in queue.waiting(round) if w.contested}
        adopted = {units[unit]: answer for unit, answer in chosen[:AT_ONCE] if unit in still}
        made = adjudication.adopt(round=round, chosen=adopted, reason=reason, by=by) if adopted else []
        adjudication.tell_authors(round, made, by=by)
    return adjudication.act_of(round, made, []) | {"units": len(adopted)}


def _by_unit(round: Round, units: Sequence[int]) -> Iterator[tuple[int, list[Answer]]]:
    found = opinions(round).filter(assignment__unit__in=units).select_related("assignment")
    ordered = sorted(found, key=lambda a: (a.assignment.unit_id, a.pk))
    for unit, answers in groupby(ordered, key=lambda a: a.assignment.unit_id):
        yield unit, list(answers)
