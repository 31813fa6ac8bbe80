"""Written summaries as the texts of a rating round: each writer's summaries of one type are a compared system."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Part, Passage, QuestionText, SummaryForm, WrittenSummary
from projects.models import Member, Project

from .sources import PlannedSource

#: Beginning of the id of a writer in the options of a round. Ids of runs are numbers.
PREFIX = "written"
IMPORTED = "imported"
#: Levels of the sources: a passage, or a question with all its passages.
ANSWER, QUESTION = "answer", "question"
LEVELS = {ANSWER: "of a passage", QUESTION: "of all passages"}


class Writer(NamedTuple):
    """A writer of summaries of one type. ``member`` is None for a writer of an imported file, who has a ``name``."""

    level: str
    form: str
    member: int | None
    name: str = ""

    @property
    def id(self) -> str:
        return f"{PREFIX}:{self.level}:{self.form}:{self.member or ''}:{self.name}"

    @classmethod
    def from_id(cls, text: str) -> Self:
        _, level, form, member, name = text.split(":", 4)
        return cls(level, form, int(member) if member else None, name)

    def summaries(self) -> QuerySet[WrittenSummary]:
        """Return the texts that are not empty. A newer version comes later."""
        rows = WrittenSummary.objects.current().filter(form=self.form, passage__isnull=self.level == QUESTION)
        if self.member is None:
            rows = rows.filter(author=None, writer=self.name)
        else:
            rows = rows.filter(answer__author=self.member)
        return rows.exclude(text="").order_by("version", "pk")

    @property
    def source(self) -> str:
        """Return the path from a summary to the unit of its source."""
        return "question__unit" if self.level == QUESTION else "passage__unit"

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the newest text of each source unit."""
        rows = self.summaries().filter(**{f"{self.source}__in": list(units)})
        return dict(rows.values_list(self.source, "text"))

    def has_written(self) -> Q:
        """Return a condition on source units."""
        return Q(Exists(self.summaries().filter(**{self.source: OuterRef("pk")}).order_by()))


def offered(project: Project) -> dict[str, str]:
    """Return the label of each writer by id. Three queries."""
    rows = WrittenSummary.objects.current().filter(question__project=project).exclude(text="").order_by()
    writers = [
        Writer(level, *row)
        for level in LEVELS
        for row in rows.filter(passage__isnull=level == QUESTION)
        .values_list("form", "answer__author", "writer")
        .distinct()
    ]
    names = _names(project)
    writers.sort(key=lambda one: (one.level != QUESTION, one.form, name_of(one, names)))
    return {one.id: name_of(one, names) for one in writers}


def named(project: Project, ids: Sequence[str]) -> list[tuple[str, Writer]]:
    """Return the writers of a project's options with their names."""
    names = _names(project)
    writers = [Writer.from_id(text) for text in ids]
    return [(name_of(one, names), one) for one in writers if one.member is None or one.member in names]


def _names(project: Project) -> dict[int, str]:
    return dict(Member.objects.filter(project=project).values_list("pk", "pseudonym"))


def name_of(writer: Writer, names: dict[int, str]) -> str:
    who = names.get(writer.member, "") if writer.member else writer.name or IMPORTED
    return f"{SummaryForm(writer.form).label} {LEVELS[writer.level]}, {who}"


def authors(ids: Iterable[str]) -> set[int]:
    """Return the members whose texts are compared."""
    return {one.member for one in map(Writer.from_id, ids) if one.member}


def source_units() -> Q:
    """Return a condition on the units whose written summaries can be rated."""
    written = WrittenSummary.objects.current().exclude(text="").order_by()
    of_question = written.filter(passage=None, question__unit=OuterRef("pk"))
    return Q(Exists(of_question)) | Q(Exists(written.filter(passage__unit=OuterRef("pk"))))


def sources_of(units: Sequence[int]) -> list[PlannedSource]:
    """Return the question and the passages of each unit as raters see them, in the given order."""
    passages: dict[int, list[Passage]] = {}
    rows = Passage.objects.filter(Q(unit__in=units) | Q(question__unit__in=units)).select_related("question")
    for passage in rows.order_by("question_id", "position", "pk"):
        for unit in {passage.unit_id, passage.question.unit_id} & set(units):
            passages.setdefault(unit, []).append(passage)
    questions = {one.question_id for of_unit in passages.values() for one in of_unit}
    texts: dict[tuple[int, int | None], dict[str, str]] = {}
    current = QuestionText.objects.current().filter(question__in=questions).exclude(part=Part.URL)
    for question, pk, part, text in current.values_list("question", "passage", "part", "text"):
        texts.setdefault((question, pk), {})[part] = text
    return [
        PlannedSource(unit, None, "", of_unit[0].question.key, _displayed(of_unit, texts), None)
        for unit in units
        if (of_unit := passages.get(unit))
    ]


def _displayed(passages: Sequence[Passage], texts: dict[tuple[int, int | None], dict[str, str]]) -> dict[str, Any]:
    question = passages[0].question_id
    shown = []
    for passage in passages:
        of_passage = texts.get((question, passage.pk), {})
        shown.append({"title": "", "text": of_passage.get(Part.PASSAGE) or of_passage.get(Part.PAGE, "")})
    return {"query": texts.get((question, None), {}).get(Part.QUESTION, ""), "title": "", "studies": shown}
