"""What is in force of the sentences of abstracts, and the texts that follow from their classes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from measures.rhetorical import BACKGROUND, TARGET, derived, derived_text
from projects.models import Decision
from projects.values.in_force import decisions_in_force

from ..models import AbstractReading, Sentence, SentenceMark

KIND = "sentences"
Task = AbstractReading.Task


@dataclass(frozen=True)
class Judged:
    """A sentence with what is in force of it: a class of MS^2, and what it is as evidence; "" where nobody has said."""

    sentence: Sentence
    rhetorical_class: str
    evidence: str

    @property
    def derived(self) -> str:
        """BACKGROUND, TARGET or OTHER, as MS^2 derives them; "" without a class."""
        return derived(self.rhetorical_class) if self.rhetorical_class else ""


@dataclass(frozen=True)
class DerivedTexts:
    """What MS^2 makes of the classes of an abstract: what a system may be told, and what it is to say."""

    background: str
    target: str


def judged(units: Iterable[int]) -> dict[int, list[Judged]]:
    """The sentences by the unit of the review, in their order, of the reviews of which something is in force. Three
    queries."""
    decisions = decisions_in_force(units, KIND)
    said: dict[tuple[str, int], str] = {}
    adopted = {(d.answer_id or d.imported_id, d.unit_id): field for (_, field), d in decisions.items()}
    marks = SentenceMark.objects.filter(reading__unit__in={unit for unit, _ in decisions}).order_by()
    columns = ("reading__answer", "reading__imported", "reading__unit", "reading__task", "sentence", "said")
    for answer, imported, unit, task, sentence, mark in marks.values_list(*columns):
        if adopted.get((answer or imported, unit)) == task:
            said[task, sentence] = mark
    found: dict[int, list[Judged]] = defaultdict(list)
    rows = Sentence.objects.filter(review__unit__in={unit for unit, _ in decisions}).order_by("review_id", "number")
    for row in rows.select_related("review"):
        of = row.review.unit_id if row.review else 0
        found[of].append(Judged(row, said.get((Task.CLASSES, row.pk), ""), said.get((Task.EVIDENCE, row.pk), "")))
    return dict(found)


def derived_texts(sentences: Iterable[Judged]) -> DerivedTexts | None:
    """Of the sentences of one abstract; None where they have no classes."""
    classes = [(one.rhetorical_class, one.sentence.text) for one in sentences if one.rhetorical_class]
    return DerivedTexts(derived_text(BACKGROUND, classes), derived_text(TARGET, classes)) if classes else None


def reviews_with() -> Exists:
    """For reviews: whether something is in force of the sentences of their abstracts."""
    return Exists(Decision.objects.filter(unit=OuterRef("unit"), kind=KIND).in_force())
