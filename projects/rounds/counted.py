"""Which answers of a round count, and how many are asked of each unit."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from ..models import Answer, Assignment, Outcome, Round
from .slots import Shape

#: The walk's, of answers.
ORDER = ("assignment__position", "assignment__number", "assignment__repeat")
#: Answers that are read at a time.
PART = 1_000


def counts(round: Round, answer: str = "") -> Q:
    """What holds of an answer that counts: the newest revision of slots 1..k, skips left out. ``answer``: the way to it
    from what is asked ("answer__"), so that rows of answers are joined with them and not looked up in a list."""
    # By the answer's own slot, which points back at it: one join, by keys. With two, PostgreSQL compares every answer
    # with every slot of the round where it has not looked at the tables since they grew.
    slot = f"{answer}assignment__"
    return Q(
        **{
            f"{answer}outcome": Outcome.ANSWERED, f"{slot}round": round, f"{slot}number__gte": 1,
            f"{slot}current_answer": F(f"{answer}pk"),
        }
    )  # fmt: skip


def counted(round: Round) -> QuerySet[Answer]:
    """The answers that count, units in the order of the walk."""
    return Answer.objects.filter(counts(round)).order_by(*ORDER)


def opinions(round: Round) -> QuerySet[Answer]:
    """The answers that are each one person's opinion of a unit: those that count, without what a person was asked
    again. (Whether a round makes gold is said by its purpose.)"""
    return counted(round).filter(assignment__repeat=0)


def counted_parts(round: Round, **which: Any) -> Iterator[QuerySet[Answer]]:
    """The answers that count, some at a time: which they are is asked once, and each part by a statement of its own.

    So whoever reads them may write in between. On SQLite a statement that is half read would keep its connection from
    it as soon as anybody else has written: "database is locked".
    """
    ids = list(counted(round).filter(**which).values_list("pk", flat=True))
    for first in range(0, len(ids), PART):
        yield Answer.objects.filter(pk__in=ids[first : first + PART]).order_by(*ORDER)


def counted_answers(round: Round) -> Iterator[Answer]:
    """The answers that count, with slot, unit and author."""
    for part in counted_parts(round):
        yield from part.select_related("assignment__unit", "author")


def k_of(round: Round) -> Callable[[int], int]:
    """How many people each unit of a round is asked of, by unit id."""
    if len(Shape.of(round.overlap, round.sampling).overlaps()) == 1:
        return lambda unit: round.overlap
    slots = Assignment.objects.filter(round=round, repeat=0).counted().order_by().values_list("unit")
    counts = dict(slots.annotate(n=Count("pk")))
    return lambda unit: counts[unit]
