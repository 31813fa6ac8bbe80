"""Cards: what people see of their assignments. Each kind builds its cards in batches."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from api.problems import Conflict
from measures.unit_names import unit_name

from .. import kinds
from ..answers.queries import Submission
from ..gold.queries import newest_decisions, of_kind, values_of
from ..models import Assignment, Decision, Member, Participant, Reference, Round, Unit
from ..suggestions.queries import shown_values
from . import returning


def cards(round: Round, assignments: Sequence[Assignment]) -> list[dict[str, Any]]:
    """Return the cards of assignments of one round, in their order. The number of queries is fixed."""
    if not assignments:
        return []
    kind = kinds.get(round.kind)
    batch = kind.load(assignments, round)
    answer_ids = [assignment.current_answer_id for assignment in assignments if assignment.current_answer_id]
    values = kind.values(answer_ids) if answer_ids else {}
    # Not in practice rounds: their participants must not learn the expected value from the card.
    shown_of = _values_to_review(assignments, kind.key) if round.shows_current_value else {}
    suggested = shown_values(round, assignments) if round.suggestions else {}
    out = []
    for assignment in assignments:
        answer = assignment.current_answer
        key = "" if kind.blind else assignment.unit.key
        shown, references = shown_of.get(assignment.pk, (suggested.get(assignment.pk), []))
        out.append(
            {
                "kind": kind.key,
                "assignment": assignment.pk,
                "revision": assignment.revision,
                "shown": assignment.unit.revision,
                "position": assignment.position,
                "unit": {"id": assignment.unit_id, "key": key, "unit_name": unit_name(key)},
                "answered_at": answer.received_at if answer else None,
                "outcome": answer.outcome if answer else None,
                "comment": answer.comment if answer else "",
                "flag": answer.flag if answer else False,
                "references": references,
                "value": values.get(answer.pk) if answer else shown,
                **({"is_suggestion": True} if not answer and assignment.pk in suggested else {}),
                **kind.card(assignment, batch, round),
            }
        )
    return out


def of_curator(unit: Unit, kind: str, person: Member) -> dict[str, Any]:
    """Return the card of a unit for a curator, outside of rounds and without a value."""
    assignment = kinds.curator_assignment(unit, kind, person)
    assignment.pk, assignment.position = 0, 0
    return cards(assignment.round, [assignment])[0]


def _values_to_review(
    assignments: Sequence[Assignment], kind: str
) -> dict[int, tuple[dict[str, Any] | None, list[int]]]:
    """Return the value to review and the ids of its decisions, by assignment id.

    They are the current decisions, or, for an answered assignment, the references of its answer.
    """
    units = {assignment.unit_id: assignment.unit for assignment in assignments}
    now: dict[int, list[Decision]] = {unit: [] for unit in units}
    for (unit, _), decision in of_kind(newest_decisions(units, kind), kind).items():
        now[unit].append(decision)
    values = values_of(list(units.values()), kind, [d for by_assignment in now.values() for d in by_assignment])
    by_assignment = {
        assignment.pk: (values[assignment.unit_id] or None, sorted(d.pk for d in now[assignment.unit_id]))
        for assignment in assignments
    }
    answered = {assignment.current_answer_id: assignment for assignment in assignments if assignment.current_answer_id}
    if answered:
        of: dict[int, list[int]] = {}
        for answer, pk in (
            Reference.objects.filter(answer__in=answered).order_by("decision").values_list("answer", "decision")
        ):
            of.setdefault(answered[answer].pk, []).append(pk)
        by_assignment |= {assignment: (by_assignment[assignment][0], decisions) for assignment, decisions in of.items()}
    return by_assignment


def reply(round: Round, held: Sequence[Assignment], *, have: Iterable[int]) -> dict[str, Any]:
    """Return the ids of all held assignments, and the cards that the client does not have yet."""
    known, ids = set(have), [assignment.pk for assignment in held]
    return {
        "held": ids,
        "hand": ids,  # for pages opened before the field was renamed
        "fetched": cards(round, [s for s in held if s.pk not in known]),
    }


def recent(round: Round, member: Member, limit: int, *, since: datetime | None = None) -> list[dict[str, Any]]:
    """Return the cards of the member's last answers in a round, newest first. ``since`` leaves out earlier ones."""
    answered = Assignment.objects.filter(round=round, person=member, current_answer__isnull=False)
    if since is not None:
        answered = answered.filter(current_answer__received_at__gte=since)
    assignments = answered.select_related("unit", "current_answer").order_by("-current_answer__received_at", "-pk")[
        :limit
    ]
    return cards(round, list(assignments))


def refuse_earlier(submission: Submission, since: datetime) -> None:
    """Raise `Conflict` for a change of an answer that is hidden from the session (`accounts.sessions`)."""
    earlier = Assignment.objects.filter(pk=submission.assignment, current_answer__received_at__lt=since)
    if earlier.exclude(current_answer=submission.uuid).exists():
        raise Conflict("This answer was given in another browser and can only be changed there.")


def of_person(round: Round, participant: Participant) -> dict[str, Any]:
    """Return one person's progress.

    In a shared queue the ``total`` is the number of units in the round. It is an upper bound, unless every participant
    answers every unit.
    """
    own = Assignment.objects.filter(round=round, person=participant.member_id)
    done = own.filter(current_answer__isnull=False).count()
    if participant.quota is not None:
        return {"done": done, "total": min(participant.quota, round.units_count), "is_upper_bound": False}
    if round.has_known_share:
        return {"done": done, "total": done + own.counted().unanswered().count(), "is_upper_bound": False}
    total = round.units_count + returning.own_items(round, participant.member_id)
    shared = round.participants.filter(left_at=None).count() > round.overlap
    return {"done": done, "total": total, "is_upper_bound": shared}
