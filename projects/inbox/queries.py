"""Queries for the inbox: answers that are flagged, commented or skipped, and the remarks on them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from .. import kinds
from ..models import Answer, Member, Outcome, Project, Remark, Round, Unit
from ..purposes import which

FLAGGED, COMMENTED, SKIPPED = Q(flag=True), ~Q(comment=""), Q(outcome=Outcome.SKIPPED)


def _settled() -> QuerySet[Remark, Any]:
    """Return the answers whose newest remark other than a reply settles them.

    Remarks are few, so they are read once, and not for each answer.
    """
    later = Remark.objects.filter(answer=OuterRef("answer"), pk__gt=OuterRef("pk")).exclude(act=Remark.Act.REPLY)
    return Remark.objects.filter(~Exists(later), act=Remark.Act.SETTLED).order_by().values("answer")


SETTLED = Q(pk__in=_settled())


def raised(project: Project) -> QuerySet[Answer]:
    """Return current answers that are flagged, commented or skipped, newest first.

    Curation rounds are left out.
    """
    answers = (
        Answer.objects.filter(FLAGGED | COMMENTED | SKIPPED, assignment__round__project=project)
        # Filter on the answer. With a filter on its assignment, PostgreSQL expects one row and reads all units for
        # each.
        .filter(current_of__isnull=False)
        .exclude(assignment__round__purpose__in=which("holds_edits"))
    )
    return answers.order_by("-received_at", "-pk")


def open_flags(round: Round, unit: Unit) -> QuerySet[Answer]:
    """Return the answers of a round to one unit that have an unsettled flag."""
    return raised(round.project).filter(FLAGGED, assignment__round=round, assignment__unit=unit).exclude(SETTLED)


SEARCHED = (
    "comment",
    "assignment__unit__key",
    "assignment__round__name",
    "author__user__name",
    "author__rater",
    "author__pseudonym",
)
WHAT = {"flagged": FLAGGED, "commented": COMMENTED, "skipped": SKIPPED}


def filtered(
    project: Project, *, what: str = "", state: str = "", round: int | None = None, search: str = ""
) -> QuerySet[Answer]:
    """Return the answers of `raised` that match the filters. `read` loads one page of them.

    ``what`` is flagged, commented or skipped. ``state`` is open or settled. ``round`` is a round id. Every word of
    ``search`` must occur in the comment, the key of the unit, or the name of the round or person.
    """
    answers = raised(project)
    if what:
        answers = answers.filter(WHAT[what])
    if state:
        answers = answers.filter(SETTLED) if state == "settled" else answers.exclude(SETTLED)
    if round:
        answers = answers.filter(assignment__round=round)
    for word in search.split():
        answers = answers.filter(reduce(or_, (Q(**{f"{field}__icontains": word}) for field in SEARCHED)))
    return answers


def read(project: Project, answers: Sequence[UUID]) -> list[Answer]:
    """Return the answers of one page of `filtered` by their keys, with the data that `rows` needs. Run one query.

    Keys are sorted first and rows are loaded afterwards. Otherwise, a late page would sort the full rows of all pages
    before it.
    """
    found = raised(project).filter(pk__in=answers)
    return list(found.select_related("assignment__unit", "assignment__round", "author__user"))


def totals(project: Project) -> dict[str, int]:
    """Return the number of unsettled answers by type, of all unsettled and of all settled ones. Run two queries."""
    return sum_of(totals_by_round(project))


def totals_by_round(project: Project) -> dict[int, Counter[str]]:
    """Return `totals` of each round with raised answers, by round id. Run two queries."""
    types = {what: Count("pk", filter=which) for what, which in WHAT.items()}
    # Settled answers are few. A condition in each count would look up every answer in each of them.
    answers = raised(project).order_by()
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for found, sign in ((answers, 1), (answers.filter(SETTLED), -1)):
        for round, *numbers in found.values_list("assignment__round").annotate(**types, open=Count("pk")):
            counts[round].update({name: sign * n for name, n in zip((*WHAT, "open"), numbers, strict=True)})
            counts[round]["settled"] += numbers[-1] if sign < 0 else 0
    return counts


def sum_of(by_round: dict[int, Counter[str]]) -> dict[str, int]:
    """Return the sums of `totals_by_round`."""
    return {name: sum(counts[name] for counts in by_round.values()) for name in (*WHAT, "open", "settled")}


def rows(answers: Sequence[Any]) -> list[dict[str, Any]]:
    """Return answers of `raised` as inbox items. Use a fixed number of queries per kind."""
    texts: dict[int, str] = {}
    values: dict[Any, kinds.Value] = {}
    for key in {a.assignment.round.kind for a in answers}:
        kind_answers = [a for a in answers if a.assignment.round.kind == key]
        texts |= kinds.get(key).texts({a.assignment.unit_id for a in kind_answers})
        values |= kinds.get(key).values(a.pk for a in kind_answers if a.outcome == Outcome.ANSWERED)
    remarks = remarks_on(answers)
    return [_row(a, texts, values.get(a.pk), remarks[a.pk]) for a in answers]


def _is_settled(remarks: list[dict[str, Any]]) -> bool:
    acts = [remark["act"] for remark in remarks if remark["act"] != Remark.Act.REPLY]
    return acts[-1:] == [Remark.Act.SETTLED]


def _row(answer: Any, texts: dict[int, str], value: kinds.Value | None, remarks: list[Any]) -> dict[str, Any]:
    assignment = answer.assignment
    kind = kinds.get(assignment.round.kind)
    value_rows = [{"field": f, "value": v} for f, v in kind.in_words(value).items()] if value else []
    return {
        "answer": answer.pk,
        "unit": assignment.unit_id,
        "key": assignment.unit.key,
        "kind": kind.key,
        "text": texts.get(assignment.unit_id, ""),
        "round": assignment.round_id,
        "round_name": assignment.round.name,
        "pseudonym": answer.author.pseudonym,
        "name": answer.author.name,
        "outcome": answer.outcome,
        "reason": kinds.reason_in_words(kind, answer.reason),
        "comment": answer.comment,
        "flag": answer.flag,
        "said": value_rows,
        "at": answer.received_at,
        "settled": _is_settled(remarks),
        "remarks": remarks,
    }


def remarks_on(answers: Iterable[Any]) -> dict[Any, list[dict[str, Any]]]:
    """Return the remarks on answers, by answer, oldest first."""
    out: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for r in Remark.objects.filter(answer__in=[a.pk for a in answers]).select_related("author"):
        out[r.answer_id].append({"act": r.act, "author": r.author.name, "text": r.text, "at": r.at})
    return out


def replies_in(
    round: Round, member: Member, limit: int = 100, *, since: datetime | None = None
) -> list[dict[str, Any]]:
    """Return the member's answers in a round that have replies, newest first. ``since`` leaves out earlier answers.

    Authors of replies are left out: annotators know each other, and leads, by pseudonym at most.
    """
    words = Remark.objects.filter(answer=OuterRef("pk")).exclude(text="")
    answers = list(
        Answer.objects.filter(
            Exists(words), Q() if since is None else Q(received_at__gte=since), assignment__round=round, author=member
        )
        .select_related("assignment__unit")
        .order_by("-received_at")[:limit]
    )
    texts = kinds.get(round.kind).texts({a.assignment.unit_id for a in answers})
    remarks = remarks_on(answers)
    return [
        {
            "answer": a.pk,
            "key": a.assignment.unit.key,
            "text": texts.get(a.assignment.unit_id, ""),
            "comment": a.comment,
            "remarks": [r | {"author": ""} for r in remarks[a.pk] if r["text"]],
        }
        for a in answers
    ]
