"""When something above a unit changes: what was said of it before becomes stale, and is redone or confirmed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from audit.log import record

from ..kinds import all_kinds
from ..models import Answer, Assignment, Change, Decision, Member, Round, Unit
from . import queue


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
    """Make stale what hangs on these units because of a change above them (``what``: "tuple", "text").

    Counts their revisions up and remembers the change for each kind that they had been asked (of ``kinds``, where
    given), but for the kind that made the change: a corrected tuple does not make itself stale. In the caller's
    transaction, or one of its own.
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
    """``new`` takes the place of ``old``, whose text was wrong, or whatever else it is judged by (``what``: the kind
    that decides that): what was said of the old one is to be said anew.

    Answers and decisions of the old unit stay as they are. In open rounds its slots are retired, answered ones too,
    and the new unit is asked in their place: of the same people where the round was dealt.

    Nothing is decided of what hangs on the old unit from here to the end of the transaction: what follows from
    decisions about that, and is to come over to the new text, is read after this.
    """
    with transaction.atomic():
        _hold_hung_on(old)
        Unit.objects.filter(pk=old.pk).update(superseded_by=new)
        old.superseded_by = new
        _ask_anew(old, new)
        hanging = _kinds_of([old])
        rows = _insert({new.pk: hanging[old.pk]}, [new], what=what, reason=reason, by=by,
                       before=before, after=after)  # fmt: skip
        rows += _hung_on([old], what=what, reason=reason, by=by, before=before, after=after)
        record(
            actor=by.user, verb="supersede", obj=old, project_id=old.project_id, reason=reason,
            before={"unit": old.pk, "text": before}, after={"unit": new.pk, "text": after},
        )  # fmt: skip
    return rows


def _hold_hung_on(unit: Unit) -> None:
    """Wait for whoever decides of units that kinds made of this one, in the order in which curators hold them."""
    hung = {one.pk for kind in all_kinds() for one in kind.hanging_on([unit])}
    if hung:
        list(Unit.objects.select_for_update(no_key=True).filter(pk__in=hung).order_by("pk").values_list("pk"))


def _hung_on(units: Sequence[Unit], **change: Any) -> list[Change]:
    """The same for the units of their own that kinds made of these: what was said of those is stale too."""
    made: list[Change] = []
    for kind in all_kinds():
        if hung := list(kind.hanging_on(units)):
            made += changed(units=hung, kinds=[kind.key], **change)
    return made


def stale_units(units: Iterable[int], *, kind: str | None = None) -> set[tuple[int, str]]:
    """(unit id, kind) of those whose decisions wait to be redone or confirmed. One query."""
    found = Change.objects.unsettled().filter(unit__in=units)
    return set((found.filter(kind=kind) if kind else found).values_list("unit", "kind"))


def revisions_shown(units: Iterable[int], kind: str) -> dict[int, int]:
    """By unit id the revision from which on answers of the kind are not stale; units that never changed are absent."""
    rows = Change.objects.filter(unit__in=units, kind=kind).values_list("unit").annotate(newest=Max("revision"))
    return dict(rows.order_by())


def _kinds_of(units: Sequence[Unit]) -> dict[int, set[str]]:
    """The kinds in which each unit has been answered or decided."""
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
            unit=unit, kind=kind, revision=unit.revision, decisions_up_to=newest, changed_by=by.user, changed_at=now,
            **what,
        )
        for unit in units
        for kind in sorted(hanging.get(unit.pk, ()))
    )  # fmt: skip


def _ask_anew(old: Unit, new: Unit) -> None:
    """Put the new unit in the old one's place in every open round: what was answered of the old one is surplus. Rounds
    that are being prepared do so when they open (`ask_anew_in`): they open after this, or have by now."""
    for round in Round.objects.filter(status=Round.Status.PREPARING, project=old.project_id).order_by("pk"):
        Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING).update(status=Round.Status.PREPARING)
    asked = Round.objects.filter(status=Round.Status.OPEN, assignments__unit=old).order_by("pk").distinct()
    for round in asked:
        # It stays open until this is done: what has counted in a closed round stays as it was.
        if not Round.objects.filter(pk=round.pk, status=Round.Status.OPEN).update(status=Round.Status.OPEN):
            continue
        _replace(round, old, new)


def ask_anew_in(round: Round) -> None:
    """In the transaction in which a round opens: texts that were corrected since its units were chosen."""
    for old in Unit.objects.filter(
        superseded_by__isnull=False, project=round.project_id, assignments__round=round
    ).distinct():
        new = old
        while new.superseded_by:
            new = new.superseded_by
        # What was taken out gave way to what it was a part of, which is asked something else.
        if new.type == old.type:
            _replace(round, old, new)


def _replace(round: Round, old: Unit, new: Unit) -> None:
    now = timezone.now()
    # Again, until there is none: one that changes hands meanwhile leaves another in its place.
    while slots := list(Assignment.objects.counted().filter(unit=old, round=round).order_by("number", "repeat")):
        for slot in slots:
            same = Assignment.objects.filter(pk=slot.pk, number=slot.number)
            # A text of which nothing is settled yet cannot be practised with.
            if same.update(number=-slot.pk) and not round.meaning.gives_feedback:
                person = slot.person_id if round.has_known_share else None
                # In a pool people may have walked past the place: a lapsed slot is what they look for first.
                queue.replacement(slot, person_id=person, leased_until=None if person else now, unit=new)
