"""Mark answers and decisions as stale after a change to their unit, and confirm answers under a new guideline."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from api.problems import Conflict
from audit.log import record

from ..gold.actions import insert_decisions, lock_units
from ..gold.queries import contested_fields, current_decisions
from ..kinds import all_kinds
from ..models import Answer, Assignment, Change, Decision, Guideline, Member, Origin, Round, Unit
from ..models.round import RETURNED
from ..queue import assignments
from ..stored_figures.actions import enqueue_figures
from .queries import UPHOLD, outdated


def changed(
    *,
    units: Sequence[Unit],
    what: str,
    reason: str,
    by: Member,
    kinds: Collection[str] | None = None,
    before: str = "",
    after: str = "",
) -> list[Change]:
    """Mark answers and decisions of these units as stale. ``what`` is the type of change, such as "tuple" or "text".

    Increments the revisions of the units, and stores a change for each kind that was answered or decided (only
    ``kinds``, if given). The kind that made the change is excluded: a corrected tuple does not become stale itself.
    Uses the caller's transaction, if there is one.
    """
    with transaction.atomic():
        Unit.objects.filter(pk__in=[u.pk for u in units]).update(revision=F("revision") + 1)
        revisions = dict(Unit.objects.filter(pk__in=[u.pk for u in units]).values_list("pk", "revision"))
        for unit in units:
            unit.revision = revisions[unit.pk]
        hanging = {
            unit: {kind for kind in found if kind != what and (kinds is None or kind in kinds)}
            for unit, found in _kinds_of(units).items()
        }
        made = _insert(hanging, units, what=what, reason=reason, by=by, before=before, after=after)
        return made + _hung_on(units, what=what, reason=reason, by=by, before=before, after=after)


def superseded(
    *, old: Unit, new: Unit, reason: str, by: Member, before: str, after: str, what: str = Change.TEXT
) -> list[Change]:
    """Replace the unit ``old`` by ``new`` after a correction of its text, or of another value that it depends on.

    ``what`` is the kind that decides that value. Answers and decisions of the old unit are kept, and become stale for
    the new one. In open rounds the assignments of the old unit are retired, including answered ones, and the new unit
    is assigned instead. With fixed allocation the same people receive it.

    Dependents of the old unit are locked until the end of the transaction, so that nobody decides about them. Decisions
    that the caller wants to migrate to the new text must be read after this call.
    """
    with transaction.atomic():
        _hold_hung_on(old)
        Unit.objects.filter(pk=old.pk).update(superseded_by=new)
        old.superseded_by = new
        _reassign_units(old, new)
        hanging = _kinds_of([old])
        rows = _insert({new.pk: hanging[old.pk]}, [new], what=what, reason=reason, by=by, before=before, after=after)
        rows += _hung_on([old], what=what, reason=reason, by=by, before=before, after=after)
        record(
            actor=by.user,
            verb="supersede",
            obj=old,
            project_id=old.project_id,
            reason=reason,
            before={"unit": old.pk, "text": before},
            after={"unit": new.pk, "text": after},
        )
        enqueue_figures(Q(pk=old.project_id))
    return rows


def _hold_hung_on(unit: Unit) -> None:
    """Lock the dependents of a unit in the order in which curators lock them."""
    hung = {one.pk for kind in all_kinds() for one in kind.dependents_of([unit])}
    if hung:
        list(Unit.objects.select_for_update(no_key=True).filter(pk__in=hung).order_by("pk").values_list("pk"))


def _hung_on(units: Sequence[Unit], **change: Any) -> list[Change]:
    """Mark the dependents of these units as stale too."""
    made: list[Change] = []
    for kind in all_kinds():
        if hung := list(kind.dependents_of(units)):
            made += changed(units=hung, kinds=[kind.key], **change)
    return made


def stale_units(units: Iterable[int], *, kind: str | None = None) -> set[tuple[int, str]]:
    """Return (unit id, kind) of units with stale decisions. One query."""
    found = Change.objects.unsettled().filter(unit__in=units)
    return set((found.filter(kind=kind) if kind else found).values_list("unit", "kind"))


def revisions_shown(units: Iterable[int], kind: str) -> dict[int, int]:
    """Return, by unit id, the first revision whose answers are not stale. Unchanged units are missing."""
    rows = Change.objects.filter(unit__in=units, kind=kind).values_list("unit").annotate(newest=Max("revision"))
    return dict(rows.order_by())


def _kinds_of(units: Sequence[Unit]) -> dict[int, set[str]]:
    """Return the kinds for which each unit has answers or decisions."""
    ids = [u.pk for u in units]
    found: dict[int, set[str]] = defaultdict(set)
    for unit, kind in Decision.objects.filter(unit__in=ids).order_by().values_list("unit", "kind").distinct():
        found[unit].add(kind)
    answers = Answer.objects.filter(assignment__unit__in=ids).order_by()
    for unit, kind in answers.values_list("assignment__unit", "assignment__round__kind").distinct():
        found[unit].add(kind)
    return found


def _insert(hanging: dict[int, set[str]], units: Sequence[Unit], *, by: Member, **what: Any) -> list[Change]:
    newest = Decision.objects.aggregate(newest=Max("pk"))["newest"] or 0
    now = timezone.now()
    return Change.objects.bulk_create(
        Change(
            unit=unit,
            kind=kind,
            revision=unit.revision,
            decisions_up_to=newest,
            changed_by=by.user,
            changed_at=now,
            **what,
        )
        for unit in units
        for kind in sorted(hanging.get(unit.pk, ()))
    )


def _reassign_units(old: Unit, new: Unit) -> None:
    """Replace the old unit by the new one in every open round. Answers to the old unit no longer count.

    Rounds in preparation replace it when they open (`reassign_corrected_units`). The update locks them, so that they
    open after this transaction or have opened before.
    """
    for round in Round.objects.filter(status=Round.Status.PREPARING, project=old.project_id).order_by("pk"):
        Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING).update(status=Round.Status.PREPARING)
    rounds = Round.objects.filter(status=Round.Status.OPEN, assignments__unit=old).order_by("pk").distinct()
    for round in rounds:
        # Lock the open round: answers that counted when a round closed must continue to count.
        if not Round.objects.filter(pk=round.pk, status=Round.Status.OPEN).update(status=Round.Status.OPEN):
            continue
        _replace(round, old, new)


def reassign_corrected_units(round: Round) -> None:
    """Replace units that were corrected after their selection. Call it in the transaction that opens the round."""
    for old in Unit.objects.filter(
        superseded_by__isnull=False, project=round.project_id, assignments__round=round
    ).distinct():
        new = old
        while new.superseded_by:
            new = new.superseded_by
        # A removed unit is superseded by the unit that it was part of, which has a different type.
        if new.type == old.type:
            _replace(round, old, new)


def _replace(round: Round, old: Unit, new: Unit) -> None:
    now = timezone.now()
    # Repeat until there is none: an assignment that is reassigned at the same time leaves another one.
    while old_assignments := list(
        Assignment.objects.counted().filter(unit=old, round=round).order_by("number", "repeat")
    ):
        for assignment in old_assignments:
            same = Assignment.objects.filter(pk=assignment.pk, number=assignment.number)
            # A new text has no decided values, so it cannot be used for practice or return as a gold item.
            passes_on = not round.meaning.gives_feedback and assignment.repeat != RETURNED
            if same.update(number=-assignment.pk) and passes_on:
                person = assignment.person_id if round.has_known_share else None
                # In a shared queue, people may be past this position. They look for expired leases first.
                assignments.create_replacement(
                    assignment, person_id=person, leased_until=None if person else now, unit=new
                )


def uphold(*, round: Round, guideline: int, reason: str, by: Member) -> int:
    """Confirm the answers of a round that were given under this version of the guideline, and return their number.

    The answers are not changed. They are no longer outdated until there is a newer version. Raise `Conflict` if there
    are none.
    """
    with transaction.atomic():
        waiting = outdated(round.project, kind=round.kind)
        count = waiting.filter(assignment__round=round, guideline__number=guideline).count()
        if not count:
            raise Conflict("No outdated answers of this round are left: they were already reviewed.")
        newest = Guideline.objects.filter(project=round.project_id, kind=round.kind).order_by("-number").first()
        record(
            actor=by.user,
            verb=UPHOLD,
            obj=round,
            project_id=round.project_id,
            reason=reason,
            after={"guideline": guideline, "newest": newest.number if newest else guideline, "answers": count},
        )
    return count


def doubt(*, units: Sequence[Unit], kind: str, reason: str, by: Member) -> list[Change]:
    """Mark answers and decisions of these units as stale for one kind.

    Fields that a closed round decided become contested, so that they are in its adjudication queue. Imported and
    manually edited values have no queue. Current values do not change.
    """
    with transaction.atomic():
        lock_units(units)
        made = changed(units=units, what=Change.DOUBT, reason=reason, by=by, kinds=[kind])
        waits, now = contested_fields(units, kind), timezone.now()
        decided = current_decisions([u.pk for u in units], kind)
        rounds = Round.objects.in_bulk({d.round_id for d in decided.values() if d.round_id})
        insert_decisions(
            Decision(
                unit_id=unit,
                kind=kind,
                field=field,
                origin=Origin.CONTESTED,
                round=round,
                decided_by=by.user,
                reason=reason,
                decided_at=now,
            )
            for (unit, field), d in decided.items()
            if (unit, field) not in waits and (round := rounds.get(d.round_id or 0)) and round.has_queue
        )
    return made
