"""Prepare the rows of a file of MEDIQA-AnS."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Max

from projects.models import Import, Unit
from sql.bulk import BulkWriter

from ...models import Part, Passage, PublishedFile, Question, QuestionText, WrittenSummary
from .files import Value
from .records import Content

#: Types of units.
QUESTION, PASSAGE, SUMMARY = "question", "passage", "written summary"


class _Rows:
    """The rows of one import. Known questions and passages are looked up, the others are added."""

    def __init__(self, imported: Import, writer: BulkWriter) -> None:
        self.imported, self.writer = imported, writer
        project = imported.project
        self.questions = dict(Question.objects.filter(project=project).values_list("key", "pk"))
        self.passages = dict(Passage.objects.filter(question__project=project).values_list("key", "pk"))
        last = Question.objects.filter(project=project).aggregate(last=Max("position"))["last"]
        self.next_question = 0 if last is None else last + 1
        self.next_passage: dict[int, int] = defaultdict(int)
        counted = Passage.objects.filter(question__project=project).values_list("question")
        self.next_passage.update({pk: n + 1 for pk, n in counted.annotate(last=Max("position")).order_by()})

    def unit(self, type: str, key: str, **fields: Any) -> Unit:
        rows = [Unit(project=self.imported.project, type=type, key=key, imported=self.imported, **fields)]
        return self.writer.add(rows)[0]

    def question(self, key: str) -> int:
        if key not in self.questions:
            position, self.next_question = self.next_question, self.next_question + 1
            unit = self.unit(QUESTION, key, position=position)
            row = Question(project=self.imported.project, key=key, position=position, unit=unit, imported=self.imported)
            self.questions[key] = self.writer.add([row])[0].pk
        return self.questions[key]

    def passage(self, question: int, key: str, rating: int | None) -> int:
        if key not in self.passages:
            position = self.next_passage[question]
            self.next_passage[question] += 1
            unit = self.unit(PASSAGE, key, context=question, position=position)
            row = Passage(
                question_id=question, key=key, position=position, rating=rating, unit=unit, imported=self.imported
            )
            self.passages[key] = self.writer.add([row])[0].pk
        return self.passages[key]


def create(imported: Import, content: Content, new: Sequence[Value], writer: BulkWriter) -> None:
    """Prepare the rows of new values. Questions and passages get the order of the file."""
    rows = _Rows(imported, writer)
    said = content.values
    texts, summaries = [], []
    for value in new:
        question = rows.question(value.question)
        passage = None
        if value.passage:
            rating = said.get(Value("rating", value.question, value.passage))
            passage = rows.passage(question, value.passage, None if rating is None else int(rating))
        if value.kind in ("question", "text"):
            part = value.name or Part.QUESTION
            texts.append(
                QuestionText(
                    question_id=question, passage_id=passage, part=part, text=str(said[value]), imported=imported
                )
            )
        elif value.kind == "summary":
            key = f"{value.passage or value.question} {value.name}"
            summaries.append(
                WrittenSummary(
                    question_id=question,
                    passage_id=passage,
                    form=value.name,
                    text=str(said[value]),
                    imported=imported,
                    unit=rows.unit(SUMMARY, key, context=question),
                )
            )
    writer.add(texts)
    writer.add(summaries)
    writer.add([PublishedFile(imported=imported, file=content.file.key, skeleton=content.skeleton())])
