"""The versions of guidelines: what each concerned and why, and how many units were revisited and changed since.

``guidelines.jsonl`` is only written if a version states what it concerns. The texts are in ``provenance/guidelines/``.
"""

import json
from collections.abc import Iterable, Iterator

from projects.concerns.queries import GuidelineChange
from projects.guideline_changes.queries import figures
from projects.models import Guideline, Project
from releases.formats.rows import utc_time

from .notes import Notes

PATH = "guidelines.jsonl"
#: Figures of a version that concerns no answer, or does not state it.
NO_FIGURES = dict.fromkeys(("concerned", "revisited", "changed", "changes", "left"))


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if Guideline.objects.filter(project=project).exclude(scope=Guideline.Scope.NOT_STATED).exists():
        yield PATH, _lines(project, notes)


def _lines(project: Project, notes: Notes) -> Iterator[bytes]:
    for guideline in Guideline.objects.filter(project=project).select_related("project").order_by("kind", "number"):
        change = GuidelineChange.of(guideline)
        if change.concerns:
            notes.guideline_changes[guideline.pk] = figures(change)
        line = {
            "kind": guideline.kind,
            "version": guideline.number,
            "sha256": guideline.digest,
            "written_at": utc_time(guideline.created_at),
            "scope": guideline.scope or None,
            "concerns": guideline.concerns,
            "reason": guideline.reason,
            **notes.guideline_changes.get(guideline.pk, NO_FIGURES),
        }
        yield json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n"
