"""Task kind *write*: summaries of the passages of a question, written by people (MEDIQA-AnS).

The kind decides nothing: every writer's texts are kept, and become written summaries when the round closes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from rest_framework import serializers

from annotation.kinds.write import closing
from annotation.kinds.write.checking import asked_steps, check_steps, shown_steps
from annotation.kinds.write.options import (
    ASKED_PASSAGES,
    EVERY,
    LEAST_RATING,
    LIMIT_UNIT,
    LIMITS_REFUSE,
    OPTIONS,
    STARTS_FROM_EXTRACTIVE,
    joiner_of,
)
from annotation.kinds.write.serializers import WriteCardSerializer, WriteValueSerializer
from annotation.models import AskedPassage, Part, Passage, Question, QuestionText, WrittenStep
from annotation.questions.ratings import with_current_rating
from api.parameters import Parameter, Takes
from measures.spans import spans_as_cell
from measures.written import passage_ranges, sentence_count, title_end, word_count
from projects.kinds import Batch, Filter, Kind, Row, SkipReason, Value, groups
from projects.models import Answer, Assignment, Project, Round, Unit

UNIT = "question"
NOTHING, WRITTEN = "nothing relevant", "written"

FILTERS = (
    Filter(
        Parameter("question", Takes.TEXT, "Questions", help="Ids, separated by commas or spaces."),
        lambda units, keys: units.filter(question__key__in=keys.replace(",", " ").split()),
    ),
)


def asked_passages(options: Mapping[str, Any]) -> QuerySet[Any]:
    """Return the passages that a round with these options asks about, with their current ratings."""
    passages = with_current_rating(Passage.objects.all())
    return passages if options.get(ASKED_PASSAGES) == EVERY else passages.filter(current_rating__gte=LEAST_RATING)


class WriteKind(Kind):
    """The summaries of one question: of each passage and of all, extractive and abstractive."""

    key = "write"
    material = "questions"
    title = "Write summaries"
    description = "Write summaries of the passages that answer a question, in words of the passages and in your own."
    group = groups.CORPUS
    order = 140
    unit_types: Sequence[str] = (UNIT,)
    fields: Sequence[str] = ()
    decides = False
    #: People write for days and return to the same question.
    lease_seconds = 28 * 24 * 3600
    assumed_seconds = 1800.0
    options = OPTIONS
    filters: Sequence[Filter] = FILTERS
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The question or a passage is unclear"),
        SkipReason("not my field", "I cannot summarise this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = WriteCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = WriteValueSerializer
    part = "step"
    compares_writers = True
    #: BLEU of two texts takes 4 ms, and each answer has several texts: about a second for 12 answers of 3 people.
    answers_at_once = 12
    columns: Sequence[str] = (
        "step", "passage", "form", "status", "written_text", "chunks", "words", "sentences",
    )  # fmt: skip
    #: The passages of a question are stored with the round, and no question depends on another.
    rolls = True

    # Units

    def units(self, project: Project) -> QuerySet[Unit]:
        passages = Passage.objects.filter(question__unit=OuterRef("pk")).order_by()
        units = Unit.objects.filter(Exists(passages), project=project, type=UNIT, superseded_by=None)
        return units.order_by("question__position", "pk")

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        return units.filter(Exists(asked_passages(options).filter(question__unit=OuterRef("pk")).order_by()))

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """Store the passages that the round asks about."""
        passages = asked_passages(round.options).filter(question__unit__in=[unit for unit, _ in chosen])
        AskedPassage.objects.bulk_create(
            (AskedPassage(round=round, passage_id=pk) for pk in passages.values_list("pk", flat=True)),
            ignore_conflicts=True,
        )
        return chosen

    def discarded(self, round: Round) -> None:
        AskedPassage.objects.filter(round=round).delete()

    def closed(self, round: Round) -> None:
        closing.create_summaries(round)

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        rows = QuestionText.objects.current().filter(question__unit__in=list(units), passage=None)
        return dict(rows.values_list("question__unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Question.objects.filter(unit__in=list(units)).values_list("unit", "key"))

    # Cards and values

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        units = [assignment.unit_id for assignment in assignments]
        passages: dict[int, list[Any]] = {unit: [] for unit in units}
        for passage in _asked(round).filter(question__unit__in=units).select_related("question"):
            passages[passage.question.unit_id].append(passage)
        rows = QuestionText.objects.current().filter(passage__in=[one.pk for of in passages.values() for one in of])
        texts: dict[int | None, dict[str, str]] = {}
        for pk, part, text in rows.values_list("passage", "part", "text"):
            texts.setdefault(pk, {})[part] = text
        return Batch(self.texts(units), {"passages": passages, "texts": texts})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        passages = batch.extra["passages"][assignment.unit_id]
        options = round.options
        steps = asked_steps([one.key for one in passages], options)
        return {
            "question": batch.rows[assignment.unit_id],
            "passages": [_shown(one, batch.extra["texts"].get(one.pk, {})) for one in passages],
            "asked_steps": shown_steps(steps),
            "limit_unit": options.get(LIMIT_UNIT) or "words",
            "limits_refuse": bool(options.get(LIMITS_REFUSE)),
            "joiner": joiner_of(options),
            "starts_from_extractive": options.get(STARTS_FROM_EXTRACTIVE, True),
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        passages = _asked(assignment.round).filter(question__unit=assignment.unit_id)
        texts = _texts_of(passages)
        check_steps(value, {one.key: texts[one.pk][1] for one in passages if one.pk in texts}, assignment.round.options)

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        units = [answer.assignment.unit_id for answer, _ in answers]
        passages = list(Passage.objects.filter(question__unit__in=units).select_related("question"))
        by_key = {(one.question.unit_id, one.key): one.pk for one in passages}
        texts = _texts_of(passages)
        rows = []
        for answer, value in answers:
            unit = answer.assignment.unit_id
            rows += [
                WrittenStep(
                    unit_id=unit,
                    answer=answer,
                    number=number,
                    passage_id=by_key[unit, step["passage"]] if step["passage"] else None,
                    form=step["form"],
                    text=step["text"],
                    nothing=step["nothing"],
                    chunks=[
                        [texts[by_key[unit, one["passage"]]][0], one["start"], one["end"]] for one in step["chunks"]
                    ],
                )
                for number, step in enumerate(value["steps"])
            ]
        WrittenStep.objects.bulk_create(rows)

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        steps = list(WrittenStep.objects.filter(answer__in=list(answers)).select_related("passage"))
        used = {text for step in steps for text, _, _ in step.chunks}
        rows = QuestionText.objects.filter(pk__in=used).values_list("pk", "passage__key", "text")
        texts = {pk: (key, text) for pk, key, text in rows}
        values: dict[Any, Value] = {}
        for step in steps:
            chunks = [
                {"start": start, "end": end, "quote": texts[pk][1][start:end], "passage": texts[pk][0]}
                for pk, start, end in step.chunks
            ]
            values.setdefault(step.answer_id, {"steps": []})["steps"].append(
                {
                    "passage": step.passage.key if step.passage else "",
                    "form": step.form,
                    "text": step.text,
                    "chunks": chunks,
                    "nothing": step.nothing,
                }
            )
        return values

    # Rows and words

    def rows(self, value: Value) -> list[Row]:
        return [
            {
                "step": f"{step['passage'] or 'all'} {step['form']}",
                "passage": step["passage"] or "all",
                "form": step["form"],
                "status": NOTHING if step["nothing"] else WRITTEN,
                "written_text": step["text"],
                "chunks": "; ".join(
                    f"{one['passage']} {spans_as_cell([[(one['start'], one['end'], one['quote'])]])}"
                    for one in step["chunks"]
                ),
                "words": str(word_count(step["text"])),
                "sentences": str(sentence_count(step["text"])),
            }
            for step in value["steps"]
        ]

    def in_words(self, value: Value) -> dict[str, str]:
        steps = value["steps"]
        nothing = sum(step["nothing"] for step in steps)
        texts = f"{len(steps) - nothing} texts"
        return {"summaries": f"{texts}, {nothing} times nothing relevant" if nothing else texts}


def _asked(round: Round) -> QuerySet[Any]:
    """Return the passages that a round asks about, in order, with their current ratings."""
    if round.pk is None:  # the preview of a round
        passages = asked_passages(round.options)
    else:
        asked = AskedPassage.objects.filter(round=round, passage=OuterRef("pk")).order_by()
        passages = with_current_rating(Passage.objects.filter(Exists(asked)))
    return passages.order_by("position", "pk")


def _texts_of(passages: Iterable[Passage]) -> dict[int | None, tuple[int, str]]:
    """Return the id and the text that is summarised of each passage: the passage, otherwise the whole page."""
    rows = QuestionText.objects.current().filter(
        passage__in=[one.pk for one in passages], part__in=(Part.PASSAGE, Part.PAGE)
    )
    return {passage: (pk, text) for passage, pk, text in rows.order_by("part").values_list("passage", "pk", "text")}


def _shown(passage: Any, texts: Mapping[str, str]) -> dict[str, Any]:
    text = texts.get(Part.PASSAGE) or texts.get(Part.PAGE, "")
    return {
        "key": passage.key,
        "text": text,
        "url": texts.get(Part.URL, ""),
        "is_page": Part.PASSAGE not in texts and Part.PAGE in texts,
        "rating": passage.current_rating,
        "title_end": title_end(text),
        "sentences": [{"start": start, "end": end} for start, end in passage_ranges(text)],
    }
