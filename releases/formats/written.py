"""Written summaries with their writers, and the agreement between all writers."""

import json
from collections.abc import Iterable, Iterator

from annotation.models import WrittenSummary
from annotation.questions.written import newest, rows
from measures.writers import agreement
from projects.models import Project

from .notes import Notes
from .rows import csv_row

SUMMARIES, AGREEMENT = "written/summaries.csv", "written/agreement.json"
COLUMNS = ("question", "passage", "form", "writer", "version", "round", "status", "written_text")


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if not WrittenSummary.objects.filter(question__project=project).exists():
        return
    yield SUMMARIES, _lines(project)
    report = agreement(newest(project))
    yield AGREEMENT, [json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n"]


def _lines(project: Project) -> Iterator[bytes]:
    yield csv_row(COLUMNS)
    for row in rows(project):
        yield csv_row([row[name] for name in COLUMNS])
