"""Queries of adjudication: the queue of a round and the details of one unit."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import Any

from django.db.models import Count, F, Min, OuterRef, Q, QuerySet

from accounts.models import User
from api.problems import NotFound
from sql.planner import count_subquery

from .. import kinds
from ..answers.queries import opinions
from ..concerns.queries import concerning_changes
from ..gold.queries import contested_fields, newest_decisions, of_kind, sentences
from ..inbox import queries as inbox_queries
from ..inbox.queries import open_flags
from ..models import Answer, Assignment, Decision, Member, Origin, Round, Unit
from ..models.round import RETURNED
from ..permissions import Names
from ..purposes import which
from ..queue import queries as queue_queries

QUEUE_ORDER = ("unit__context", "unit__position", "unit")


@dataclass
class QueuedUnit:
    """A unit in the adjudication queue, with the reasons."""

    #: Context, position and id of the unit. The queue has this order, so that units of one context are adjacent.
    sort_key: tuple[int, int, int]
    contested: list[str] = field(default_factory=list)
    flagged: bool = False

    @property
    def unit(self) -> int:
        return self.sort_key[2]


def queued_units(round: Round) -> list[QueuedUnit]:
    """Return the contested and flagged units of a round, contested ones first. Run two queries."""
    by_unit: dict[int, QueuedUnit] = {}
    contests = _round_decisions(round).contested().values_list(*QUEUE_ORDER, "field")
    for *sort_key, name in contests:
        by_unit.setdefault(sort_key[2], QueuedUnit(tuple(sort_key))).contested.append(name)
    flags = (
        inbox_queries.raised(round.project)
        .filter(inbox_queries.FLAGGED, assignment__round=round, assignment__repeat__lt=RETURNED)
        .exclude(inbox_queries.SETTLED)
    )
    flags = flags.filter(assignment__unit__superseded_by=None).order_by()
    for sort_key in flags.values_list(*(f"assignment__{name}" for name in QUEUE_ORDER)):
        by_unit.setdefault(sort_key[2], QueuedUnit(sort_key)).flagged = True
    return sorted(by_unit.values(), key=lambda w: (not w.contested, w.sort_key))


def count_queued_units(rounds: QuerySet[Round]) -> dict[int, int]:
    """Return the number of `queued_units` of each round, by round id. Run two queries.

    Flagged units can be many, so the database counts them. Contested ones are few, and looked up one by one.
    """
    rounds = rounds.order_by()
    contests = Decision.objects.filter(round__in=rounds, kind=F("round__kind"), unit__superseded_by=None).contested()
    flags = inbox_queries.FLAGGED & Q(
        assignment__unit__superseded_by=None, current_of__isnull=False, assignment__repeat__lt=RETURNED
    )
    of_people = rounds.exclude(purpose__in=which("holds_edits"))
    flagged = Answer.objects.filter(flags, assignment__round__in=of_people).exclude(inbox_queries.SETTLED).order_by()
    by_round = flagged.values_list("assignment__round").annotate(n=Count("assignment__unit", distinct=True))
    is_flagged_too = count_subquery(
        flagged.filter(assignment__round=OuterRef("round"), assignment__unit=OuterRef("unit"))
    )
    others = contests.alias(flags=is_flagged_too).filter(flags=0).values_list("round", "unit").distinct()
    return Counter(dict(by_round)) + Counter(round for round, _ in others)


def decided_units(round: Round) -> list[tuple[int, int, int]]:
    """Return (context, position, id) of units with a current value from a curator in this round. Run one query."""
    return sorted(_round_decisions(round).filter(origin=Origin.CURATED).current().values_list(*QUEUE_ORDER).distinct())


def _round_decisions(round: Round) -> Any:
    return Decision.objects.filter(round=round, kind=round.kind, unit__superseded_by=None)


Json = dict[str, Any]
#: Filters of the queue.
SHOW = ("waiting", "contested", "flagged", "decided")
ROWS = 50
#: Number of recent reasons that the page offers: one per shortcut key.
REASONS = 6


def page(round: Round, *, show: str = "waiting", after: int | None = None) -> Json:
    """Return one page of the queue with texts, starting after the unit ``after``. Use a fixed number of queries."""
    queue = queued_units(round)
    queued = {w.unit: w for w in queue}
    done = [sort_key for sort_key in decided_units(round) if sort_key[2] not in queued]
    if show == "decided":
        units = [sort_key[2] for sort_key in done]
    else:
        units = [w.unit for w in queue if show == "waiting" or getattr(w, show)]
    first = units.index(after) + 1 if after in units else 0
    page_units = units[first : first + ROWS]
    keys = dict(Unit.objects.filter(pk__in=page_units).values_list("pk", "key"))
    kind = kinds.get(round.kind)
    texts, fields = kind.texts(page_units), kind.fields_of(round)
    return {
        "counts": counts(queue, len(done)),
        "total": len(units),
        "reasons": reasons(round),
        "rows": [
            {
                "unit": unit,
                "key": keys[unit],
                "text": texts.get(unit, ""),
                "contested": [f for f in fields if unit in queued and f in queued[unit].contested],
                "flagged": unit in queued and queued[unit].flagged,
            }
            for unit in page_units
        ],
    }


def reasons(round: Round) -> list[str]:
    """Return the reasons introduced last in this round, ordered by first use, so that each keeps its shortcut key."""
    decisions = Decision.objects.filter(round=round, origin=Origin.CURATED).exclude(reason="").order_by()
    rows = list(decisions.values_list("reason").annotate(first=Min("id")).order_by("-first")[:REASONS])
    return [reason for reason, _ in reversed(rows)]


def counts(queue: Sequence[QueuedUnit], decided: int) -> Json:
    return {
        "waiting": len(queue),
        "contested": sum(bool(w.contested) for w in queue),
        "flagged": sum(w.flagged for w in queue),
        "decided": decided,
    }


#: Tolerance for comparing two figures.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Nearness:
    """Agreement of the answers to one unit, and the answers nearest to the others."""

    #: 1 minus the mean distance of all pairs; None for fewer than two answers.
    agreement: float | None
    #: Indexes of the answers with the smallest sum of distances to the others. Equal answers are listed once. Several
    #: indexes mean a tie between different answers; two different answers are always tied.
    nearest: list[int]


def compute_nearness(kind: kinds.Kind, fields: Sequence[str], values: Sequence[kinds.Value]) -> Nearness:
    """Compute agreement and nearest answers. The distance of two answers is the mean over the fields, from 0 to 1."""
    pairs = list(combinations(range(len(values)), 2))
    distance = {(a, b): fmean(kind.distance(f, values[a], values[b]) for f in fields) for a, b in pairs}
    sums = [0.0] * len(values)
    for (one, other), far in distance.items():
        sums[one] += far
        sums[other] += far
    best = [i for i, total in enumerate(sums) if total - min(sums) < TOLERANCE]
    return Nearness(
        agreement=1 - fmean(distance.values()) if pairs else None,
        nearest=[i for n, i in enumerate(best) if all(distance[other, i] >= TOLERANCE for other in best[:n])],
    )


#: Return the display name of a user (see `projects.permissions.Names.of`).
NameFormatter = Callable[[User | None], str]


def unit_in(round: Round, unit: int) -> Unit:
    """Return a unit of the round. Raise `NotFound` if the round does not contain it."""
    row = Unit.objects.filter(pk=unit, assignments__round=round).first()
    if row is None:
        raise NotFound("Not found, or no access.")
    return row


def answers_to(round: Round, unit: Unit) -> list[Answer]:
    """Return the opinions on a unit, sorted by UUID, so that the order is stable and does not reveal the authors."""
    answers = opinions(round).filter(assignment__unit=unit).select_related("assignment__unit", "author__user")
    return sorted(answers, key=lambda answer: answer.pk)


def decisions_of(unit: Unit, kind: str) -> list[Decision]:
    """Return all decisions of a unit in one kind, newest first. Run one query."""
    rows = Decision.objects.filter(unit=unit, kind=kind).order_by().select_related("unit", "decided_by")
    return sorted(rows, key=lambda d: -d.pk)


def summarise_decisions(decisions: Sequence[Decision], called: NameFormatter) -> Json:
    """Summarise decisions for a curator who was too late: fields, values, author, reason and time."""
    words = sentences(decisions)
    last = max(decisions, key=lambda d: d.pk)
    return {
        "said": [{"field": d.field, "value": words[d.pk]} for d in decisions if d.pk in words],
        "by": called(last.decided_by),
        "reason": last.reason,
        "at": last.decided_at.isoformat(),
    }


def adjudication_detail(round: Round, unit: Unit, *, asking: Member, names: bool) -> Json:
    """Return all data for the adjudication page of one unit.

    Include the authors of answers only with ``names``. Use a fixed number of queries, independent of the number of
    answers and decisions.
    """
    kind = kinds.get(round.kind)
    fields = kind.fields_of(round)
    answers = answers_to(round, unit)
    cards = queue_queries.cards(
        round, [*(_answer_assignment(a, round) for a in answers), _own_assignment(round, unit, asking)]
    )
    values = [card["value"] for card in cards[:-1]]
    agreement = compute_nearness(kind, fields, values)
    history = decisions_of(unit, kind.key)
    contested = contested_fields([unit], kind.key)
    remarks = inbox_queries.remarks_on(answers)
    flagged = set(open_flags(round, unit).values_list("pk", flat=True))
    in_words = sentences(history)
    current = of_kind(newest_decisions([unit.pk], kind.key), kind.key)
    called = Names(asking)
    return {
        "unit": unit.pk,
        "key": unit.key,
        "kind": kind.key,
        "text": kind.texts([unit.pk]).get(unit.pk, ""),
        "fields": list(fields),
        "contested": [f for f in fields if (unit.pk, f) in contested],
        "flagged": bool(flagged),
        "guideline_changes": concerning_changes(unit, round),
        "seen": max((d.pk for d in history), default=0),
        "own": cards[-1],
        "agreement": agreement.agreement,
        "nearest": answers[agreement.nearest[0]].pk if len(agreement.nearest) == 1 else None,
        "answers": [
            {
                "answer": a.pk,
                "card": card,
                "flagged": a.pk in flagged,
                "comment": a.comment,
                "said": [
                    {"field": f, "value": words, "contested": (unit.pk, f) in contested}
                    for f, words in kind.in_words(card["value"]).items()
                    # Skip fields that the round did not ask for.
                    if f in fields or f not in kind.fields
                ],
                "adopted": [f for f in fields if (d := current.get((unit.pk, f))) and d.answer_id == a.pk],
                "remarks": [r | {"author": ""} for r in remarks[a.pk]],
                "name": called.of(a.author.user) or a.author.rater if names else None,
                "pseudonym": a.author.pseudonym if names else None,
            }
            for a, card in zip(answers, cards[:-1], strict=True)
        ],
        "current": [
            {"field": f, "value": in_words.get(d.pk, ""), "origin": d.origin}
            for f in fields
            if (d := current.get((unit.pk, f)))
        ],
        "history": [
            {
                "id": d.pk,
                "field": d.field,
                "origin": d.origin,
                "value": in_words.get(d.pk),
                "reason": d.reason,
                "by": called.of(d.decided_by),
                "at": d.decided_at,
            }
            for d in history
        ],
    }


def _answer_assignment(answer: Answer, round: Round) -> Assignment:
    """Return the answer's assignment with its relations set. The card may depend on the assignment."""
    assignment = answer.assignment
    assignment.round, assignment.current_answer = round, answer
    return assignment


def _own_assignment(round: Round, unit: Unit, asking: Member) -> Assignment:
    """Return an unsaved assignment for the curator, to write a value that no annotator gave."""
    assignment = kinds.curator_assignment(unit, round.kind, asking)
    assignment.pk, assignment.round, assignment.position = 0, round, 0
    return assignment
