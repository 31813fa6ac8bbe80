"""The document level, M3's level 1: what a review of the data set concludes, and the abstracts of its studies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from measures.abstracts import conclusions_of
from projects.models import Project

from ..models import Level, Review, Study, Target
from .in_force import readings_in_force
from .retrieved import of_data_set

#: Reviews read at once, each with the abstracts of its studies.
BATCH = 50
#: What the target of a document is made of.
Origin = Literal["conclusions", "picked sentences", ""]


@dataclass(frozen=True)
class Document:
    """What the data base has for one review: ``text`` is empty where nothing says what it concludes, and ``studies``
    are those with an abstract, in the order in which they came."""

    review: Review
    text: str
    origin: Origin
    studies: Sequence[Study]


def reviews(project: Project) -> QuerySet[Review]:
    """The reviews that have a document level: those of the data set but for any that people read for evidence and found
    none in."""
    read = readings_in_force().filter(unit=OuterRef("unit"))
    picked = Target.objects.current().filter(review=OuterRef("pk"), level=Level.SENTENCE)
    return of_data_set(project).filter(~Exists(read) | Exists(picked))


def documents(project: Project) -> Iterator[list[Document]]:
    """The document of each review, a batch at a time; three queries a batch."""
    picked = Target.objects.current().filter(level=Level.SENTENCE).order_by("sentence__number", "position", "pk")
    read = Study.objects.filter(~Q(abstract="")).order_by("pk")
    rows = reviews(project).order_by("pk").select_related("unit").prefetch_related(
        Prefetch("targets", picked, to_attr="picked"), Prefetch("studies", read, to_attr="read")
    ).iterator(chunk_size=BATCH)  # fmt: skip
    while some := list(islice(rows, BATCH)):
        yield [_document(review) for review in some]


def _document(review: Any) -> Document:
    concluded = conclusions_of(review.abstract, ((s["category"], s["start"], s["end"]) for s in review.sections))
    said = concluded or " ".join(target.text for target in review.picked)
    origin: Origin = "conclusions" if concluded else "picked sentences" if said else ""
    return Document(review, said, origin, review.read)
