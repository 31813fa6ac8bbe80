"""What waits to be looked at again: values from before a change, and answers given under an earlier guideline."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery

from audit.models import Entry

from . import kinds
from .actions.confirm import earlier_values
from .in_force import values_in_force
from .models import Answer, Change, Decision, Guideline, Member, Outcome, Project
from .purposes import which

Json = dict[str, Any]
#: The act by which a curator says that a round's answers under an earlier guideline stand (`actions.uphold`).
UPHOLD = "uphold answers"


def waiting(project: Project, *, kind: str = "", what: str = "") -> QuerySet[Change]:
    """The changes after which nobody has decided anew, newest first."""
    found = Change.objects.unsettled().filter(unit__project=project)
    found = found.filter(kind=kind) if kind else found
    found = found.filter(what=what) if what else found
    return found.select_related("unit").order_by("-pk")


def rows(changes: Sequence[Change], *, project: Project) -> list[Json]:
    """The changes of one page with the unit's text and what was in force before, in words. A fixed number of queries
    a kind (and one more for each earlier correction of the same text)."""
    said: dict[int, dict[str, str]] = {}
    texts: dict[int, str] = {}
    for key, mine in _by_kind(changes).items():
        kind = kinds.get(key)
        units = [c.unit for c in mine]
        texts |= kind.texts([u.pk for u in units])
        values = values_in_force(units, key)
        lacking = [u for u in units if not values[u.pk]]
        values |= earlier_values(lacking, key) if lacking else {}
        said |= {c.pk: kind.in_words(values.get(c.unit_id, {})) for c in mine}
    people = pseudonyms(project, [c.changed_by_id for c in changes])
    return [
        {
            "id": c.pk, "unit": c.unit_id, "type": c.unit.type, "key": c.unit.key, "kind": c.kind, "what": c.what,
            "text": texts.get(c.unit_id, ""), "before": c.before, "after": c.after, "reason": c.reason,
            "changed_by": people.get(c.changed_by_id or 0), "changed_at": c.changed_at,
            "said": [{"field": f, "value": v} for f, v in said[c.pk].items()],
        }
        for c in changes
    ]  # fmt: skip


def _by_kind(changes: Sequence[Change]) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        found[change.kind].append(change)
    return found


def pseudonyms(project: Project, users: Sequence[int | None]) -> dict[int, str]:
    wanted = {user for user in users if user}
    return dict(Member.objects.filter(project=project, user__in=wanted).values_list("user_id", "pseudonym"))


def outdated(project: Project, *, kind: str = "") -> QuerySet[Answer]:
    """Answers that count and were given under a guideline that is not the newest of its kind, whose unit has not been
    decided since under the newest one, and of which nobody has said under it that they stand. Newest first."""
    same_kind = Guideline.objects.filter(project=project, kind=OuterRef("guideline__kind")).order_by("-number")
    since = Decision.objects.filter(
        unit=OuterRef("assignment__unit"), kind=OuterRef("guideline__kind"), decided_at__gte=OuterRef("newest_at")
    ).values_said()
    found = (
        Answer.objects.filter(
            assignment__round__project=project, current_of__number__gte=0, outcome=Outcome.ANSWERED,
            assignment__unit__superseded_by=None, assignment__round__purpose__in=which("counts"),
        )
        .annotate(newest=Subquery(same_kind.values("number")[:1]))
        .annotate(newest_at=Subquery(same_kind.values("created_at")[:1]))
        .filter(guideline__number__lt=F("newest"))
    )  # fmt: skip
    found = found.filter(guideline__kind=kind) if kind else found
    for round, guideline, newest in _upheld(project):
        found = found.exclude(assignment__round=round, guideline__number=guideline, newest=newest)
    # Gold that was decided anew since needs no second look.
    return found.filter(~Exists(since)).select_related("assignment__unit", "assignment__round", "author", "guideline")


def _upheld(project: Project) -> set[tuple[int, int, int]]:
    """(round, guideline, newest guideline) of answers that were said to stand; the log knows."""
    acts = Entry.objects.filter(project=project.pk, verb=UPHOLD)
    found = acts.values_list("object_id", "after__guideline", "after__newest")
    return {(int(round), guideline, newest) for round, guideline, newest in found}


def outdated_totals(project: Project) -> list[Json]:
    """How many such answers there are, by kind, round and guideline version."""
    counted = (
        outdated(project)
        .order_by()
        .values("guideline__kind", "guideline__number", "newest", "assignment__round", "assignment__round__name")  # type: ignore[misc]
        .annotate(answers=Count("pk"))
    )
    return [
        {
            "kind": row["guideline__kind"], "round": row["assignment__round"], "name": row["assignment__round__name"],
            "guideline": row["guideline__number"], "newest": row["newest"], "answers": row["answers"],
        }
        for row in counted.order_by("guideline__kind", "assignment__round", "guideline__number")
    ]  # fmt: skip


def outdated_rows(answers: Sequence[Answer]) -> list[Json]:
    """The answers of one page in words, by pseudonym. A fixed number of queries a kind."""
    by_kind: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_kind[answer.guideline.kind].append(answer)
    texts: dict[int, str] = {}
    said: dict[Any, dict[str, str]] = {}
    for key, mine in by_kind.items():
        kind = kinds.get(key)
        texts |= kind.texts({a.assignment.unit_id for a in mine})
        said |= {pk: kind.in_words(value) for pk, value in kind.values(a.pk for a in mine).items()}
    return [
        {
            "uuid": a.pk, "unit": a.assignment.unit_id, "type": a.assignment.unit.type, "key": a.assignment.unit.key,
            "kind": a.guideline.kind, "round": a.assignment.round.name, "guideline": a.guideline.number,
            "person": a.author.pseudonym, "received_at": a.received_at, "text": texts.get(a.assignment.unit_id, ""),
            "said": [{"field": f, "value": v} for f, v in said.get(a.pk, {}).items()],
        }
        for a in answers
    ]  # fmt: skip
