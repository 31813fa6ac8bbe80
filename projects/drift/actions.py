"""Check the accuracy of people on returning items, warn, and open practice rounds. Nothing stops by itself."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Max
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from measures import drift, sampling

from .. import purposes
from ..answers.returning import Returning
from ..models import AccuracyEvent, Assignment, Member, Purpose, Round
from ..models.project import MAY
from ..notifications.actions import notify_of_accuracy
from ..practice.warnings import current_warning, practice_after
from ..queue.returning import withhold_known
from ..rounds import choosing
from ..rounds.actions import open_round
from ..rounds.planning import RoundPlan
from . import queries as drift_queries
from .queries import What

#: Number of units of a practice round that follows a warning, and the minimum.
PRACTICE_UNITS, FEWEST = 10, 3
#: Number and time of the answers of each open round at its last check by this process.
_checked: dict[int, Any] = {}


def check_open_rounds() -> int:
    """Check the open rounds with returning items that have new answers. Return the number of new events."""
    rounds = Round.objects.filter(status=Round.Status.OPEN, sampling__has_key="returned").select_related("project")
    return sum(_check_if_due(round) for round in rounds)


def _check_if_due(round: Round) -> int:
    answered = Assignment.objects.filter(round=round, current_answer__isnull=False).returned()
    basis = answered.aggregate(n=Count("pk"), newest=Max("current_answer__received_at"))
    if _checked.get(round.pk) == basis:
        return 0
    for participant in round.participants.filter(left_at=None).select_related("member__project"):
        # A curator may have decided an item since the round opened.
        with transaction.atomic():
            withhold_known(round, participant.member)
    events = check(round)
    _checked[round.pk] = basis
    return len(events)


def check(round: Round) -> list[AccuracyEvent]:
    """Store and report the new warnings and recoveries of a round. Idempotent."""
    settings = Returning.of(round.sampling)
    if settings is None:
        return []
    horizon, events = drift.horizon_of(settings.items), drift_queries.events_of(round)
    threshold, new = drift.threshold_of(settings.bar, horizon), list[AccuracyEvent]()
    for member, correct in drift_queries.series(round).items():
        states = [event for event in events.get(member, ()) if event.what != What.PRACTICE]
        last, answers = (states[-1].what, states[-1].answers) if states else (What.RECOVERED, 0)
        for signal in drift.signals(correct, settings.bar, horizon):
            # Corrected gold can change earlier signals. What was stored stays.
            if signal.answers > answers and signal.what != last:
                last = What(signal.what)
                new.append(_event(round, member, signal, threshold, settings.bar))
    return [event for event in new if _store(round, event)]


def _event(round: Round, member: int, signal: drift.Signal, threshold: int, bar: int) -> AccuracyEvent:
    return AccuracyEvent(
        round=round,
        member_id=member,
        what=signal.what,
        answers=signal.answers,
        window=signal.window,
        right=signal.right,
        score=signal.score,
        threshold=threshold,
        bar=bar,
        at=timezone.now(),
    )


def _store(round: Round, event: AccuracyEvent) -> bool:
    """Store an event and notify of a warning. Return False if another worker has stored it."""
    try:
        with transaction.atomic():
            event.save(force_insert=True)
            if event.what == What.WARNED:
                _notify(round, event)
    except IntegrityError:
        return False
    return True


def _notify(round: Round, event: AccuracyEvent) -> None:
    leads = round.project.members.active().filter(role__in=MAY["open, change and close rounds"])
    users = set(leads.exclude(pk=event.member_id).values_list("user", flat=True)) - {None}
    notify_of_accuracy(
        users,
        round=round,
        subject=f"{event.member.pseudonym[:20]}: {event.right} of {event.window} returning items correct",
        path=f"/projects/{round.project.slug}/rounds/{round.pk}",
    )
    if event.member.user_id:
        subject = f"{event.right} of your last {event.window} known items correct"
        notify_of_accuracy([event.member.user_id], round=round, subject=subject, path=f"/work/{round.pk}")


def open_practice(*, round: Round, member: Member, by: User) -> Round:
    """Open a practice round for a person with a current warning, and link it to the warning.

    Its units have decided values. Units that the person answered in this round are left out, so that the practice does
    not reveal which items return; units that may still return follow last, and then no longer do.
    """
    events = drift_queries.events_of(round).get(member.pk, [])
    warning = current_warning(events)
    if warning is None:
        raise Conflict("This person has no current warning in this round.")
    offered = practice_after(events, warning)
    if offered and offered.is_open:
        raise Conflict("This person already has a practice round for this warning.")
    units = _practice_units(round, member)
    if len(units) < FEWEST:
        raise Conflict(f"Practice needs {FEWEST} units with a decided value that are not in this round.")
    plan = RoundPlan(
        name=_free_name(round, member),
        kind=round.kind,
        purpose=Purpose.PRACTICE,
        overlap=1,
        people=[member.pk],
        guideline=round.guideline_id,
        seed=round.seed,
        options=round.options,
        policy=round.policy,
        only=units,
    )
    with transaction.atomic():
        practice = open_round(project=round.project, plan=plan, by=by)
        AccuracyEvent.objects.create(
            round=round,
            member=member,
            what=What.PRACTICE,
            answers=warning.answers,
            window=warning.window,
            right=warning.right,
            score=warning.score,
            threshold=warning.threshold,
            bar=warning.bar,
            practice=practice,
            by=by,
            at=timezone.now(),
        )
    return practice


def _practice_units(round: Round, member: Member) -> Sequence[int]:
    decided = choosing.units(round.project, round.kind, {}, Purpose.PRACTICE, round.options)
    had, returning = drift_queries.had_items(round, member.pk), set(round.sampling["returned"]["units"])
    ids = [pk for pk in decided.values_list("pk", flat=True) if pk not in had]
    ordered = sampling.shuffled(ids, f"{round.seed}/practice/{member.pk}")
    return sorted(ordered, key=lambda pk: pk in returning)[:PRACTICE_UNITS]


def _free_name(round: Round, member: Member) -> str:
    used = drift_queries.names_of_practice(round)
    base = f"{purposes.Purpose.PRACTICE.label.capitalize()}, {member.pseudonym}"[:70]
    return next(name for name in (base if n == 1 else f"{base} {n}" for n in count(1)) if name not in used)
