"""A curator decides what people left open in a closed round: takes an answer, writes another, takes it back."""

import uuid as uuids
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from api.problems import Conflict, NotFound, Refused, StaleRevision
from audit.log import record, record_all

from .. import kinds
from ..adjudication.said import Called, answers_to, decisions_of, in_short
from ..models import WAITING, Act, Answer, Decision, Member, Origin, Remark, Round, Unit
from ..notifications.telling import What, tell
from ..rounds.counted import opinions
from ..rounds.raised import open_flags
from ..values.in_force import SETTLED, contested_fields, decisions_in_force, values_in_force
from .corrections import Correction, correct_all
from .curation import hold
from .decisions import insert_decisions
from .remarks import remark

Json = dict[str, Any]
DECIDE, UNDO, REOPEN = "adjudicate", "undo adjudication", "reopen decision"


def adjudicate(
    *,
    round: Round,
    unit: Unit,
    seen: int,
    reason: str,
    by: Member,
    called: Called,
    answer: uuids.UUID | None = None,
    value: kinds.Value | None = None,
    batch: uuids.UUID | None = None,
) -> Json:
    """Put one answer in force as it is, or a value that nobody gave; the unit's flags of the round are settled by it.

    ``seen``: the newest decision about the unit that was shown (0: none); `StaleRevision` says what somebody else has
    decided since, and who (``called``). Only fields that are contested, or were otherwise, are decided; where there is
    none, and the kind's fields are those of its rounds, what no curator has decided yet. Returns what undoing it needs.
    """
    refuse_unless_closed(round)
    reason = reason_of(reason)
    if (answer is None) == (value is None):
        raise Refused.field("answer", "Take one of the answers, or write another.")
    if unit.superseded_by_id:
        raise Refused.field("unit", "Its text was corrected: label the text in force.")
    with transaction.atomic():
        hold([unit])
        _refuse_stale(round, unit, seen, called)
        flagged = list(open_flags(round, unit).select_related("assignment"))
        if value is not None:
            written = Correction(unit, round.kind, value)
            done = correct_all([written], project=round.project, reason=reason, by=by, batch=batch, adjudicated=round)
            made = done[0].decisions
        else:
            made = adopt(round=round, chosen={unit: _opinion(round, unit, answer)}, reason=reason, by=by)
        for one in flagged:
            remark(answer=one, act=Remark.Act.SETTLED, text=reason, by=by)
        tell_authors(round, made, by=by)
    return act_of(round, made, flagged) | {"unit": unit.pk, "fields": [d.field for d in made]}


def adopt(*, round: Round, chosen: Mapping[Unit, Answer], reason: str, by: Member) -> list[Decision]:
    """Put answers in force, whole, in the caller's transaction, which holds the units. A fixed number of queries."""
    kind, units = kinds.get(round.kind), list(chosen)
    kind.before_decisions(units)
    before = values_in_force(units, kind.key)
    contested = contested_fields(units, kind.key)
    values = kind.values(a.pk for a in chosen.values())
    now = timezone.now()
    fields: dict[int, list[str]] = {
        unit.pk: [
            name
            for name in kind.fields_of(round)
            if (unit.pk, name) in contested
            or name not in before[unit.pk]
            or not kind.says_same(name, before[unit.pk], values[answer.pk])
        ]
        for unit, answer in chosen.items()
    }
    if not kind.fields and (stand := [unit for unit in units if not fields[unit.pk]]):
        # Nothing is decided otherwise, and there is no page to correct it on: the curator stands behind what people
        # said alone, from now on gold to practise with.
        for (pk, name), decision in decisions_in_force([unit.pk for unit in stand], kind.key).items():
            if decision.origin not in SETTLED:
                fields[pk].append(name)
    made = [
        Decision(
            unit=unit, kind=kind.key, field=name, origin=Origin.CURATED, answer=answer, round=round,
            decided_by=by.user, reason=reason, decided_at=now,
        )
        for unit, answer in chosen.items()
        for name in fields[unit.pk]
    ]  # fmt: skip
    insert_decisions(made)
    kind.after_decisions(units, by=by.user, reason=reason)
    record_all(
        {
            "actor": by.user, "verb": DECIDE, "obj": unit, "project_id": round.project_id, "reason": reason,
            "before": {name: before[unit.pk].get(name) for name in fields[unit.pk]},
            "after": {name: values[answer.pk].get(name) for name in fields[unit.pk]} | {"answer": str(answer.pk)},
        }
        for unit, answer in chosen.items()
    )  # fmt: skip
    return made


def undo(*, round: Round, act: uuids.UUID, by: Member) -> Json:
    """Take back what one act of `adjudicate`, or of many at once, decided: by new decisions that say what was said
    before. What somebody has decided since stays. `Conflict` where nothing of it is left to take back."""
    refuse_unless_closed(round)
    stored = Act.objects.filter(pk=act, project=round.project_id, verb=DECIDE).first()
    if stored is None or stored.result.get("round") != round.pk:
        raise NotFound("There is no such act in this round.")
    with transaction.atomic():
        made = Decision.objects.filter(pk__in=stored.result["decisions"]).select_related("unit").order_by("pk")
        taken = _take_back(round, list(made), f"Undone: {_why(made)}", by, waits=False)
        settled = Answer.objects.filter(pk__in=stored.result["settled"]).select_related("assignment")
        raised = [answer for answer in settled if _is_settled(answer)]
        for answer in raised:
            remark(answer=answer, act=Remark.Act.REOPENED, text="", by=by)
        if not taken and not raised:
            raise Conflict("Nothing of this is left to take back: it was undone or decided again already.")
    return {"round": round.pk, "units": len(taken), "kept": _units_of(made) - len(taken)}


def reopen(*, round: Round, unit: Unit, seen: int, reason: str, by: Member, called: Called) -> Json:
    """Take back what a curator decided last of one unit: it waits again, and what was in force before is so again."""
    refuse_unless_closed(round)
    reason = reason_of(reason)
    with transaction.atomic():
        hold([unit])
        _refuse_stale(round, unit, seen, called)
        history = decisions_of(unit, round.kind)
        last = next((d for d in history if d.origin == Origin.CURATED), None)
        # One act decides its fields at one moment.
        made = [d for d in history if last and d.origin == last.origin and d.decided_at == last.decided_at]
        if not _take_back(round, made, reason, by, waits=True):
            raise Conflict("Nothing that a curator decided of this is in force.")
        record(
            actor=by.user, verb=REOPEN, obj=unit, project_id=round.project_id, reason=reason,
            after=values_in_force([unit], round.kind)[unit.pk],
        )  # fmt: skip
    return {"round": round.pk, "unit": unit.pk}


def _take_back(round: Round, made: Sequence[Decision], reason: str, by: Member, *, waits: bool) -> set[int]:
    """Decide what was said before some decisions, of the units of which they are the newest word. ``waits``: and ask
    for a curator, whether or not that was so before. The ids of these units."""
    units = list({d.unit_id: d.unit for d in made}.values())
    hold(units)
    kind = kinds.get(round.kind)
    kind.before_decisions(units)
    words: dict[tuple[int, str], list[Decision]] = defaultdict(list)
    for d in sorted(
        Decision.objects.filter(unit__in=units, kind=kind.key)
        .order_by()
        .select_related("imported")
        .defer("imported__report"),
        key=lambda d: d.pk,
    ):
        words[d.unit_id, d.field].append(d)
    # Fields of one unit go together: where one was decided again, the others stay as well. Nobody shows a text that was
    # corrected since, and nothing of it is to be decided.
    gone = {d.unit_id for d in made if d.unit.superseded_by_id or words[d.unit_id, d.field][-1].pk != d.pk}
    mine = sorted((d for d in made if d.unit_id not in gone), key=lambda d: d.pk)
    now = timezone.now()
    rows: list[Decision] = []
    for d in mine:
        earlier = [w for w in words[d.unit_id, d.field] if w.pk < d.pk]
        said = next((w for w in reversed(earlier) if w.origin != Origin.CONTESTED), None)
        waited = bool(earlier) and earlier[-1].origin in WAITING
        common: Json = {
            "unit_id": d.unit_id, "kind": d.kind, "field": d.field, "decided_by": by.user, "reason": reason,
            "decided_at": now,
        }  # fmt: skip
        if said is not None and said.says_a_value:
            source = {"answer_id": said.answer_id, "imported_id": said.imported_id, "round_id": said.round_id}
            rows.append(Decision(origin=said.origin, **source, **common))
            if waits or waited:
                rows.append(Decision(origin=Origin.CONTESTED, round=round, **common))
        else:
            rows.append(Decision(origin=Origin.REOPENED, round=round, **common))
    insert_decisions(rows)
    kind.after_decisions([u for u in units if u.pk not in gone], by=by.user, reason=reason)
    return {d.unit_id for d in mine}


def tell_authors(round: Round, made: Iterable[Decision], *, by: Member) -> None:
    """Tell whoever answered these units that they were decided, where the project shows people what was."""
    units = {d.unit_id for d in made}
    if units and round.project.show_adjudication:
        asked = opinions(round).filter(assignment__unit__in=units).exclude(author__user=by.user_id)
        tell(asked.order_by().values_list("author__user", flat=True).distinct(), What.DECISION, round=round)


def act_of(round: Round, made: Iterable[Decision], settled: Iterable[Answer]) -> Json:
    """What an act made, as `undo` reads it."""
    return {"round": round.pk, "decisions": [d.pk for d in made], "settled": [str(a.pk) for a in settled]}


def _opinion(round: Round, unit: Unit, answer: uuids.UUID | None) -> Answer:
    found = next((a for a in answers_to(round, unit) if a.pk == answer), None)
    if found is None:
        raise Refused.field("answer", "This is none of the answers that count for this unit.")
    return found


def refuse_unless_closed(round: Round) -> None:
    if not round.meaning.makes_gold:
        raise Refused(f"The answers of this round make no gold: its purpose is {round.purpose!r}.")
    if round.status != Round.Status.CLOSED:
        raise Conflict("The round is not closed yet: close it first, so that nobody answers it any more.")


def reason_of(given: str) -> str:
    if not given.strip():
        raise Refused.field("reason", "Say why.")
    return given.strip()


def _refuse_stale(round: Round, unit: Unit, seen: int, called: Called) -> None:
    since = [d for d in decisions_of(unit, round.kind) if d.pk > seen]
    if since:
        raise StaleRevision(
            "Another curator has decided this meanwhile. Nothing of yours was stored.",
            current=in_short(since, called) | {"unit": unit.pk},
        )


def _is_settled(answer: Answer) -> bool:
    last = Remark.objects.filter(answer=answer).exclude(act=Remark.Act.REPLY).order_by("-pk").first()
    return last is not None and last.act == Remark.Act.SETTLED


def _why(made: Iterable[Decision]) -> str:
    return next((d.reason for d in made), "")


def _units_of(made: Iterable[Decision]) -> int:
    return len({d.unit_id for d in made})
