"""What was said and decided of one unit of a round, for those who read it and those who write."""

from collections.abc import Callable, Sequence
from typing import Any

from accounts.models import User
from api.problems import NotFound

from ..models import Answer, Decision, Round, Unit
from ..rounds.counted import opinions
from ..values.in_force import sentences

Json = dict[str, Any]
#: What to call somebody (`projects.permissions.Names.of`).
Called = Callable[[User | None], str]


def unit_in(round: Round, unit: int) -> Unit:
    """A unit that the round asks people of; `NotFound` for every other."""
    found = Unit.objects.filter(pk=unit, assignments__round=round).first()
    if found is None:
        raise NotFound("There is nothing here that you may see.")
    return found


def answers_to(round: Round, unit: Unit) -> list[Answer]:
    """The opinions that count. Their order is the same at every visit, and tells nothing of who gave them."""
    found = opinions(round).filter(assignment__unit=unit).select_related("assignment__unit", "author__user")
    return sorted(found, key=lambda answer: answer.pk)


def decisions_of(unit: Unit, kind: str) -> list[Decision]:
    """All that was ever decided of a unit in one kind, newest first. One query."""
    rows = Decision.objects.filter(unit=unit, kind=kind).order_by().select_related("unit", "decided_by")
    return sorted(rows, key=lambda d: -d.pk)


def in_short(decisions: Sequence[Decision], called: Called) -> Json:
    """What somebody decided, for whoever came later: by field in words, with who it was and why."""
    words = sentences(decisions)
    last = max(decisions, key=lambda d: d.pk)
    return {
        "said": [{"field": d.field, "value": words[d.pk]} for d in decisions if d.pk in words],
        "by": called(last.decided_by), "reason": last.reason, "at": last.decided_at.isoformat(),
    }  # fmt: skip
