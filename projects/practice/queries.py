"""Results of practice rounds: correct units, remaining tries, and who has passed.

A unit is correct if the person's last allowed try has the expected value in every compared field. When all units of an
attempt are done, the share of correct units is compared with the pass mark. An *attempt* covers all units once. The
`repeat` of its assignments identifies it, 0 for the first attempt.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from api.parameters import defaults
from api.problems import Refused
from projects import kinds
from projects.gold.queries import contested_fields, current_decisions, values_of
from projects.models import Answer, Assignment, Decision, Member, Participant, Reference, Round
from projects.models.round import WALK
from projects.purposes import ATTEMPTS, PASS_MARK, TRIES


def references(assignment: Assignment, value: kinds.Value | None, shown: list[int]) -> list[Reference]:
    """Return the references to store with an answer. Empty in rounds that neither show values nor give feedback.

    ``shown``: ids of the decisions that the person saw. Raise `Refused` if they are not decisions of this unit, or are
    missing although the unit had a current value when the round opened.
    """
    round = assignment.round
    if value is None:
        return []
    if round.meaning.gives_feedback:
        return _expected(assignment, value)
    if round.shows_current_value:
        return _reviewed(assignment, value, shown)
    return []


def store(answer: Answer, references: list[Reference]) -> None:
    for reference in references:
        reference.answer = answer
    Reference.objects.bulk_create(references)


def _expected(assignment: Assignment, value: kinds.Value) -> list[Reference]:
    kind, round = kinds.get(assignment.round.kind), assignment.round
    current = current_decisions([assignment.unit_id], kind.key)
    # Fields that became contested since the round opened are not compared.
    contested = contested_fields([assignment.unit], kind.key)
    keys = [(assignment.unit_id, name) for name in kind.fields_of(round)]
    decisions = [current[key] for key in keys if key in current and key not in contested]
    expected = values_of([assignment.unit], kind.key, decisions)[assignment.unit_id]
    judged = [(d, kind.is_correct(d.field, value, expected, round)) for d in decisions]
    return [Reference(decision=d, same=right) for d, right in judged if right is not None]


def _reviewed(assignment: Assignment, value: kinds.Value, shown: list[int]) -> list[Reference]:
    kind = kinds.get(assignment.round.kind)
    decisions = list(
        Decision.objects.with_value().filter(pk__in=shown, unit=assignment.unit_id, kind=kind.key).order_by()
    )
    if len(decisions) != len(set(shown)) or len({d.field for d in decisions}) != len(decisions):
        raise Refused.field(
            "references", "These are not the decisions of this unit. Send the ids that the card lists in references."
        )
    if not decisions and _was_decided(assignment, assignment.round):
        raise Refused.field("references", "The references are missing. Send the ids that the card lists in references.")
    before = values_of([assignment.unit], kind.key, decisions)[assignment.unit_id]
    return [Reference(decision=d, same=kind.is_equal(d.field, before, value)) for d in decisions]


def _was_decided(assignment: Assignment, round: Round) -> bool:
    """Return whether the unit was decided when the round opened. Later decisions may have followed the card."""
    current = current_decisions([assignment.unit_id], round.kind).values()
    return any(decision.decided_at <= round.opened_at for decision in current)


def setting_of(round: Round, name: str) -> int:
    """Return a setting of a practice round, or its default."""
    return int(({**defaults(round.meaning.terms), **round.terms})[name])


@dataclass(frozen=True)
class Attempt:
    """One attempt of one person at all units. ``done`` counts units that are correct or without a try left."""

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
            "number": self.number,
            "units": self.units,
            "done": self.done,
            "right": self.right,
            "is_done": self.is_done,
            "passed": self.passed,
        }


def attempts(round: Round, members: Iterable[int] | None = None) -> dict[int, list[Attempt]]:
    """Return the attempts of each person, by member id and in order. One query."""
    return attempts_in([round], Q() if members is None else Q(person__in=members))[round.pk]


def attempts_in(rounds: Iterable[Round], who: Q) -> dict[int, dict[int, list[Attempt]]]:
    """Return the attempts in several rounds, by round id and member id. ``who`` filters the assignments. One query."""
    by_id = {round.pk: round for round in rounds}
    over = Q(wrong=False)
    for round in by_id.values():
        over |= Q(round=round, revision__gte=setting_of(round, TRIES))
    answered = Q(current_answer__isnull=False)
    assignments = _with_correctness(Assignment.objects.filter(who, round__in=by_id, person__isnull=False).counted())
    rows = assignments.values("round", "person", "repeat").annotate(
        units=Count("pk"), done=Count("pk", filter=answered & over), right=Count("pk", filter=answered & Q(wrong=False))
    )
    attempts_by_round: dict[int, dict[int, list[Attempt]]] = {pk: defaultdict(list) for pk in by_id}
    for row in rows.order_by("round", "person", "repeat"):
        mark = setting_of(by_id[row["round"]], PASS_MARK)
        attempt = Attempt(row["repeat"] + 1, row["units"], row["done"], row["right"], mark)
        attempts_by_round[row["round"]][row["person"]].append(attempt)
    return attempts_by_round


def may_start_attempt(round: Round, attempts: Sequence[Attempt]) -> bool:
    """Return whether a person may start another attempt: the lead allows it, and the last one was failed."""
    return (
        bool(attempts)
        and round.is_open
        and len(attempts) < setting_of(round, ATTEMPTS)
        and attempts[-1].is_done
        and not attempts[-1].passed
    )


TO_DO, PASSED, AGAIN, FAILED = "to do", "passed", "may begin again", "not passed"
#: As API choices.
STATES = [(one, one) for one in (TO_DO, PASSED, AGAIN, FAILED)]


def practice_state(round: Round, attempts: Sequence[Attempt]) -> str:
    """Return the state that follows from a person's attempts.

    The state is `FAILED` if the person can no longer pass: the last attempt is done, the round is closed, or every text
    was corrected since.
    """
    if any(attempt.passed for attempt in attempts):
        return PASSED
    if not round.is_open or not attempts:
        return FAILED
    if not attempts[-1].is_done:
        return TO_DO
    return AGAIN if may_start_attempt(round, attempts) else FAILED


def of_person(round: Round, member: Member) -> dict[str, Any]:
    """Return one person's attempts, and whether another is allowed."""
    own_attempts = attempts(round, [member.pk])[member.pk]
    return {
        "attempts": [attempt.as_json() for attempt in own_attempts],
        "passed": any(attempt.passed for attempt in own_attempts),
        "pass_mark": setting_of(round, PASS_MARK),
        "may_begin_again": may_start_attempt(round, own_attempts),
        "opens": list(_opens(round, member).values("id", "name")),
    }


def _opens(round: Round, member: Member) -> QuerySet[Round]:
    """Return the open rounds of a person that require this practice."""
    at_work = Participant.objects.filter(member=member, left_at=None).values("round")
    return Round.objects.filter(requires_practice=round, status=Round.Status.OPEN, pk__in=at_work).order_by("pk")


def of_everyone(round: Round) -> list[dict[str, Any]]:
    """Return the attempts of all participants, and who has passed. Two queries."""
    by_person = attempts(round)
    people = round.participants.select_related("member__user").order_by("pk")
    return [
        {
            "member": one.member_id,
            "pseudonym": one.member.pseudonym,
            "name": one.member.name,
            "attempts": [attempt.as_json() for attempt in by_person.get(one.member_id, [])],
            "passed": any(attempt.passed for attempt in by_person.get(one.member_id, [])),
        }
        for one in people
    ]


def retryable_assignments(round: Round, member: int) -> list[Assignment]:
    """Return assignments with an incorrect answer and another try, in working order."""
    answered = Assignment.objects.filter(round=round, person=member, current_answer__isnull=False).counted()
    wrong = _with_correctness(answered).filter(wrong=True, revision__lt=setting_of(round, TRIES))
    return list(wrong.select_related("unit", "current_answer").order_by(*WALK))


def tries_left(round: Round, assignment: Assignment) -> int:
    """Return how many more times the assignment may be answered."""
    if (
        assignment.current_answer_id
        and not Reference.objects.filter(answer=assignment.current_answer_id, same=False).exists()
    ):
        return 0
    return max(0, setting_of(round, TRIES) - assignment.revision)


def feedback(round: Round, answer: Answer) -> dict[str, Any]:
    """Return the feedback on a stored answer: for each field, whether it is correct.

    If no try is left, it includes the expected value and the curator's reason. The guideline heading is always
    included.
    """
    kind, assignment = kinds.get(round.kind), answer.assignment
    references = list(Reference.objects.filter(answer=answer).select_related("decision"))
    right = all(reference.same for reference in references)
    # By the revision of this answer, so that a repeated submission gets the same feedback.
    tries = 0 if right else max(0, setting_of(round, TRIES) - answer.revision)
    decisions = [reference.decision for reference in references]
    expected = values_of([assignment.unit], kind.key, decisions)[assignment.unit_id]
    value = kind.values([answer.pk]).get(answer.pk, {})
    return {
        "right": right,
        "tries_left": tries,
        "fields": [
            {
                "field": r.decision.field,
                "right": r.same,
                "said": _in_words(kind, r.decision.field, value),
                "expected": None if tries else _in_words(kind, r.decision.field, expected),
                "reason": "" if tries else r.decision.reason,
                "heading": _heading(kind, r.decision, round),
            }
            for r in sorted(references, key=lambda r: list(kind.fields_of(round)).index(r.decision.field))
        ],
    }


def _in_words(kind: kinds.Kind, field: str, value: kinds.Value) -> str:
    return kind.in_words(value).get(field, "")


def _heading(kind: kinds.Kind, decision: Decision, round: Round) -> str:
    """Return the heading under which the round's guideline explains a field, or an empty string."""
    heading = kind.headings.get(decision.field, "")
    lines = (line.lstrip("#").strip() for line in round.guideline.text.splitlines() if line.startswith("#"))
    return heading if heading and heading in lines else ""


def _with_correctness(assignments: QuerySet[Assignment]) -> QuerySet[Any]:
    """Annotate assignments with ``wrong``: whether the current answer is incorrect in a compared field."""
    return assignments.annotate(wrong=Exists(Reference.objects.filter(answer=OuterRef("current_answer"), same=False)))


def units_of(round: Round) -> QuerySet[Any]:
    """Return (unit, position) of the practice units, including those assigned to people who left."""
    assignments = Assignment.objects.filter(round=round, repeat=0, unit__superseded_by=None)
    return assignments.order_by(F("position").asc(), "unit").values_list("unit", "position").distinct()
