"""Written summaries as references: their names, such as "extractive" or "abstractive by P07"."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import CharField, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from projects.models import Member

from ..models import SummaryForm, WrittenSummary

#: Forms of written summaries, in the order of tables.
FORMS = [form.value for form in (SummaryForm.EXTRACTIVE, SummaryForm.ABSTRACTIVE)]


class WrittenReference(NamedTuple):
    """A current written summary and the name by which scores refer to it. ``passage``: null if of all passages."""

    question: int
    passage: int | None
    unit: int
    key: str
    text: str
    name: str


def reference_name(form: str, writer: str) -> str:
    """Return the name of a reference. ``writer``: a pseudonym, a name in an imported file, or "" if it has none."""
    return f"{form} by {writer}" if writer else form


def reference_order(name: str) -> tuple[int, str]:
    """Return the sort key of a name: extractive ones first."""
    form = name.partition(" ")[0]
    return (FORMS.index(form) if form in FORMS else len(FORMS)), name


def writer_of(summary: str = "") -> Coalesce:
    """Return an expression: the pseudonym of the author, or else the imported name. ``summary``: path to the row."""
    pseudonym = Member.objects.filter(
        user=OuterRef(f"{summary}author"), project=OuterRef(f"{summary}question__project")
    ).values("pseudonym")[:1]
    return Coalesce(Subquery(pseudonym), F(f"{summary}writer"), Value(""), output_field=CharField())


def references_of_passages(passages: Sequence[int]) -> Iterator[WrittenReference]:
    """Yield the current summaries of single passages, by name. One query."""
    return _references(WrittenSummary.objects.current().filter(passage__in=passages))


def references_of_questions(questions: Sequence[int]) -> Iterator[WrittenReference]:
    """Yield the current summaries of all passages of questions, by name. One query."""
    return _references(WrittenSummary.objects.current().filter(question__in=questions, passage=None))


def _references(summaries: QuerySet[WrittenSummary]) -> Iterator[WrittenReference]:
    fields = ("question", "passage", "unit", "unit__key", "text", "form", "by")
    rows = [
        WrittenReference(question, passage, unit, key, text, reference_name(form, writer))
        for question, passage, unit, key, text, form, writer in summaries.annotate(by=writer_of())
        .order_by("pk")
        .values_list(*fields)
    ]
    return iter(sorted(rows, key=lambda row: reference_order(row.name)))
