"""The tuple that cards, search and releases read, kept the same as the one that was decided."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from accounts.models import User
from projects.actions import staleness
from projects.actions.decisions import insert_decisions
from projects.kinds import Value
from projects.models import Decision, Member, Origin, Unit
from projects.values.in_force import taken_back, values_in_force

from ...corpus import pico
from ...corpus.searchable import refresh_search
from ...models import (
    Cluster,
    PicoForm,
    PicoFragment,
    PicoSlot,
    PicoTuple,
    Proposition,
    Slot,
    TupleFragment,
    TupleSlot,
)

KIND = "tuple"
SLOTS = tuple(Slot.values)


def store_slots(said: Sequence[tuple[PicoTuple, Value]]) -> None:
    """The typed rows of tuples that were just inserted."""
    given = [(row, slot, value[slot]) for row, value in said for slot in SLOTS]
    rows = TupleSlot.objects.bulk_create(
        TupleSlot(pico_tuple=row, slot=slot, text=one["text"], stands_for=one.get("stands_for", ""))
        for row, slot, one in given
    )
    TupleFragment.objects.bulk_create(
        TupleFragment(slot=row, position=n, start=f["start"], end=f["end"], quote=f["quote"])
        for row, (_, _, one) in zip(rows, given, strict=True)
        for n, f in enumerate(one["fragments"])
    )


def keep_imported(units: Sequence[Unit]) -> None:
    """Before the first decision on an imported tuple: what the file said, as a value and decisions of its own.

    An import writes the slots only; until somebody decides otherwise they say it all.
    """
    undecided = (
        Cluster.objects.filter(unit__in=units, imported__isnull=False)
        .exclude(unit__pico_tuples__imported__isnull=False)
        .select_related("imported")
        .defer("imported__report")
        .prefetch_related("pico")
    )
    found = list(undecided)
    tuples = PicoTuple.objects.bulk_create(PicoTuple(unit_id=c.unit_id, imported_id=c.imported_id) for c in found)
    store_slots(list(zip(tuples, map(_standing, found), strict=True)))
    insert_decisions(
        Decision(
            unit_id=cluster.unit_id, kind=KIND, field=slot, origin=Origin.IMPORTED, imported_id=cluster.imported_id,
            decided_at=cluster.imported.created_at,
        )
        for cluster in found
        for slot in SLOTS
        if cluster.imported
    )  # fmt: skip


def _blank(slot: str) -> dict[str, Any]:
    return {"text": "", "fragments": []} | ({"stands_for": ""} if slot == Slot.C else {})


def _as_value(slot: PicoSlot) -> dict[str, Any]:
    return _blank(slot.slot) | {"text": slot.text} | ({"stands_for": slot.stands_for} if slot.slot == Slot.C else {})


def rewrite(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Write the slots of these units' clusters from the tuple in force. Where a tuple changed that labels or the
    relation were judged by, those become stale; a tuple that is decided for the first time changes nothing."""
    found = list(Cluster.objects.filter(unit__in=units).select_related("unit").prefetch_related("pico"))
    decided = values_in_force([c.unit for c in found], KIND)
    gone: dict[int, Value] = defaultdict(dict)
    for unit, slot in taken_back([c.unit_id for c in found], KIND):
        gone[unit][slot] = _blank(slot)
    found = [c for c in found if decided[c.unit_id] or c.unit_id in gone]
    # A slot that was left to adjudication stays as it is; one whose value was taken back is blank again.
    values = {c.pk: _standing(c) | gone[c.unit_id] | decided[c.unit_id] for c in found}
    targets = dict(Proposition.objects.current().filter(cluster__in=found, position=0).values_list("cluster", "text"))
    before = {c.pk: _in_words(_standing(c)) for c in found}
    _replace_slots([(c, values[c.pk], targets.get(c.pk, "")) for c in found])
    for cluster in found:
        if before[cluster.pk] != (after := _in_words(values[cluster.pk])):
            refresh_search(cluster)
            if before[cluster.pk] != NOTHING:
                _make_stale(cluster, by, reason, before[cluster.pk], after)


def _make_stale(cluster: Cluster, by: User | None, reason: str, before: str, after: str) -> None:
    """Labels and the relation were judged by the tuple: whoever decided it anew is who changed it."""
    member = Member.objects.filter(project=cluster.project_id, user=by).first() if by else None
    if member:
        claims = Proposition.objects.current().filter(cluster=cluster).select_related("unit")
        staleness.changed(
            units=[*(c.unit for c in claims), cluster.unit], what=KIND, reason=reason or "The tuple was changed.",
            by=member, before=before, after=after,
        )  # fmt: skip


def _standing(cluster: Cluster) -> Value:
    return {slot: _blank(slot) for slot in SLOTS} | {s.slot: _as_value(s) for s in cluster.pico.all()}


def _in_words(value: Value) -> str:
    return "; ".join(
        f"{slot.upper()}: {value[slot]['text'] or value[slot].get('stands_for') or 'blank'}" for slot in SLOTS
    )


#: A tuple that nobody has given yet.
NOTHING = _in_words({slot: _blank(slot) for slot in SLOTS})


def _replace_slots(found: Iterable[tuple[Cluster, Value, str]]) -> None:
    found = list(found)
    PicoSlot.objects.filter(cluster__in=[cluster for cluster, _, _ in found]).delete()
    rows: list[PicoSlot] = []
    places: list[Sequence[tuple[int, int]]] = []
    for cluster, value, target in found:
        for slot in SLOTS:
            one = value[slot]
            form, ranges = pico.form_of(one["text"], target)
            if marked := [(f["start"], f["end"]) for f in one["fragments"]]:
                form, ranges = PicoForm.EXPLICIT, tuple(marked)
            rows.append(
                PicoSlot(cluster=cluster, slot=slot, form=form, text=one["text"], stands_for=one.get("stands_for", ""))
            )
            places.append(ranges)
    PicoFragment.objects.bulk_create(
        PicoFragment(slot=row, position=n, start=start, end=end)
        for row, ranges in zip(PicoSlot.objects.bulk_create(rows), places, strict=True)
        for n, (start, end) in enumerate(ranges)
    )
