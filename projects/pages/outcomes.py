"""What was decided of a person's own answers, for that person: once the round is closed, where the project says so."""

from collections.abc import Sequence
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from .. import kinds
from ..models import Answer, Decision, Member, Origin, Round
from ..rounds.counted import opinions
from ..values.in_force import decisions_in_force, sentences

Json = dict[str, Any]


def are_shown(round: Round) -> bool:
    """Whether the people of a round see what was decided of their answers: never before it is closed."""
    return round.has_queue and round.project.show_adjudication


def answers(round: Round, member: Member) -> QuerySet[Answer]:
    """The member's answers to units of which a curator decided something as of this round, in the order of the walk."""
    if not are_shown(round):
        return Answer.objects.none()
    # Each is looked up by itself, by unit, kind and field (docs/decisions/0027-in-force.md).
    of_unit = Decision.objects.filter(unit=OuterRef("assignment__unit"), kind=round.kind)
    decided = of_unit.filter(round=round, origin=Origin.CURATED).in_force()
    found = opinions(round).filter(author=member).alias(decided=Subquery(decided.values("pk")[:1]))
    return found.filter(decided__isnull=False).select_related("assignment__unit")


def rows(round: Round, answers: Sequence[Answer]) -> list[Json]:
    """Own value and decided value, field by field, with the reason. Nobody's name and nobody else's answer. A fixed
    number of queries."""
    kind = kinds.get(round.kind)
    units = [a.assignment.unit for a in answers]
    texts, values = kind.texts([u.pk for u in units]), kind.values(a.pk for a in answers)
    decisions = decisions_in_force([u.pk for u in units], kind.key)
    curated = {at: d for at, d in decisions.items() if d.origin == Origin.CURATED and d.round_id == round.pk}
    by_id = {u.pk: u for u in units}
    for decision in curated.values():
        decision.unit = by_id[decision.unit_id]
    said = sentences(list(curated.values()))
    words = {a.pk: kind.in_words(values[a.pk]) for a in answers}
    decided_answers = kind.values(d.answer_id for d in curated.values() if d.answer_id)
    out = []
    for a in answers:
        mine = [(name, d) for name in kind.fields_of(round) if (d := curated.get((a.assignment.unit_id, name)))]
        out.append(
            {
                "answer": a.pk, "key": a.assignment.unit.key, "text": texts.get(a.assignment.unit_id, ""),
                "reason": next((d.reason for _, d in mine), ""),
                "fields": [
                    {
                        "field": name, "yours": words[a.pk].get(name, ""), "decided": said.get(d.pk, ""),
                        "same": kind.apart(name, values[a.pk], decided_answers[d.answer_id]) == 0,
                    }
                    for name, d in mine
                ],
            }
        )  # fmt: skip
    return out
