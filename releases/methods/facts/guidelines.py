"""Facts about guidelines: versions, and what followed from their changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from projects import kinds
from projects.concerns.queries import GuidelineChange, field_title
from projects.guideline_changes.queries import figures, in_words, stated_changes
from projects.models import Guideline, Project, Round


@dataclass(frozen=True)
class GuidelineFacts:
    """A version of the guideline of a task."""

    kind: str
    title: str
    number: int
    sha256: str
    written_on: date


@dataclass(frozen=True)
class ChangeFacts:
    """A version that concerns answers. ``concerns``: fields with their values; empty if it concerns all answers.

    Counts are of units: how many the version concerned, how many were revisited, and how many have another value since.
    """

    title: str
    number: int
    written_on: date
    reason: str
    concerns: tuple[tuple[str, tuple[str, ...]], ...]
    concerned: int
    revisited: int
    changed: int
    #: (field, value before, value after, units)
    changes: tuple[tuple[str, str, str, int], ...]


def guidelines_facts(project: Project) -> tuple[GuidelineFacts, ...]:
    """Return every version of the guidelines of tasks that have had a round, in their order. One query."""
    rounds = Round.objects.filter(project=project).opened().counting().opened_by_people().order_by()
    versions = Guideline.objects.filter(project=project, kind__in=rounds.values("kind"))
    return tuple(guideline_facts(version) for version in versions.order_by("kind", "number"))


def guideline_facts(guideline: Guideline) -> GuidelineFacts:
    title = kinds.get(guideline.kind).title
    return GuidelineFacts(guideline.kind, title, guideline.number, guideline.digest, guideline.created_at.date())


def changes_facts(project: Project, known: Mapping[int, Mapping[str, Any]]) -> tuple[ChangeFacts, ...]:
    """Return the versions that concern answers, by task and number. Some queries for each version.

    ``known``: figures by version, if they have been computed already.
    """
    return tuple(
        _change(version, known.get(version.pk) or figures(GuidelineChange.of(version)))
        for version in stated_changes(project)
    )


def _change(version: Guideline, counts: Mapping[str, Any]) -> ChangeFacts:
    kind = kinds.get(version.kind)
    stated = version.concerns if version.scope == Guideline.Scope.VALUES else []
    return ChangeFacts(
        title=kind.title,
        number=version.number,
        written_on=version.created_at.date(),
        reason=version.reason,
        concerns=tuple(
            (field_title(one["field"]), tuple(_words(kind, one["field"], value) for value in one.get("values") or ()))
            for one in stated
        ),
        concerned=counts["concerned"],
        revisited=counts["revisited"],
        changed=counts["changed"],
        changes=tuple(
            (row["title"], row["before"], row["after"], row["units"])
            for row in in_words(version.kind, counts["changes"])
        ),
    )


def _words(kind: kinds.Kind, field: str, value: str) -> str:
    return str(dict(kind.field_values.get(field, ())).get(value, value))
