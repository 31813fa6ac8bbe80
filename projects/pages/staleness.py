"""What waits to be looked at again: values from before a change, and answers given under an earlier guideline."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet

from .. import kinds
from ..models import Answer, Change, Member, Project
from ..values.in_force import earlier_values, values_in_force
from ..values.outdated import outdated

Json = dict[str, Any]


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
