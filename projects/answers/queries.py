"""Queries for the answers of a round that count, and the data of one submission."""

import uuid as uuids
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from .. import kinds
from ..models import Answer, Assignment, CameBy, Outcome, Round
from .assignments import Shape

#: Order of the assignments in a round, for querysets of answers.
ORDER = ("assignment__position", "assignment__number", "assignment__repeat")
#: Number of answers read at a time.
PART = 1_000


def counts(round: Round, answer: str = "") -> Q:
    """Return the condition for answers that count: the newest revisions of assignments 1..k, without skips.

    ``answer`` is the lookup prefix of the answer, for example ``"answer__"``. With a prefix, other models join the
    answers instead of using a list of ids.
    """
    # Use the answer's own assignment, which points back to it: one join by keys. With two joins and outdated
    # statistics, PostgreSQL compares every answer with every assignment of the round.
    prefix = f"{answer}assignment__"
    return Q(
        **{
            f"{answer}outcome": Outcome.ANSWERED,
            f"{prefix}round": round,
            f"{prefix}number__gte": 1,
            f"{prefix}current_answer": F(f"{answer}pk"),
        }
    )


def counted(round: Round) -> QuerySet[Answer]:
    """Return the answers that count, in assignment order."""
    return Answer.objects.filter(counts(round)).order_by(*ORDER)


def opinions(round: Round) -> QuerySet[Answer]:
    """Return the answers that count, without repeats: one opinion per person and unit.

    The round's purpose decides whether they make gold.
    """
    return counted(round).filter(assignment__repeat=0)


def counted_parts(round: Round, **which: Any) -> Iterator[QuerySet[Answer]]:
    """Yield the answers that count in parts of `PART`, each as a queryset of its own.

    The ids are read first, so that the caller may write between parts. On SQLite, an open cursor blocks writes of its
    connection after another connection has written ("database is locked").
    """
    ids = list(counted(round).filter(**which).values_list("pk", flat=True))
    for first in range(0, len(ids), PART):
        yield Answer.objects.filter(pk__in=ids[first : first + PART]).order_by(*ORDER)


def counted_answers(round: Round) -> Iterator[Answer]:
    """Yield the answers that count, with assignment, unit and author."""
    for part in counted_parts(round):
        yield from part.select_related("assignment__unit", "author")


def k_of(round: Round) -> Callable[[int], int]:
    """Return a function that gives the planned number of people by unit id."""
    if len(Shape.of(round.overlap, round.sampling).overlaps()) == 1:
        return lambda unit: round.overlap
    assignments = Assignment.objects.filter(round=round, repeat=0).counted().order_by().values_list("unit")
    counts = dict(assignments.annotate(n=Count("pk")))
    return lambda unit: counts[unit]


#: Maximum length of a comment, in characters.
MAX_COMMENT = 5_000


@dataclass(frozen=True)
class Submission:
    """A submission as the client sent it.

    ``digest`` is the SHA-256 of its bytes. ``entry`` is the id of the log entry if somebody other than the author
    submitted it.
    """

    uuid: uuids.UUID
    digest: str
    assignment: int
    revision: int
    kind: str
    outcome: str
    shown: int
    came_by: CameBy
    value: kinds.Value | None = None
    reason: str = ""
    active_ms: int = 0
    comment: str = ""
    flag: bool = False
    entry: int | None = None
    #: Ids of the decisions that were shown, in a round that reviews current values.
    references: Sequence[int] = ()
    #: The person cleared the suggestion that was shown and began anew.
    rejects_suggestion: bool = False
