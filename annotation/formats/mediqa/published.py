"""Rebuild the files of MEDIQA-AnS from rows."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from projects.models import Project

from ...models import Part, Passage, PublishedFile, Question, QuestionText, WrittenSummary
from ...questions.ratings import with_current_rating
from .files import ANSWER, FILES, SINGLE, File, Json, Value
from .records import dumped, rebuilt

Values = dict[Value, str | int]


def values_of(project: Project, *, imported: bool = False) -> Values:
    """Return the current values of a project, or those that were ``imported``. Four queries.

    A summary without the name of a writer comes before others, the older one before the newer one.
    """
    questions = dict(Question.objects.filter(project=project).values_list("pk", "key"))
    values: Values = {}
    passages: dict[int | None, str] = {None: ""}
    of_project = {"question__project": project}
    rated = with_current_rating(Passage.objects.filter(**of_project))
    rating_name = "rating" if imported else "current_rating"
    for pk, key, question, rating in rated.values_list("pk", "key", "question", rating_name):
        passages[pk] = key
        if rating:
            values[Value("rating", questions[question], key)] = rating
    texts = QuestionText.objects.filter(**of_project)
    texts = texts.filter(version=1) if imported else texts.current()
    for question, passage, part, text in texts.values_list("question", "passage", "part", "text"):
        name = "" if part == Part.QUESTION else part
        values[Value("text" if name else "question", questions[question], passages[passage], name)] = text
    summaries = WrittenSummary.objects.filter(**of_project)
    summaries = summaries.filter(version=1, writer="", author=None) if imported else summaries.current()
    columns = ("question", "passage", "form", "text")
    for question, passage, form, text in summaries.order_by("writer", "pk").values_list(*columns):
        values.setdefault(Value("summary", questions[question], passages[passage], form), text)
    return values


def files(project: Project) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file that the rows can fill.

    Imported files keep their order and their own fields. Entries that were not imported with the file follow.
    """
    values = values_of(project)
    if not values:
        return
    skeletons: dict[str, Json] = {}
    stored = PublishedFile.objects.filter(imported__project=project).order_by("pk")
    for key, skeleton in stored.values_list("file", "skeleton"):
        skeletons[key] = skeletons.get(key, {}) | json.loads(skeleton)
    passages: dict[str, list[str]] = {
        key: [] for key in Question.objects.filter(project=project).values_list("key", flat=True)
    }
    rows = Passage.objects.filter(question__project=project).order_by("question__position", "position")
    for question, key in rows.values_list("question__key", "key"):
        passages[question].append(key)
    for file in FILES:
        content = rebuilt(file, skeletons.get(file.key, {}), values)
        for key, entry in _entries(file, passages, values):
            content.setdefault(key, entry)
        if content:
            yield f"{file.key}.json", dumped(content)


def _entries(file: File, passages: Mapping[str, list[str]], values: Values) -> Iterator[tuple[str, Json]]:
    """Yield the entries of a file whose values are all known, in the order of questions and passages."""
    for question, keys in passages.items():
        for entry in _empty_entries(file, question, keys):
            if all(value.kind == "id" or value in values for _, value in file.values(entry)):
                yield from rebuilt(file, entry, values).items()


def _empty_entries(file: File, question: str, passages: list[str]) -> Iterator[Json]:
    """Yield the entries of a question without their values, as files of one entry."""
    nothing: dict[str, Any] = dict.fromkeys(file.keys)
    if file.scope == SINGLE:
        yield from ({key: nothing | {"question_id": question}} for key in passages)
    elif passages:
        answer = dict.fromkeys(name for name, _, _ in ANSWER)
        own = {key: dict(answer) if file.is_primary else [None, None] for key in passages}
        yield {question: nothing | {file.inside: own}}
