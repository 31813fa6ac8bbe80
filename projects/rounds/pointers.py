"""The few things about answers that may be moved, held against the rows that never change.

A slot points at its newest answer, and its number says whether that counts. The first follows from the answers at any
time. The second is settled when a round is finished: which slots were answered then, by whom and under which number, is
witnessed, and how many there were stands in the log.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Subquery
from django.db.models.expressions import OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import User
from audit import witness
from audit.log import record
from audit.models import Entry

from ..background import batches
from ..models import Answer, Assignment, Outcome, Round
from ..purposes import which
from .slots import Shape

#: The name under which the answered slots of finished rounds are witnessed.
SETTLED = "projects.assignment when its round was finished"
FINISH = "finish round"
#: A round that was closed so long ago and has no such entry was finished by an earlier version.
OLD = timedelta(hours=1)


def answered(round: Round) -> QuerySet[Assignment]:
    return Assignment.objects.filter(round=round, current_answer__isnull=False).order_by("pk")


def settle(round: Round, by: User | None) -> None:
    """Witness which answers a closed round ends with, and by which numbers they count. Again, it changes nothing."""
    if finished().filter(object_id=str(round.pk)).exists():
        return
    with batches.harmless():  # a slot has one witness, whoever makes it
        count = witness.take(SETTLED, answered(round))
    with batches.batch():
        record(actor=by, verb=FINISH, obj=round, project_id=round.project_id, after={"answers": count})


def settle_old() -> int:
    """Settle rounds that an earlier version finished; how many."""
    ids = [int(pk) for pk in finished().values_list("object_id", flat=True)]
    closed = Round.objects.filter(status=Round.Status.CLOSED, closed_at__lt=timezone.now() - OLD).exclude(pk__in=ids)
    for round in closed:
        settle(round, None)
    return len(closed)


def finished() -> QuerySet[Entry]:
    return Entry.objects.filter(verb=FINISH, object_type="round")


def broken_slots() -> Iterator[tuple[str, str]]:
    """Slots that do not point at their newest answer, or answered ones that were taken out of force. Each is one
    statement, so that people may go on answering."""
    said = Answer.objects.filter(assignment=OuterRef("pk")).order_by("-revision")
    slots: QuerySet[Any] = Assignment.objects.annotate(
        newest=Subquery(said.values("pk")[:1]),
        reached=Coalesce(Subquery(said.values("revision")[:1]), 0),
        by=Subquery(said.values("author")[:1]),
    )
    elsewhere = Q(newest__isnull=False) & (
        Q(current_answer=None) | ~Q(current_answer=F("newest")) | Q(person=None) | ~Q(person=F("by"))
    )
    without = Q(newest=None, current_answer__isnull=False)
    for pk in slots.filter(~Q(revision=F("reached")) | elsewhere | without).values_list("pk", flat=True).iterator():
        yield f"projects.assignment {pk}", "it does not point at its newest answer, or has another person's"
    counted_skips = Assignment.objects.counted().filter(current_answer__outcome=Outcome.SKIPPED)
    for pk in counted_skips.values_list("pk", flat=True).iterator():
        yield f"projects.assignment {pk}", "it was skipped and counts all the same"
    yield from _taken_out()


def _taken_out() -> Iterator[tuple[str, str]]:
    """Units with other than k slots that count. (A file's own raters are as many as they are, and in practice everyone
    has a slot of each unit, whoever joins and leaves.)"""
    free = [*which("standing"), *which("gives_feedback")]
    other = Round.objects.filter(Q(purpose__in=free) | Q(sampling__units="made elsewhere"))
    units = (
        # What a person was asked again may be given up; it counts for nothing of the unit's.
        Assignment.objects.filter(repeat=0)
        .exclude(round__in=other.values("pk"))
        .values("round", "unit", "repeat", "round__overlap", "unit__superseded_by")
        .annotate(n=Count("pk", filter=Q(number__gte=1)))
        .order_by("round", "unit", "repeat")
        .exclude(n=F("round__overlap"))
        .exclude(n=0, unit__superseded_by__isnull=False)  # the text that took its place is asked
    )
    blocks = _Blocks()
    for found in units.iterator():
        if blocks.has(found["round"], found["n"]):
            continue
        retired = Assignment.objects.filter(
            round=found["round"], unit=found["unit"], repeat=found["repeat"], number__lt=0,
            current_answer__outcome=Outcome.ANSWERED,
        )  # fmt: skip
        what = f"its unit has {found['n']} slots that count, not {found['round__overlap']}"
        names = [f"projects.assignment {pk}" for pk in retired.values_list("pk", flat=True)]
        yield from ((name, f"it was taken out of force: {what}") for name in names)
        if not names:
            yield f"projects.round {found['round']}", f"unit {found['unit']}: {what}"
    for round in blocks.missing():
        yield f"projects.round {round}", "fewer units of its block have all their slots than it was opened with"


class _Blocks:
    """The overlap blocks of rounds: how many of their units may yet have more slots than the others."""

    def __init__(self) -> None:
        shaped = list(Round.objects.filter(sampling__block__overlap__gt=0))
        shapes = {round.pk: Shape.of(round.overlap, round.sampling) for round in shaped}
        self.left = {r.pk: [shapes[r.pk].block_overlap, shapes[r.pk].in_block(r.units_count)] for r in shaped}
        self.preparing = {r.pk for r in shaped if r.status == Round.Status.PREPARING}

    def has(self, round: int, slots: int) -> bool:
        """Whether a unit with so many slots is one of the block; each is asked about once."""
        block = self.left.get(round)
        if block is None or block[0] != slots or not block[1]:
            return False
        block[1] -= 1
        return True

    def missing(self) -> Iterator[int]:
        """Rounds of which units have other than their slots, though each number is one that the round has. One that is
        being prepared has not all of them yet."""
        return (round for round, (_, left) in self.left.items() if left and round not in self.preparing)


def reopened_rounds() -> Iterator[tuple[str, str]]:
    """Rounds that were closed and are open, or have other answers than when they were finished."""
    closings = Entry.objects.filter(verb="close round", object_type="round").values_list("object_id", flat=True)
    closed = {int(pk) for pk in closings}
    for round in Round.objects.filter(status=Round.Status.OPEN).iterator():
        if round.pk in closed:
            yield f"projects.round {round.pk}", "it was closed, and is open"
    watched = witness.watch_named(SETTLED)
    for entry in finished().iterator():
        slots = Assignment.objects.filter(round=int(entry.object_id), current_answer__isnull=False)
        if watched and entry.after and slots.count() != entry.after["answers"]:
            yield f"projects.round {entry.object_id}", f"it was finished with {entry.after['answers']} answers"
            for pk in witness.unwitnessed_among(watched, slots):
                yield f"projects.assignment {pk}", "it was answered after its round was finished"
