"""The document level (M3's level 1): the conclusions of each review, and the abstracts of its studies."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from annotation.clusters.gold import current_readings
from annotation.pubmed.records import data_set_reviews
from measures.abstracts import BACKGROUND, TARGET, conclusions_of, derived, derived_text
from projects.gold.queries import current_decisions
from projects.jobs.queries import job_summary
from projects.models import Decision, Project
from sql.batches import in_batches

from ..models import AbstractReading, Inclusion, Input, Level, Review, Sentence, SentenceMark, Target

#: Number of reviews read at once, each with the abstracts of its studies.
BATCH = 50
#: Source of a document's target text.
Origin = Literal["conclusions", "picked sentences", ""]


@dataclass(frozen=True)
class Document:
    """The data for the document of one review.

    ``text`` is empty if there are neither conclusions nor picked sentences. ``studies`` holds the ids of the included
    studies with an abstract, in the order of the review.
    """

    review: Review
    text: str
    origin: Origin
    studies: Sequence[int]


def reviews(project: Project) -> QuerySet[Review]:
    """Return the reviews that have a document: the data set without reviews that were read and contain no evidence."""
    if not current_readings().filter(unit__review__project=project).exists():
        return data_set_reviews(project)
    read = current_readings().filter(unit=OuterRef("unit"))
    picked = Target.objects.current().filter(review=OuterRef("pk"), level=Level.SENTENCE)
    return data_set_reviews(project).filter(~Exists(read) | Exists(picked))


def documents(project: Project, after: int = 0) -> Iterator[list[Document]]:
    """Yield the documents of all reviews with a higher id than ``after`` in batches, in the order of their ids.

    Needs three queries per batch, and one for all.
    """
    picked = Target.objects.current().filter(level=Level.SENTENCE).order_by("sentence__number", "position", "pk")
    read = Inclusion.objects.included().exclude(study__abstract="")
    rows = (
        reviews(project)
        .filter(pk__gt=after)
        .order_by("pk")
        .select_related("unit")
        .prefetch_related(Prefetch("targets", picked, to_attr="picked"), Prefetch("inclusions", read, to_attr="read"))
    )
    for batch in in_batches(rows, BATCH):
        yield [_document(review) for review in batch]


def _document(review: Any) -> Document:
    conclusions = conclusions_of(review.abstract, ((s["category"], s["start"], s["end"]) for s in review.sections))
    text = conclusions or " ".join(target.text for target in review.picked)
    origin: Origin = "conclusions" if conclusions else "picked sentences" if text else ""
    return Document(review, text, origin, [inclusion.study_id for inclusion in review.read])


SENTENCES = "sentences"
Task = AbstractReading.Task


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence with its current MS^2 class and its current value as evidence. Undecided values are ""."""

    sentence: Sentence
    rhetorical_class: str
    evidence: str

    @property
    def derived(self) -> str:
        """The MS^2 class derived from the rhetorical class: BACKGROUND, TARGET or OTHER. Empty without a class."""
        return derived(self.rhetorical_class) if self.rhetorical_class else ""


@dataclass(frozen=True)
class DerivedTexts:
    """The texts that MS^2 derives from the classes of an abstract: the background (a system's input) and the target."""

    background: str
    target: str


def judged_sentences(units: Iterable[int]) -> dict[int, list[JudgedSentence]]:
    """Return the sentences of each review with a current decision, in order and by the unit of the review.

    Needs three queries.
    """
    decisions = current_decisions(units, SENTENCES)
    values: dict[tuple[str, int], str] = {}
    adopted = {(d.answer_id or d.imported_id, d.unit_id): field for (_, field), d in decisions.items()}
    marks = SentenceMark.objects.filter(reading__unit__in={unit for unit, _ in decisions}).order_by()
    columns = ("reading__answer", "reading__imported", "reading__unit", "reading__task", "sentence", "label")
    for answer, imported, unit, task, sentence, mark in marks.values_list(*columns):
        if adopted.get((answer or imported, unit)) == task:
            values[task, sentence] = mark
    by_unit: dict[int, list[JudgedSentence]] = defaultdict(list)
    rows = Sentence.objects.filter(review__unit__in={unit for unit, _ in decisions}).order_by("review_id", "number")
    for row in rows.select_related("review"):
        unit_id = row.review.unit_id if row.review else 0
        rhetorical_class, evidence = (values.get((task, row.pk), "") for task in (Task.CLASSES, Task.EVIDENCE))
        by_unit[unit_id].append(JudgedSentence(row, rhetorical_class, evidence))
    return dict(by_unit)


def derived_texts(sentences: Iterable[JudgedSentence]) -> DerivedTexts | None:
    """Return the derived texts of one abstract, or None if its sentences have no classes."""
    classes = [(judged.rhetorical_class, judged.sentence.text) for judged in sentences if judged.rhetorical_class]
    return DerivedTexts(derived_text(BACKGROUND, classes), derived_text(TARGET, classes)) if classes else None


def has_judged_sentences() -> Exists:
    """Return a condition on reviews: a current decision exists on the sentences of the abstract."""
    return Exists(Decision.objects.filter(unit=OuterRef("unit"), kind=SENTENCES).current())


MAKE_DOCUMENTS = "make_documents"


def overview(project: Project) -> dict[str, Any]:
    """Return the number of documents and the newest job. Needs a fixed number of queries."""
    count = Target.objects.current().filter(project=project, level=Level.DOCUMENT).count()
    return {"reviews": reviews(project).count(), "made": count, **job_summary(project, MAKE_DOCUMENTS)}


def targets(review: Review) -> QuerySet[Target]:
    """Return the documents and sentences of a review with their inputs."""
    queryset = Target.objects.current().filter(review=review).order_by("level", "position")
    return queryset.prefetch_related(
        Prefetch("inputs", Input.objects.current().with_source_text().select_related("study").order_by("position"))
    )
