"""Texts of questions and passages, and the figures of the tables of MEDIQA-AnS that are computed from them."""

import json
from collections.abc import Iterable, Iterator

from annotation.models import Question
from annotation.questions.texts import COLUMNS, parts
from annotation.questions.written import newest
from measures.question_texts import parts_of, question_figures
from projects.models import Project

from .notes import Notes
from .rows import csv_row

TEXTS, FIGURES = "questions/texts.csv", "questions/figures.json"


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if not Question.objects.filter(project=project).exists():
        return
    yield TEXTS, _lines(project)
    figures = question_figures(parts_of(parts(project)), newest(project))
    yield FIGURES, [json.dumps(figures, ensure_ascii=False, indent=1).encode() + b"\n"]


def _lines(project: Project) -> Iterator[bytes]:
    yield csv_row(COLUMNS)
    for row in parts(project):
        yield csv_row([row[name] for name in COLUMNS])
