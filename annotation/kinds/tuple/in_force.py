"""The tuple that cards, search and releases read, kept the same as the one that was decided."""

from collections import defaultdict
from collections.abc import Sequence

from accounts.models import User
from projects.actions import staleness
from projects.actions.decisions import insert_decisions
from projects.kinds import Value
from projects.models import Decision, Member, Origin, Unit
from projects.values.in_force import taken_back, values_in_force

from ...corpus.searchable import refresh_search
from ...corpus.slots import SLOTS, blank, in_words, standing, write_slots
from ...models import Cluster, PicoTuple, Proposition, TupleFragment, TupleSlot
from ..slots import store_said

KIND = "tuple"


def store(said: Sequence[tuple[PicoTuple, Value]]) -> None:
    """The typed rows of tuples that were just inserted."""
    store_said(said, TupleSlot, TupleFragment, "pico_tuple")


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
    store(list(zip(tuples, map(standing, found), strict=True)))
    insert_decisions(
        Decision(
            unit_id=cluster.unit_id, kind=KIND, field=slot, origin=Origin.IMPORTED, imported_id=cluster.imported_id,
            decided_at=cluster.imported.created_at,
        )
        for cluster in found
        for slot in SLOTS
        if cluster.imported
    )  # fmt: skip


def rewrite(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Write the slots of these units' clusters from the tuple in force. Where a tuple changed that labels or the
    relation were judged by, those become stale; a tuple that is decided for the first time changes nothing."""
    found = list(Cluster.objects.filter(unit__in=units).select_related("unit").prefetch_related("pico"))
    decided = values_in_force([c.unit for c in found], KIND)
    gone: dict[int, Value] = defaultdict(dict)
    for unit, slot in taken_back([c.unit_id for c in found], KIND):
        gone[unit][slot] = blank(slot)
    found = [c for c in found if decided[c.unit_id] or c.unit_id in gone]
    # A slot that was left to adjudication stays as it is; one whose value was taken back is blank again.
    values = {c.pk: standing(c) | gone[c.unit_id] | decided[c.unit_id] for c in found}
    targets = dict(Proposition.objects.current().filter(cluster__in=found, position=0).values_list("cluster", "text"))
    before = {c.pk: in_words(standing(c)) for c in found}
    write_slots([(c, values[c.pk], targets.get(c.pk, "")) for c in found])
    for cluster in found:
        if before[cluster.pk] != (after := in_words(values[cluster.pk])):
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


#: A tuple that nobody has given yet.
NOTHING = in_words({slot: blank(slot) for slot in SLOTS})
