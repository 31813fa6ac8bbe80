"""Figures of a guideline change: concerned, revisited and changed units, and what is not yet revisited."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db.models import Count

from .. import kinds
from ..concerns.queries import Concern, GuidelineChange, count_affected, field_title
from ..gold.queries import parts_of
from ..models import Assignment, Decision, Guideline, Member, Participant, Project, Round
from ..rounds.planning import WORKERS
from ..stored_figures.queries import LARGE

Json = dict[str, Any]
#: Number of decisions whose values are read at a time.
BATCH = 2000
#: Shown instead of a value that the kind does not name, and of a missing value.
OTHER, NO_VALUE = "another value", "no value"


def figures(change: GuidelineChange) -> Json:
    """Return how many units a version concerned, how many were revisited, and which values changed.

    ``changes`` has the keys of values as in answers (`in_words`).
    The number of queries does not depend on the number of units, except for a few in each `BATCH` of changed values.
    """
    concerned = change.concerned().count()
    left = count_affected(change)
    units, changes = changed_values(change)
    return {
        "concerned": concerned,
        "revisited": concerned - left["units"],
        "changed": units,
        "changes": changes,
        "left": left,
    }


def in_words(kind: str, changes: list[Json]) -> list[Json]:
    """Return the changes with the labels of values instead of their keys, and with the titles of fields."""
    labels = {field: dict(values) for field, values in kinds.get(kind).field_values.items()}
    return [
        one
        | {"title": field_title(one["field"])}
        | {side: str(labels.get(one["field"], {}).get(one[side], one[side])) for side in ("before", "after")}
        for one in changes
    ]


def changed_values(change: GuidelineChange) -> tuple[int, list[Json]]:
    """Return the number of units with another value since, and the changes: field, values before and after, units."""
    units: set[int] = set()
    counts: Counter[tuple[str, str, str]] = Counter()
    for concern in change.concerns:
        for field, unit, before, after in _changes(change, concern):
            units.add(unit)
            counts[field, before, after] += 1
    fields = [concern.field for concern in change.concerns]
    ordered = sorted(counts.items(), key=lambda item: (_index(fields, item[0][0]), -item[1], item[0]))
    return len(units), [
        {"field": field, "before": before, "after": after, "units": n} for (field, before, after), n in ordered
    ]


def _index(fields: list[str], field: str) -> int:
    return fields.index(field) if field in fields else len(fields)


def _changes(change: GuidelineChange, concern: Concern) -> Iterator[tuple[str, int, str, str]]:
    """Yield field, unit id, and the values before and after, of decisions since that changed the value."""
    kind = kinds.get(change.kind)
    since = change.since_decided(concern)
    earlier = change.before(concern.field).filter(unit__in=since.values("unit"))
    before = {(d.unit_id, d.field): d for d in earlier.select_related("unit")}
    decisions = list(since.select_related("unit"))
    for first in range(0, len(decisions), BATCH):
        batch = decisions[first : first + BATCH]
        pairs = [(before.get((d.unit_id, d.field)), d) for d in batch]
        both: list[Decision] = [d for pair in pairs for d in pair if d]
        parts = parts_of([d.unit for d in batch], kind.key, both)
        for old, new in pairs:
            if old is None:
                yield new.field, new.unit_id, NO_VALUE, _key(kind, new.field, parts[new.pk])
            elif not kind.is_equal(new.field, parts[old.pk], parts[new.pk]):
                keys = [_key(kind, new.field, parts[d.pk]) for d in (old, new)]
                yield new.field, new.unit_id, keys[0], keys[1]


def _key(kind: kinds.Kind, field: str, value: kinds.Value) -> str:
    return kind.value_key(field, value) or OTHER


def is_large(project: Project) -> bool:
    """Return whether the figures of a project take seconds, so that only a job computes them. One query."""
    answered = Assignment.objects.filter(round__project=project).exclude(current_answer=None)
    return answered.order_by().values("pk")[LARGE : LARGE + 1].exists()


def open_work(change: GuidelineChange) -> Json:
    """Return how the units that are left can be revisited: by a correction round, by curators, or not yet."""
    correctable, waiting = change.correctable().count(), change.waiting()
    contested = Decision.objects.filter(unit__in=waiting.order_by().values("pk"), kind=change.kind).contested()
    rounds = contested.filter(round__isnull=False).values("round", "round__name")
    by_round = rounds.annotate(n=Count("unit", distinct=True)).order_by("round")
    return {
        "correctable": correctable,
        "assigned": change.assigned().count(),
        "waiting": waiting.count(),
        "waiting_in": [{"id": r["round"], "name": r["round__name"], "units": r["n"]} for r in by_round],
    }


def correction_rounds(change: GuidelineChange) -> list[Json]:
    """Return the rounds that were opened to revisit the units of a version, oldest first."""
    rounds = Round.objects.filter(
        project=change.project, kind=change.kind, sampling__guideline_change__version=change.number
    )
    return [{"id": r.pk, "name": r.name, "status": r.status} for r in rounds.order_by("pk")]


def last_round(change: GuidelineChange) -> Round | None:
    """Return the newest round of the kind that asks for a concerned field. Its people and settings are proposed."""
    kind, fields = kinds.get(change.kind), {concern.field for concern in change.concerns}
    rounds = Round.objects.filter(project=change.project, kind=change.kind).opened().counting().opened_by_people()
    return next((r for r in rounds.order_by("-pk") if "" in fields or fields & set(kind.fields_of(r))), None)


def proposed_people(round: Round | None) -> list[int]:
    """Return the members who worked in a round and can work in another one."""
    if round is None:
        return []
    people = Participant.objects.filter(round=round, left_at=None, member__in=Member.objects.active())
    return list(people.filter(member__role__in=WORKERS).order_by("pk").values_list("member", flat=True))


def stated_changes(project: Project) -> Iterator[Guideline]:
    """Yield the versions that concern answers, by kind and number."""
    found = Guideline.objects.filter(project=project, scope__in=(Guideline.Scope.VALUES, Guideline.Scope.ALL))
    yield from found.select_related("project").order_by("kind", "number")
