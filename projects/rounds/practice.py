"""How people fare in a practice round: what is right, what is left to try, and who has passed.

A unit is right where the person's last allowed try says what was expected in every field that is compared. The share of
right units is held against the pass mark when all units of an attempt are done. An *attempt* is one walk through all
units; its slots are told apart by their repeat, 0 for the first.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from api.parameters import defaults

from .. import kinds
from ..models import Answer, Assignment, Decision, Member, Participant, Reference, Round
from ..models.round import WALK
from ..purposes import ATTEMPTS, PASS_MARK, TRIES
from ..values.in_force import values_of


def term(round: Round, name: str) -> int:
    """What the lead set of a practice round, or what is so by default."""
    return int(({**defaults(round.meaning.terms), **round.terms})[name])


@dataclass(frozen=True)
class Attempt:
    """One person's walk through the units. ``done``: answered, and right or without a try left."""

    number: int
    units: int
    done: int
    right: int
    pass_mark: int

    @property
    def is_done(self) -> bool:
        return self.units > 0 and self.done == self.units

    @property
    def passed(self) -> bool:
        return self.is_done and 100 * self.right >= self.pass_mark * self.units

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.number, "units": self.units, "done": self.done, "right": self.right,
            "is_done": self.is_done, "passed": self.passed,
        }  # fmt: skip


def attempts(round: Round, members: Iterable[int] | None = None) -> dict[int, list[Attempt]]:
    """The attempts of each person, by member id, the first first. One query."""
    return attempts_in([round], Q() if members is None else Q(person__in=members))[round.pk]


def attempts_in(rounds: Iterable[Round], who: Q) -> dict[int, dict[int, list[Attempt]]]:
    """As `attempts` of several rounds, by round id; ``who`` narrows the slots to those of some people. One query."""
    by_id = {round.pk: round for round in rounds}
    over = Q(wrong=False)
    for round in by_id.values():
        over |= Q(round=round, revision__gte=term(round, TRIES))
    answered = Q(current_answer__isnull=False)
    slots = _judged(Assignment.objects.filter(who, round__in=by_id, person__isnull=False).counted())
    rows = slots.values("round", "person", "repeat").annotate(
        units=Count("pk"), done=Count("pk", filter=answered & over), right=Count("pk", filter=answered & Q(wrong=False))
    )
    found: dict[int, dict[int, list[Attempt]]] = {pk: defaultdict(list) for pk in by_id}
    for row in rows.order_by("round", "person", "repeat"):
        mark = term(by_id[row["round"]], PASS_MARK)
        attempt = Attempt(row["repeat"] + 1, row["units"], row["done"], row["right"], mark)
        found[row["round"]][row["person"]].append(attempt)
    return found


def may_begin_again(round: Round, mine: Sequence[Attempt]) -> bool:
    """Whether a person may walk through all units once more: the lead allows it, and the last attempt was no pass."""
    return (
        bool(mine) and round.is_open and len(mine) < term(round, ATTEMPTS) and mine[-1].is_done and not mine[-1].passed
    )


TO_DO, PASSED, AGAIN, FAILED = "to do", "passed", "may begin again", "not passed"
#: As choices of the API.
STANDINGS = [(one, one) for one in (TO_DO, PASSED, AGAIN, FAILED)]


def standing(round: Round, mine: Sequence[Attempt]) -> str:
    """What a person's attempts come to: passed, something to do (in this attempt or in another one), or no way to pass:
    the last attempt is done, the round is closed, or no text is left that was not corrected since."""
    if any(attempt.passed for attempt in mine):
        return PASSED
    if not round.is_open or not mine:
        return FAILED
    if not mine[-1].is_done:
        return TO_DO
    return AGAIN if may_begin_again(round, mine) else FAILED


def of_person(round: Round, member: Member) -> dict[str, Any]:
    """One's own practice: the attempts, and whether there may be another."""
    mine = attempts(round, [member.pk])[member.pk]
    return {
        "attempts": [attempt.as_json() for attempt in mine],
        "passed": any(attempt.passed for attempt in mine),
        "pass_mark": term(round, PASS_MARK),
        "may_begin_again": may_begin_again(round, mine),
        "opens": list(_opens(round, member).values("id", "name")),
    }


def _opens(round: Round, member: Member) -> QuerySet[Round]:
    """The open rounds in which a person works that ask for this practice."""
    at_work = Participant.objects.filter(member=member, left_at=None).values("round")
    return Round.objects.filter(requires_practice=round, status=Round.Status.OPEN, pk__in=at_work).order_by("pk")


def of_everyone(round: Round) -> list[dict[str, Any]]:
    """Who is how far, and who has passed. Two queries."""
    by_person = attempts(round)
    people = round.participants.select_related("member__user").order_by("pk")
    return [
        {
            "member": one.member_id, "pseudonym": one.member.pseudonym, "name": one.member.user.name,
            "attempts": [attempt.as_json() for attempt in by_person.get(one.member_id, [])],
            "passed": any(attempt.passed for attempt in by_person.get(one.member_id, [])),
        }
        for one in people
    ]  # fmt: skip


def to_try_again(round: Round, member: int) -> list[Assignment]:
    """Slots of which the person's answer is wrong and may be tried once more, in the order of the walk."""
    mine = Assignment.objects.filter(round=round, person=member, current_answer__isnull=False).counted()
    wrong = _judged(mine).filter(wrong=True, revision__lt=term(round, TRIES))
    return list(wrong.select_related("unit", "current_answer").order_by(*WALK))


def tries_left(round: Round, slot: Assignment) -> int:
    """How often the slot may still be answered."""
    if slot.current_answer_id and not Reference.objects.filter(answer=slot.current_answer_id, same=False).exists():
        return 0
    return max(0, term(round, TRIES) - slot.revision)


def feedback(round: Round, answer: Answer) -> dict[str, Any]:
    """What the person is told of a stored answer: field by field right or wrong; and, when no try is left, the expected
    value, its curator's reason and the heading of the guideline that it is under."""
    kind, slot = kinds.get(round.kind), answer.assignment
    held = list(Reference.objects.filter(answer=answer).select_related("decision"))
    right = all(reference.same for reference in held)
    # Of the revision that was sent: a copy that comes late tells what the first reply told.
    left = 0 if right else max(0, term(round, TRIES) - answer.revision)
    decisions = [reference.decision for reference in held]
    expected = values_of([slot.unit], kind.key, decisions)[slot.unit_id]
    said = kind.values([answer.pk]).get(answer.pk, {})
    return {
        "right": right,
        "tries_left": left,
        "fields": [
            {
                "field": r.decision.field, "right": r.same, "said": _in_words(kind, r.decision.field, said),
                "expected": None if left else _in_words(kind, r.decision.field, expected),
                "reason": "" if left else r.decision.reason, "heading": _heading(kind, r.decision, round),
            }
            for r in sorted(held, key=lambda r: list(kind.fields_of(round)).index(r.decision.field))
        ],
    }  # fmt: skip


def _in_words(kind: kinds.Kind, field: str, value: kinds.Value) -> str:
    return kind.in_words(value).get(field, "")


def _heading(kind: kinds.Kind, decision: Decision, round: Round) -> str:
    """The heading under which the round's own guideline explains a field; empty where it has none such."""
    heading = kind.headings.get(decision.field, "")
    lines = (line.lstrip("#").strip() for line in round.guideline.text.splitlines() if line.startswith("#"))
    return heading if heading and heading in lines else ""


def _judged(slots: QuerySet[Assignment]) -> QuerySet[Any]:
    """Slots with ``wrong``: whether the newest answer is wrong in some field."""
    return slots.annotate(wrong=Exists(Reference.objects.filter(answer=OuterRef("current_answer"), same=False)))


def units_of(round: Round) -> QuerySet[Any]:
    """(unit, position) of what is practised with, whoever is still there."""
    slots = Assignment.objects.filter(round=round, repeat=0, unit__superseded_by=None)
    return slots.order_by(F("position").asc(), "unit").values_list("unit", "position").distinct()
