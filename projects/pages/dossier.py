"""One unit as a curator has it before them: the answers side by side, what is in force, what was ever decided."""

from typing import Any

from .. import kinds
from ..adjudication.nearness import nearness
from ..adjudication.said import answers_to, decisions_of
from ..models import Answer, Assignment, Member, Round, Unit
from ..permissions import Names
from ..rounds import cards
from ..rounds.raised import open_flags
from ..values.in_force import contested_fields, newest_decisions, of_kind, sentences
from . import inbox

Json = dict[str, Any]


def dossier(round: Round, unit: Unit, *, asking: Member, names: bool) -> Json:
    """Everything on the page of one unit. Who gave an answer is said where it is asked for. A fixed number of queries,
    whatever the number of answers and decisions."""
    kind = kinds.get(round.kind)
    fields = kind.fields_of(round)
    answers = answers_to(round, unit)
    shown = cards.cards(round, [*(_slot(a, round) for a in answers), _own(round, unit, asking)])
    values = [card["value"] for card in shown[:-1]]
    near = nearness(kind, fields, values)
    history = decisions_of(unit, kind.key)
    contested = contested_fields([unit], kind.key)
    remarks = inbox.remarks_on(answers)
    flagged = set(open_flags(round, unit).values_list("pk", flat=True))
    in_words = sentences(history)
    in_force = of_kind(newest_decisions([unit.pk], kind.key), kind.key)
    called = Names(asking)
    return {
        "unit": unit.pk, "key": unit.key, "kind": kind.key, "text": kind.texts([unit.pk]).get(unit.pk, ""),
        "fields": list(fields), "contested": [f for f in fields if (unit.pk, f) in contested],
        "flagged": bool(flagged), "seen": max((d.pk for d in history), default=0), "own": shown[-1],
        "agreement": near.agreement,
        "nearest": answers[near.nearest[0]].pk if len(near.nearest) == 1 else None,
        "answers": [
            {
                "answer": a.pk, "card": card, "flagged": a.pk in flagged, "comment": a.comment,
                "said": [
                    {"field": f, "value": words, "differs": f in near.differing}
                    for f, words in kind.in_words(card["value"]).items()
                    # What the round did not ask of the unit is not compared.
                    if f in fields or f not in kind.fields
                ],
                "adopted": [f for f in fields if (d := in_force.get((unit.pk, f))) and d.answer_id == a.pk],
                "remarks": [r | {"author": ""} for r in remarks[a.pk]],
                "name": called.of(a.author.user) if names else None,
                "pseudonym": a.author.pseudonym if names else None,
            }
            for a, card in zip(answers, shown[:-1], strict=True)
        ],
        "in_force": [
            {"field": f, "value": in_words.get(d.pk, ""), "origin": d.origin}
            for f in fields
            if (d := in_force.get((unit.pk, f)))
        ],
        "history": [
            {
                "id": d.pk, "field": d.field, "origin": d.origin, "value": in_words.get(d.pk), "reason": d.reason,
                "by": called.of(d.decided_by), "at": d.decided_at,
            }
            for d in history
        ],
    }  # fmt: skip


def _slot(answer: Answer, round: Round) -> Assignment:
    """The answer's own place: what was shown may differ by it."""
    slot = answer.assignment
    slot.round, slot.current_answer = round, answer
    return slot


def _own(round: Round, unit: Unit, asking: Member) -> Assignment:
    """The curator's place, for an answer that nobody gave."""
    slot = kinds.place(unit, round.kind, asking)
    slot.pk, slot.round, slot.position = 0, round, 0
    return slot
