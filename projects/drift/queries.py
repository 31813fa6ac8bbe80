"""Read the accuracy of people on returning items of a round, and their events. A fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Subquery

from measures import drift

from .. import kinds
from ..answers.returning import Returning
from ..gold.queries import contested_fields, current_decisions, values_of
from ..models import AccuracyEvent, Answer, Assignment, Outcome, Round, Unit
from ..practice.warnings import current_warning
from .signs import signs_of

What = AccuracyEvent.What
Json = dict[str, Any]


def series(round: Round) -> dict[int, list[bool]]:
    """Return whether each person's answers to returning items are correct, by member id, in order of first answers."""
    return {person: [is_correct for _, is_correct in answers] for person, answers in answers_of(round).items()}


def answers_of(round: Round) -> dict[int, list[tuple[UUID, bool]]]:
    """Return each person's answers to returning items, and whether they are correct, in order of first answers.

    An answer is correct if every field that has a decided value is correct, as in practice. Answers that are late, and
    items whose fields all became contested or removed, are left out.
    """
    first = Answer.objects.filter(assignment=OuterRef("pk"), revision=1).values("received_at")[:1]
    rows = (
        Assignment.objects.filter(round=round, current_answer__outcome=Outcome.ANSWERED)
        .returned()
        .counted()
        .annotate(first_at=Subquery(first))
        .order_by("first_at", "position", "pk")
        .values_list("person", "unit", "current_answer")
    )
    answers = list(rows)
    is_correct = _correct(round, {(unit, answer) for _, unit, answer in answers})
    by_person: dict[int, list[tuple[UUID, bool]]] = defaultdict(list)
    for person, _, answer in answers:
        if answer in is_correct:
            by_person[person].append((answer, is_correct[answer]))
    return by_person


def _correct(round: Round, answers: Iterable[tuple[int, UUID]]) -> dict[UUID, bool]:
    """Return whether answers are correct, by answer id. Answers without a compared field are left out."""
    pairs, kind = list(answers), kinds.get(round.kind)
    units = list(Unit.objects.filter(pk__in={unit for unit, _ in pairs}))
    contested, fields = contested_fields(units, kind.key), set(kind.fields_of(round))
    current = current_decisions([unit.pk for unit in units], kind.key)
    decisions = [d for key, d in current.items() if key not in contested and d.field in fields]
    expected = values_of(units, kind.key, decisions)
    of_unit: dict[int, list[str]] = defaultdict(list)
    for decision in decisions:
        of_unit[decision.unit_id].append(decision.field)
    values = kind.values(answer for _, answer in pairs)
    out: dict[UUID, bool] = {}
    for unit, answer in pairs:
        judged = [kind.is_correct(field, values[answer], expected[unit], round) for field in of_unit[unit]]
        if compared := [each for each in judged if each is not None]:
            out[answer] = all(compared)
    return out


def accuracy_of(round: Round) -> Json | None:
    """Return the accuracy of each person of a round, or None if the round has no returning items."""
    settings = Returning.of(round.sampling)
    if settings is None:
        return None
    horizon = drift.horizon_of(settings.items)
    threshold, steady = drift.threshold_of(settings.bar, horizon), drift.steady(settings.bar)
    correct, events, signs = series(round), events_of(round), signs_of(round)
    source = Round.objects.filter(pk=settings.source or 0).values_list("name", flat=True).first()
    return {
        "bar": settings.bar,
        "steady": steady,
        "false_warnings": drift.false_warnings(threshold, settings.bar, horizon, steady),
        "horizon": horizon,
        "threshold": threshold / 100,
        "share": settings.share,
        "source_name": source or "",
        "items": settings.items,
        "window": drift.WINDOW,
        "people": [
            {
                "member": one.member_id,
                "pseudonym": one.member.pseudonym,
                "name": one.member.name,
                "working": one.left_at is None,
                **_person(correct.get(one.member_id, []), events.get(one.member_id, [])),
                **(signs.get(one.member_id) or dict.fromkeys(("speed", "values", "pauses"))),
            }
            for one in round.participants.select_related("member__user").order_by("pk")
        ],
    }


def _person(correct: list[bool], events: list[AccuracyEvent]) -> Json:
    return drift.accuracy(correct) | {
        "last_right": sum(correct[-drift.WINDOW :]),
        "last_n": len(correct[-drift.WINDOW :]),
        "warnings": _warnings(events),
        "warned": current_warning(events) is not None,
    }


def _warnings(events: list[AccuracyEvent]) -> list[Json]:
    """Return the warnings with what followed each of them."""
    out = list[Json]()
    for event in events:
        if event.what == What.WARNED:
            fields = {name: getattr(event, name) for name in ("at", "answers", "right", "window")}
            figures = {"score": event.score / 100, "threshold": event.threshold / 100}
            out.append(fields | figures | {"recovered_at": None, "practice": None, "practice_name": ""})
        elif out and event.what == What.RECOVERED:
            out[-1]["recovered_at"] = event.at
        elif out and event.practice:
            out[-1] |= {"practice": event.practice.pk, "practice_name": event.practice.name}
    return out


def events_of(round: Round) -> dict[int, list[AccuracyEvent]]:
    """Return the events of a round by member id, in order."""
    by_member: dict[int, list[AccuracyEvent]] = defaultdict(list)
    for event in AccuracyEvent.objects.filter(round=round).select_related("practice"):
        by_member[event.member_id].append(event)
    return by_member


def names_of_practice(round: Round) -> set[str]:
    return set(Round.objects.filter(project=round.project_id).values_list("name", flat=True))


def had_items(round: Round, member: int) -> set[int]:
    """Return the units of a round that a person has or had."""
    own = Assignment.objects.filter(round=round, person=member).exclude(number__lt=0, current_answer=None)
    return set(own.values_list(F("unit"), flat=True))
