"""Warnings about a person's accuracy on returning gold items, as the person sees them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from accounts.models import User

from ..models import AccuracyEvent, Round

What = AccuracyEvent.What
Json = dict[str, Any]


def current_warning(events: Sequence[AccuracyEvent]) -> AccuracyEvent | None:
    """Return the warning after which there was no recovery, or None."""
    state = [event for event in events if event.what != What.PRACTICE]
    return state[-1] if state and state[-1].what == What.WARNED else None


def practice_after(events: Sequence[AccuracyEvent], warning: AccuracyEvent) -> Round | None:
    """Return the practice round that was offered after a warning, or None."""
    offered = [event.practice for event in events if event.what == What.PRACTICE and event.pk > warning.pk]
    return offered[-1] if offered else None


def warnings_of_user(rounds: Iterable[Round], user: User) -> dict[int, Json]:
    """Return what a person sees of the own warnings, by id of the open round.

    One query, none if no round has returning items. The items themselves are never revealed.
    """
    monitored = [round.pk for round in rounds if round.is_open and round.returns_gold]
    if not monitored:
        return {}
    by_round: dict[int, list[AccuracyEvent]] = defaultdict(list)
    for event in AccuracyEvent.objects.filter(round__in=monitored, member__user=user).select_related("practice"):
        by_round[event.round_id].append(event)
    return {pk: own for pk, events in by_round.items() if (own := _own(events))}


def _own(events: Sequence[AccuracyEvent]) -> Json | None:
    warning = current_warning(events)
    if warning is None:
        return None
    practice = practice_after(events, warning)
    return {
        "right": warning.right,
        "window": warning.window,
        "practice": practice.pk if practice and practice.is_open else None,
        "at": warning.at,
    }
