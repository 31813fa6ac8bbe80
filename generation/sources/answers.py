"""The levels of MEDIQA-AnS: a passage that answers a question, and all passages of a question.

References are the summaries that people wrote of the same texts, each with its name. A unit is read only if each of its
passages has the text that the version reads: the passage, or the whole page.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Length

from annotation.models import Part, Passage, Question, QuestionText, SplitLevel, WrittenSummary
from annotation.questions.references import WrittenReference, references_of_passages, references_of_questions
from projects.models import Project

from ..backends.protocol import InputText, Source
from ..models import UnitLevel
from .protocol import Material, Reference, UnitSource


class _PassageSource(UnitSource):
    """A level whose inputs are passages. Each unit belongs to one question."""

    @abstractmethod
    def passages(self, units: Sequence[int]) -> dict[int, list[Passage]]:
        """Return the passages of units in order, with their question and units."""

    @abstractmethod
    def references(self, passages: Mapping[int, Sequence[Passage]]) -> Iterable[tuple[int, WrittenReference]]:
        """Return the written summaries of units, with the unit, by name."""

    def with_targets(self, projects: Iterable[int]) -> set[int]:
        is_of_all = self.level == UnitLevel.QUESTION
        written = WrittenSummary.objects.current().filter(question__project__in=projects, passage__isnull=is_of_all)
        return set(written.order_by().values_list("question__project", flat=True).distinct())

    def materials(self, units: Sequence[int], *, pages: bool = False) -> dict[int, Material]:
        found = self.passages(units)
        texts = self._texts([passage for rows in found.values() for passage in rows], pages=pages)
        questions = self._questions({rows[0].question_id for rows in found.values()})
        references: dict[int, list[Reference]] = defaultdict(list)
        for unit, row in self.references(found):
            references[unit].append(Reference(row.unit, row.key, row.text, row.name))
        materials = {}
        for unit, rows in found.items():
            if all(texts.get(passage.pk) for passage in rows):
                inputs = tuple(InputText(texts[passage.pk], key=passage.key) for passage in rows)
                question = rows[0].question
                source = Source(unit, self.key_of(rows[0]), inputs, question=questions.get(question.pk, ""))
                materials[unit] = Material(source, None, (), question.pk, tuple(references[unit]))
        return materials

    def key_of(self, passage: Passage) -> str:
        return passage.key

    def sizes(self, units: Sequence[int], *, pages: bool = False) -> Mapping[int, int]:
        found = self.passages(units)
        passages = [passage for rows in found.values() for passage in rows]
        rows = _current(passages, pages=pages).values_list("passage").annotate(size=Sum(Length("text")))
        sizes: dict[int | None, int] = dict(rows)
        return {
            unit: sum(sizes[passage.pk] for passage in rows)
            for unit, rows in found.items()
            if all(sizes.get(passage.pk) for passage in rows)
        }

    @staticmethod
    def _texts(passages: Sequence[Passage], *, pages: bool) -> dict[int | None, str]:
        return dict(_current(passages, pages=pages).values_list("passage", "text"))

    @staticmethod
    def _questions(questions: Iterable[int]) -> dict[int, str]:
        rows = QuestionText.objects.current().filter(question__in=questions, passage=None)
        return dict(rows.values_list("question", "text"))


def _current(passages: Sequence[Passage], *, pages: bool) -> QuerySet[QuestionText]:
    part = Part.PAGE if pages else Part.PASSAGE
    return QuestionText.objects.current().filter(passage__in=passages, part=part).order_by()


class AnswerSource(_PassageSource):
    """Passages. The reference is a summary of the single passage."""

    level = UnitLevel.ANSWER
    splits = (SplitLevel.QUESTION,)
    group = "question__key"
    name = "passages (answers)"
    order = ("question_id", "position")

    def rows(self, project: Project) -> QuerySet[Any]:
        return Passage.objects.filter(question__project=project)

    def passages(self, units: Sequence[int]) -> dict[int, list[Passage]]:
        return {
            passage.unit_id: [passage]
            for passage in Passage.objects.filter(unit__in=units).select_related("question").order_by("pk")
        }

    def references(self, passages: Mapping[int, Sequence[Passage]]) -> Iterable[tuple[int, WrittenReference]]:
        unit_of: dict[int | None, int] = {rows[0].pk: unit for unit, rows in passages.items()}
        return ((unit_of[row.passage], row) for row in references_of_passages([pk for pk in unit_of if pk]))


class QuestionSource(_PassageSource):
    """Questions with at least one passage. The reference is a summary of all passages."""

    level = UnitLevel.QUESTION
    splits = (SplitLevel.QUESTION,)
    group = "key"
    name = "questions with all passages"

    def rows(self, project: Project) -> QuerySet[Any]:
        with_passages = Passage.objects.filter(question__project=project).order_by().values("question")
        return Question.objects.filter(project=project, pk__in=with_passages)

    def key_of(self, passage: Passage) -> str:
        return passage.question.key

    def passages(self, units: Sequence[int]) -> dict[int, list[Passage]]:
        found: dict[int, list[Passage]] = defaultdict(list)
        rows = Passage.objects.filter(question__unit__in=units).select_related("question")
        for passage in rows.order_by("question_id", "position", "pk"):
            found[passage.question.unit_id].append(passage)
        return found

    def references(self, passages: Mapping[int, Sequence[Passage]]) -> Iterable[tuple[int, WrittenReference]]:
        unit_of = {rows[0].question_id: unit for unit, rows in passages.items()}
        return ((unit_of[row.question], row) for row in references_of_questions(list(unit_of)))

    def skipped(self, project: Project) -> dict[str, int]:
        counts = Question.objects.filter(project=project).aggregate(
            without=Count("pk", filter=Q(passages__isnull=True), distinct=True)
        )
        return {"questions without a passage": counts["without"]}
