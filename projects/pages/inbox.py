"""What people raised: answers that flag, comment or skip, whether settled or not."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from .. import kinds
from ..models import Answer, Member, Outcome, Project, Remark, Round
from ..rounds.raised import COMMENTED, FLAGGED, SETTLED, SKIPPED, raised

WHAT = {"flagged": FLAGGED, "commented": COMMENTED, "skipped": SKIPPED}


def filtered(project: Project, *, what: str = "", state: str = "", round: int | None = None) -> QuerySet[Answer]:
    """``what``: flagged, commented, skipped; ``state``: open, settled; ``round``: of one round."""
    found = raised(project)
    if what:
        found = found.filter(WHAT[what])
    if state:
        found = found.filter(SETTLED) if state == "settled" else found.exclude(SETTLED)
    if round:
        found = found.filter(assignment__round=round)
    return found.select_related("assignment__unit", "assignment__round", "author__user")


def totals(project: Project) -> dict[str, int]:
    """How much of each is unsettled, and how much is settled. One query."""
    return raised(project).aggregate(
        **{what: Count("pk", filter=which & ~SETTLED) for what, which in WHAT.items()},
        open=Count("pk", filter=~SETTLED),
        settled=Count("pk", filter=SETTLED),
    )


def rows(answers: Sequence[Any]) -> list[dict[str, Any]]:
    """Answers of `raised` as the inbox shows them: a fixed number of queries for each kind among them."""
    texts: dict[int, str] = {}
    values: dict[Any, kinds.Value] = {}
    for key in {a.assignment.round.kind for a in answers}:
        mine = [a for a in answers if a.assignment.round.kind == key]
        texts |= kinds.get(key).texts({a.assignment.unit_id for a in mine})
        values |= kinds.get(key).values(a.pk for a in mine if a.outcome == Outcome.ANSWERED)
    remarks = remarks_on(answers)
    return [_row(a, texts, values.get(a.pk), remarks[a.pk]) for a in answers]


def _row(answer: Any, texts: dict[int, str], value: kinds.Value | None, remarks: list[Any]) -> dict[str, Any]:
    slot = answer.assignment
    kind = kinds.get(slot.round.kind)
    said = [{"field": f, "value": v} for f, v in kind.in_words(value).items()] if value else []
    return {
        "answer": answer.pk, "unit": slot.unit_id, "key": slot.unit.key, "kind": kind.key,
        "text": texts.get(slot.unit_id, ""), "round": slot.round_id, "round_name": slot.round.name,
        "pseudonym": answer.author.pseudonym, "name": answer.author.user.name, "outcome": answer.outcome,
        "reason": kinds.reason_in_words(kind, answer.reason), "comment": answer.comment, "flag": answer.flag,
        "said": said, "at": answer.received_at, "settled": answer.last_act == Remark.Act.SETTLED, "remarks": remarks,
    }  # fmt: skip


def remarks_on(answers: Iterable[Any]) -> dict[Any, list[dict[str, Any]]]:
    """The words on some answers, by answer, oldest first."""
    out: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for r in Remark.objects.filter(answer__in=[a.pk for a in answers]).select_related("author"):
        out[r.answer_id].append({"act": r.act, "author": r.author.name, "text": r.text, "at": r.at})
    return out


def replies_in(round: Round, member: Member, limit: int = 100) -> list[dict[str, Any]]:
    """A member's answers in a round that somebody replied to, newest first. Who replied is not said: annotators know
    one another, and leads, by pseudonym at most."""
    words = Remark.objects.filter(answer=OuterRef("pk")).exclude(text="")
    answers = list(
        Answer.objects.filter(Exists(words), assignment__round=round, author=member)
        .select_related("assignment__unit")
        .order_by("-received_at")[:limit]
    )
    texts = kinds.get(round.kind).texts({a.assignment.unit_id for a in answers})
    remarks = remarks_on(answers)
    return [
        {
            "answer": a.pk, "key": a.assignment.unit.key, "text": texts.get(a.assignment.unit_id, ""),
            "comment": a.comment, "remarks": [r | {"author": ""} for r in remarks[a.pk] if r["text"]],
        }
        for a in answers
    ]  # fmt: skip
