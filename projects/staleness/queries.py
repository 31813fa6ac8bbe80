"""Queries for stale values (from before a change) and outdated answers (given under an earlier guideline)."""

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, When

from audit.models import Entry

from .. import kinds
from ..concerns.queries import GuidelineChange
from ..gold.queries import current_values, earlier_values
from ..models import Answer, Change, Decision, Guideline, Member, Outcome, Project
from ..models.round import RETURNED
from ..purposes import which

#: Audit verb for confirming a round's answers under an earlier guideline (`actions.uphold`).
UPHOLD = "uphold answers"


def outdated(project: Project, *, kind: str = "") -> QuerySet[Answer]:
    """Return the counted answers that a later version of their guideline concerns, newest first.

    A version that states fields and values concerns only answers with such a value, and a change of wording concerns
    none. A version that states nothing concerns all answers. Answers are excluded if their unit was decided since that
    version, or if a curator confirmed them under it or a later one.

    ``newest`` is the number of the newest later version that is more than a change of wording.
    """
    # A project has few guidelines and many answers, so find the earlier guidelines first.
    versions: dict[str, list[Guideline]] = defaultdict(list)
    of_kind = {"kind": kind} if kind else {}
    for one in (
        Guideline.objects.filter(project=project, **of_kind)
        .select_related("project")
        .defer("text")
        .order_by("kind", "number")
    ):
        versions[one.kind].append(one)
    upheld = _upheld(project)
    concerned, newest = Q(pk__in=[]), []
    for of_task in versions.values():
        for version in _effective(of_task):
            earlier = [g.pk for g in of_task if g.number < version.number]
            concerned |= _concerned(version, earlier, upheld)
            newest += [When(guideline__in=earlier, then=version.number)]
    found = Answer.objects.filter(
        concerned,
        assignment__round__project=project,
        current_of__number__gte=0,
        assignment__repeat__lt=RETURNED,
        outcome=Outcome.ANSWERED,
        assignment__unit__superseded_by=None,
        assignment__round__purpose__in=which("counts"),
    )
    found = found.annotate(newest=Case(*newest, output_field=IntegerField()))
    return found.select_related("assignment__unit", "assignment__round", "author", "guideline")


def _effective(versions: Sequence[Guideline]) -> list[Guideline]:
    """Return the versions by which answers can be outdated, newest first.

    Changes of wording are left out. The newest version that concerns all answers replaces the versions before it.
    """
    found = []
    for version in reversed(versions[1:]):
        if version.scope != Guideline.Scope.WORDING:
            found.append(version)
            if version.scope != Guideline.Scope.VALUES:
                break
    return found


def _concerned(version: Guideline, earlier: Sequence[int], upheld: set[tuple[int, int, int]]) -> Q:
    """Return the condition for answers that one version concerns and that nobody reviewed since."""
    concerned = Q(guideline__in=earlier)
    if version.scope == Guideline.Scope.VALUES:
        change = GuidelineChange.of(version)
        concerned &= reduce(or_, map(change.is_answer_with, change.concerns))
    for round, guideline, newest in upheld:
        if newest >= version.number > guideline:
            concerned &= ~Q(assignment__round=round, guideline__number=guideline)
    # Units that were decided again since then need no review.
    since = Decision.objects.filter(
        unit=OuterRef("assignment__unit"), kind=version.kind, decided_at__gte=version.created_at
    )
    return concerned & ~Q(Exists(since.with_value()))


def _upheld(project: Project) -> set[tuple[int, int, int]]:
    """Return (round, guideline, newest guideline) of confirmed answers, from the audit log."""
    acts = Entry.objects.filter(project=project.pk, verb=UPHOLD)
    found = acts.values_list("object_id", "after__guideline", "after__newest")
    return {(int(round), guideline, newest) for round, guideline, newest in found}


Json = dict[str, Any]


def waiting(project: Project, *, kind: str = "", what: str = "") -> QuerySet[Change]:
    """Return the changes without a later decision, newest first."""
    found = Change.objects.unsettled().filter(unit__project=project)
    found = found.filter(kind=kind) if kind else found
    found = found.filter(what=what) if what else found
    return found.select_related("unit").order_by("-pk")


def rows(changes: Sequence[Change], *, project: Project) -> list[Json]:
    """Return the changes of one page with the unit's text and its earlier values in words.

    Uses a fixed number of queries per kind, and one more for each earlier correction of the same text.
    """
    said: dict[int, dict[str, str]] = {}
    texts: dict[int, str] = {}
    for key, mine in _by_kind(changes).items():
        kind = kinds.get(key)
        units = [c.unit for c in mine]
        texts |= kind.texts([u.pk for u in units])
        values = current_values(units, key)
        lacking = [u for u in units if not values[u.pk]]
        values |= earlier_values(lacking, key) if lacking else {}
        said |= {c.pk: kind.in_words(values.get(c.unit_id, {})) for c in mine}
    people = pseudonyms(project, [c.changed_by_id for c in changes])
    return [
        {
            "id": c.pk,
            "unit": c.unit_id,
            "type": c.unit.type,
            "key": c.unit.key,
            "kind": c.kind,
            "what": c.what,
            "text": texts.get(c.unit_id, ""),
            "before": c.before,
            "after": c.after,
            "reason": c.reason,
            "changed_by": people.get(c.changed_by_id or 0),
            "changed_at": c.changed_at,
            "said": [{"field": f, "value": v} for f, v in said[c.pk].items()],
        }
        for c in changes
    ]


def _by_kind(changes: Sequence[Change]) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        found[change.kind].append(change)
    return found


def pseudonyms(project: Project, users: Sequence[int | None]) -> dict[int, str]:
    wanted = {user for user in users if user}
    return dict(Member.objects.filter(project=project, user__in=wanted).values_list("user_id", "pseudonym"))


def outdated_totals(project: Project) -> list[Json]:
    """Count outdated answers by kind, round and guideline version."""
    counted = (
        outdated(project)
        .order_by()
        .values("guideline__kind", "guideline__number", "newest", "assignment__round", "assignment__round__name")  # type: ignore[misc]
        .annotate(answers=Count("pk"))
    )
    return [
        {
            "kind": row["guideline__kind"],
            "round": row["assignment__round"],
            "name": row["assignment__round__name"],
            "guideline": row["guideline__number"],
            "newest": row["newest"],
            "answers": row["answers"],
        }
        for row in counted.order_by("guideline__kind", "assignment__round", "guideline__number")
    ]


def outdated_rows(answers: Sequence[Answer]) -> list[Json]:
    """Return the answers of one page in words, with pseudonyms. Uses a fixed number of queries per kind."""
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
            "uuid": a.pk,
            "unit": a.assignment.unit_id,
            "type": a.assignment.unit.type,
            "key": a.assignment.unit.key,
            "kind": a.guideline.kind,
            "round": a.assignment.round.name,
            "guideline": a.guideline.number,
            "person": a.author.pseudonym,
            "received_at": a.received_at,
            "text": texts.get(a.assignment.unit_id, ""),
            "said": [{"field": f, "value": v} for f, v in said.get(a.pk, {}).items()],
        }
        for a in answers
    ]
