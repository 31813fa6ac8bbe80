"""Stored figures of questions: agreement of all writers, imported ones included, and lengths and hosts of texts."""

from typing import Any

from measures.question_texts import parts_of, question_figures
from measures.tokens import tokenizer_name
from measures.writers import agreement
from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.registry import FigureSet

from ..models import Question
from .texts import parts
from .written import newest

KEY = "writers"


class WriterFigures(FigureSet):
    key = KEY
    rule = 2

    def compute(self, project: Project, progress: Progress) -> Any:
        if not Question.objects.filter(project=project).exists():
            return None
        texts = newest(project)
        progress(0, None, f"counting tokens ({tokenizer_name()})")
        figures = {"texts": question_figures(parts_of(parts(project)), texts)}
        return figures | agreement(texts) if texts else figures
