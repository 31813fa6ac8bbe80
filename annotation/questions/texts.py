"""Current texts of questions, passages and pages, and addresses of pages, in corpus order."""

from collections.abc import Iterator

from django.db.models import F, OuterRef, Subquery, TextField, Value
from django.db.models.functions import Coalesce

from projects.models import Project

from ..models import Part, Passage, QuestionText

COLUMNS = ("question", "passage", "part", "part_text")
_BATCH = 500


def parts(project: Project) -> Iterator[dict[str, str]]:
    """Yield each text with the keys of its question and passage, then the address of each passage, empty if unknown."""
    texts = QuestionText.objects.current().filter(question__project=project).exclude(part=Part.URL)
    texts = texts.order_by("question__position", "question", F("passage__position").asc(nulls_first=True), "part")
    for row in texts.values_list("question__key", "passage__key", "part", "text").iterator(chunk_size=_BATCH):
        question, passage, part, text = row
        yield dict(zip(COLUMNS, (question, passage or "", part, text), strict=True))
    urls = QuestionText.objects.current().filter(passage=OuterRef("pk"), part=Part.URL).values("text")
    passages = Passage.objects.filter(question__project=project).annotate(
        url=Coalesce(Subquery(urls[:1]), Value(""), output_field=TextField())
    )
    ordered = passages.order_by("question__position", "question", "position", "pk")
    for question, passage, url in ordered.values_list("question__key", "key", "url").iterator(chunk_size=_BATCH):
        yield dict(zip(COLUMNS, (question, passage, Part.URL.value, url), strict=True))
