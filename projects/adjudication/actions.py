"""Adjudicate units of a closed round: one at a time or in bulk, with undo and reopen."""

import uuid as uuids
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db import transaction
from django.utils import timezone

from api.problems import Conflict, NotFound, Refused, StaleRevision
from audit.log import record, record_all

from .. import kinds
from ..answers.queries import opinions
from ..curation.actions import Correction, correct_all
from ..gold.actions import insert_decisions, lock_units
from ..gold.queries import SETTLED, contested_fields, current_decisions, current_values
from ..inbox.actions import remark
from ..inbox.queries import open_flags
from ..models import WAITING, Act, Answer, Decision, Member, Origin, Remark, Round, Unit
from ..notifications.actions import What, notify
from . import queries as adjudication_queries
from .queries import TOLERANCE, NameFormatter, answers_to, compute_nearness, decisions_of, summarise_decisions

Json = dict[str, Any]
DECIDE, UNDO, REOPEN = "adjudicate", "undo adjudication", "reopen decision"


def adjudicate(
    *,
    round: Round,
    unit: Unit,
    seen: int,
    reason: str,
    by: Member,
    called: NameFormatter,
    answer: uuids.UUID | None = None,
    value: kinds.Value | None = None,
    batch: uuids.UUID | None = None,
) -> Json:
    """Adjudicate one unit: make an existing answer or a new value its current value.

    Settle the unit's open flags in the round. ``seen`` is the newest decision that the curator was shown, 0 for none.
    Raise `StaleRevision` if there is a newer decision; ``called`` formats the name of its author.

    Decide only fields that are contested or whose value changes. If no field qualifies and the kind has no fixed
    fields, decide the fields that no curator or import has decided. Return the data that `undo` needs.
    """
    require_closed(round)
    reason = require_reason(reason)
    if (answer is None) == (value is None):
        raise Refused.field("answer", "Choose one of the answers or enter a value, not both.")
    if unit.superseded_by_id:
        raise Refused.field("unit", "The text of this unit was corrected. Decide the corrected text.")
    with transaction.atomic():
        lock_units([unit])
        _refuse_stale(round, unit, seen, called)
        flagged = list(open_flags(round, unit).select_related("assignment"))
        if value is not None:
            written = Correction(unit, round.kind, value)
            done = correct_all([written], project=round.project, reason=reason, by=by, batch=batch, adjudicated=round)
            decisions = done[0].decisions
        else:
            decisions = apply_answers(round=round, chosen={unit: _opinion(round, unit, answer)}, reason=reason, by=by)
        for one in flagged:
            remark(answer=one, act=Remark.Act.SETTLED, text=reason, by=by)
        notify_authors(round, decisions, by=by)
    return act_result(round, decisions, flagged) | {"unit": unit.pk, "fields": [d.field for d in decisions]}


def apply_answers(*, round: Round, chosen: Mapping[Unit, Answer], reason: str, by: Member) -> list[Decision]:
    """Make each chosen answer the current value of its unit and return the new decisions.

    Run in the caller's transaction, which must hold the units. Use a fixed number of queries.
    """
    kind, units = kinds.get(round.kind), list(chosen)
    kind.pre_decide(units)
    before = current_values(units, kind.key)
    contested = contested_fields(units, kind.key)
    values = kind.values(a.pk for a in chosen.values())
    now = timezone.now()
    fields: dict[int, list[str]] = {
        unit.pk: [
            name
            for name in kind.fields_of(round)
            if (unit.pk, name) in contested
            or name not in before[unit.pk]
            or not kind.is_equal(name, before[unit.pk], values[answer.pk])
        ]
        for unit, answer in chosen.items()
    }
    if not kind.fields and (unchanged := [unit for unit in units if not fields[unit.pk]]):
        # No field changes, and this kind has no correction page. The decision confirms values that no curator or import
        # has decided.
        for (pk, name), decision in current_decisions([unit.pk for unit in unchanged], kind.key).items():
            if decision.origin not in SETTLED:
                fields[pk].append(name)
    decisions = [
        Decision(
            unit=unit,
            kind=kind.key,
            field=name,
            origin=Origin.CURATED,
            answer=answer,
            round=round,
            decided_by=by.user,
            reason=reason,
            decided_at=now,
        )
        for unit, answer in chosen.items()
        for name in fields[unit.pk]
    ]
    insert_decisions(decisions)
    kind.post_decide(units, by=by.user, reason=reason)
    record_all(
        {
            "actor": by.user,
            "verb": DECIDE,
            "obj": unit,
            "project_id": round.project_id,
            "reason": reason,
            "before": {name: before[unit.pk].get(name) for name in fields[unit.pk]},
            "after": {name: values[answer.pk].get(name) for name in fields[unit.pk]} | {"answer": str(answer.pk)},
        }
        for unit, answer in chosen.items()
    )
    return decisions


def undo(*, round: Round, act: uuids.UUID, by: Member) -> Json:
    """Undo one adjudication act, single or bulk, by new decisions that restore the earlier values.

    Units that were decided again since then stay unchanged. Raise `NotFound` if the act is not in this round, and
    `Conflict` if nothing is left to undo.
    """
    require_closed(round)
    stored = Act.objects.filter(pk=act, project=round.project_id, verb=DECIDE).first()
    if stored is None or stored.result.get("round") != round.pk:
        raise NotFound("This round has no adjudication with this id.")
    with transaction.atomic():
        decisions = Decision.objects.filter(pk__in=stored.result["decisions"]).select_related("unit").order_by("pk")
        restored = _restore_earlier(
            round, list(decisions), f"Undone: {_first_reason(decisions)}", by, contest_again=False
        )
        settled = Answer.objects.filter(pk__in=stored.result["settled"]).select_related("assignment")
        raised = [answer for answer in settled if _is_settled(answer)]
        for answer in raised:
            remark(answer=answer, act=Remark.Act.REOPENED, text="", by=by)
        if not restored and not raised:
            raise Conflict("Nothing to undo: the decisions were already undone or replaced by newer ones.")
    return {"round": round.pk, "units": len(restored), "kept": _units_of(decisions) - len(restored)}


def reopen(*, round: Round, unit: Unit, seen: int, reason: str, by: Member, called: NameFormatter) -> Json:
    """Undo the newest curator decision of a unit and return the unit to the queue with its earlier value.

    Raise `StaleRevision` if there is a decision newer than ``seen``. Raise `Conflict` if no curator decision is
    current.
    """
    require_closed(round)
    reason = require_reason(reason)
    with transaction.atomic():
        lock_units([unit])
        _refuse_stale(round, unit, seen, called)
        history = decisions_of(unit, round.kind)
        last = next((d for d in history if d.origin == Origin.CURATED), None)
        # All fields of one act have the same timestamp.
        decisions = [d for d in history if last and d.origin == last.origin and d.decided_at == last.decided_at]
        if not _restore_earlier(round, decisions, reason, by, contest_again=True):
            raise Conflict("This unit has no current decision of a curator, so it cannot be reopened.")
        record(
            actor=by.user,
            verb=REOPEN,
            obj=unit,
            project_id=round.project_id,
            reason=reason,
            after=current_values([unit], round.kind)[unit.pk],
        )
    return {"round": round.pk, "unit": unit.pk}


def _restore_earlier(
    round: Round, decisions: Sequence[Decision], reason: str, by: Member, *, contest_again: bool
) -> set[int]:
    """Write decisions that restore the values before ``decisions`` and return the ids of the restored units.

    Skip units that were decided again or whose text was corrected. With ``contest_again``, return every field to the
    queue, even one that was not contested before.
    """
    units = list({d.unit_id: d.unit for d in decisions}.values())
    lock_units(units)
    kind = kinds.get(round.kind)
    kind.pre_decide(units)
    histories: dict[tuple[int, str], list[Decision]] = defaultdict(list)
    for d in sorted(
        Decision.objects.filter(unit__in=units, kind=kind.key)
        .order_by()
        .select_related("imported")
        .defer("imported__report"),
        key=lambda d: d.pk,
    ):
        histories[d.unit_id, d.field].append(d)
    # Fields of one unit are restored together: if one was decided again, the others keep their decisions as well. A
    # superseded text is no longer shown, so it gets no new decisions.
    skipped = {d.unit_id for d in decisions if d.unit.superseded_by_id or histories[d.unit_id, d.field][-1].pk != d.pk}
    restorable = sorted((d for d in decisions if d.unit_id not in skipped), key=lambda d: d.pk)
    now = timezone.now()
    rows: list[Decision] = []
    for d in restorable:
        earlier = [w for w in histories[d.unit_id, d.field] if w.pk < d.pk]
        earlier_value = next((w for w in reversed(earlier) if w.origin != Origin.CONTESTED), None)
        was_contested = bool(earlier) and earlier[-1].origin in WAITING
        common: Json = {
            "unit_id": d.unit_id,
            "kind": d.kind,
            "field": d.field,
            "decided_by": by.user,
            "reason": reason,
            "decided_at": now,
        }
        if earlier_value is not None and earlier_value.has_value:
            source = {
                "answer_id": earlier_value.answer_id,
                "imported_id": earlier_value.imported_id,
                "round_id": earlier_value.round_id,
            }
            rows.append(Decision(origin=earlier_value.origin, **source, **common))
            if contest_again or was_contested:
                rows.append(Decision(origin=Origin.CONTESTED, round=round, **common))
        else:
            rows.append(Decision(origin=Origin.REOPENED, round=round, **common))
    insert_decisions(rows)
    kind.post_decide([u for u in units if u.pk not in skipped], by=by.user, reason=reason)
    return {d.unit_id for d in restorable}


def notify_authors(round: Round, decisions: Iterable[Decision], *, by: Member) -> None:
    """Notify the other authors of answers to the decided units, if the project shows adjudication."""
    units = {d.unit_id for d in decisions}
    if units and round.project.show_adjudication:
        answers = opinions(round).filter(assignment__unit__in=units, author__user__isnull=False)
        answers = answers.exclude(author__user=by.user_id)
        notify(answers.order_by().values_list("author__user", flat=True).distinct(), What.DECISION, round=round)


def act_result(round: Round, decisions: Iterable[Decision], settled: Iterable[Answer]) -> Json:
    """Return the result of an act in the form that `undo` reads."""
    return {"round": round.pk, "decisions": [d.pk for d in decisions], "settled": [str(a.pk) for a in settled]}


def _opinion(round: Round, unit: Unit, answer: uuids.UUID | None) -> Answer:
    opinion = next((a for a in answers_to(round, unit) if a.pk == answer), None)
    if opinion is None:
        raise Refused.field(
            "answer", "This answer does not count for this unit. Reload the page and choose one of its answers."
        )
    return opinion


def require_closed(round: Round) -> None:
    if not round.meaning.makes_gold:
        raise Refused(
            f"Rounds with the purpose {round.get_purpose_display()!r} make no gold, so there is nothing to adjudicate."
        )
    if round.status != Round.Status.CLOSED:
        raise Conflict("The round is still open. Close it before you adjudicate.")


def require_reason(reason: str) -> str:
    if not reason.strip():
        raise Refused.field("reason", "Give a reason.")
    return reason.strip()


def _refuse_stale(round: Round, unit: Unit, seen: int, called: NameFormatter) -> None:
    since = [d for d in decisions_of(unit, round.kind) if d.pk > seen]
    if since:
        raise StaleRevision(
            "Another curator has decided this unit in the meantime. Your decision was not stored.",
            current=summarise_decisions(since, called) | {"unit": unit.pk},
        )


def _is_settled(answer: Answer) -> bool:
    last = Remark.objects.filter(answer=answer).exclude(act=Remark.Act.REPLY).order_by("-pk").first()
    return last is not None and last.act == Remark.Act.SETTLED


def _first_reason(decisions: Iterable[Decision]) -> str:
    return next((d.reason for d in decisions), "")


def _units_of(decisions: Iterable[Decision]) -> int:
    return len({d.unit_id for d in decisions})


#: Maximum number of units in one bulk act. The act is one transaction, which blocks all other writers on SQLite.
MAX_BULK_UNITS = 500
#: Number of units whose answers are loaded at once.
PART = 500
#: Agreement thresholds that the page offers.
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass
class Candidates:
    """Contested units of a round that can be adjudicated in bulk, without individual review."""

    #: (agreement, unit id, answers nearest to the others), in queue order.
    found: list[tuple[float, int, list[Answer]]] = field(default_factory=list)
    contested: int = 0
    #: Contested units that are left out because of an open flag.
    flagged: int = 0

    def above(self, agreement: float, *, tied: bool) -> list[tuple[int, Answer]]:
        """Return (unit id, answer) of each unit with at least this agreement.

        With ``tied``, include units in which several different answers are equally near, and take the first one.
        Answers are sorted by client-generated UUID, so the choice does not depend on their authors.
        """
        return [
            (unit, nearest[0])
            for share, unit, nearest in self.found
            if share >= agreement - TOLERANCE and (tied or len(nearest) == 1)
        ]


def candidates(round: Round) -> Candidates:
    """Return the candidates of a round. Run a few queries per `PART` units."""
    kind, out = kinds.get(round.kind), Candidates()
    fields = kind.fields_of(round)
    waiting = [w for w in adjudication_queries.queued_units(round) if w.contested]
    out.contested, out.flagged = len(waiting), sum(w.flagged for w in waiting)
    units = [w.unit for w in waiting if not w.flagged]
    for first in range(0, len(units), PART):
        part = units[first : first + PART]
        answers = dict(_by_unit(round, part))
        values = kind.values(a.pk for unit_answers in answers.values() for a in unit_answers)
        for unit in part:
            unit_answers = answers.get(unit, [])
            unit_values = [values[a.pk] for a in unit_answers]
            near = compute_nearness(kind, fields, unit_values)
            if near.agreement is not None:
                out.found.append((near.agreement, unit, [unit_answers[i] for i in near.nearest]))
    return out


def preview(round: Round) -> Json:
    """Count the units that each agreement threshold would decide."""
    eligible = candidates(round)
    counts = [
        (step, len(eligible.above(step, tied=False)), len(eligible.above(step, tied=True))) for step in THRESHOLDS
    ]
    return {
        "contested": eligible.contested,
        "flagged": eligible.flagged,
        "at_once": MAX_BULK_UNITS,
        "steps": [{"agreement": step, "units": clear, "tied": every - clear} for step, clear, every in counts],
    }


def adjudicate_bulk(
    *, round: Round, eligible: Candidates, agreement: float, tied: bool, expected: int, reason: str, by: Member
) -> Json:
    """Take the nearest answer of up to `MAX_BULK_UNITS` units with at least this agreement.

    ``expected`` is the number of units that the curator was shown. Raise `Conflict` if the number has changed. The call
    is one act, which one `undo` reverts.
    """
    require_closed(round)
    reason = require_reason(reason)
    with transaction.atomic():
        chosen = eligible.above(agreement, tied=tied)
        if len(chosen) != expected:
            raise Conflict(
                f"{len(chosen)} units match now instead of {expected}. Nothing was decided. Reload the page."
            )
        ids = [unit for unit, _ in chosen[:MAX_BULK_UNITS]]
        units = {u.pk: u for u in Unit.objects.filter(pk__in=ids)}
        lock_units(list(units.values()))
        # The units are locked now. Skip those that another curator has decided in the meantime.
        still = {w.unit for w in adjudication_queries.queued_units(round) if w.contested}
        adopted = {units[unit]: answer for unit, answer in chosen[:MAX_BULK_UNITS] if unit in still}
        decisions = apply_answers(round=round, chosen=adopted, reason=reason, by=by) if adopted else []
        notify_authors(round, decisions, by=by)
    return act_result(round, decisions, []) | {"units": len(adopted)}


def _by_unit(round: Round, units: Sequence[int]) -> Iterator[tuple[int, list[Answer]]]:
    answers_of_round = opinions(round).filter(assignment__unit__in=units).select_related("assignment")
    ordered = sorted(answers_of_round, key=lambda a: (a.assignment.unit_id, a.pk))
    for unit, answers in groupby(ordered, key=lambda a: a.assignment.unit_id):
        yield unit, list(answers)
