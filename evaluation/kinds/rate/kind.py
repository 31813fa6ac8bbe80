"""The rate kind: rate each text of a page by the criteria of a protocol."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from rest_framework import serializers

from api.parameters import Parameter, Takes
from measures.agreement import Scale
from projects.kinds import Row, Value
from projects.kinds.majority import AggregationResult, majority
from projects.models import Answer, Round, Unit
from sql.compiled import insert

from ...models import Rating, RatingSpan
from ...protocols.parts import Content
from ...protocols.parts import Kind as ProtocolKey
from ..pages import PageKind
from ..scales import NOT_APPLICABLE, scales_of, unmeasured
from ..shown import TextIds, text_ids
from .checking import check
from .serializers import PageCardSerializer, RateValueSerializer

#: Separator between the marks of a row in one cell.
BETWEEN = " | "


class RateKind(PageKind):
    """Each text of a page is rated separately, criterion by criterion."""

    key = "rate"
    title = "Rate summaries"
    description = "Scores of each summary by the criteria of a protocol."
    order = 200
    protocol_kind: ProtocolKey = "rate"
    # Time to read one source and rate several summaries.
    assumed_seconds = 150.0
    fields: Sequence[str] = ()
    options: Sequence[Parameter] = (
        Parameter(
            "one_form",
            Takes.SWITCH,
            "Show all texts in one form",
            default=True,
            help="Normalises case, spaces and quotation marks, so that they do not reveal the system.",
        ),
        Parameter(
            "checks",
            Takes.INTEGER,
            "Attention checks (% of the pages)",
            default=0,
            minimum=0,
            maximum=50,
            required=True,
            help="Pages with a degraded text among the others.",
        ),
        Parameter(
            "exclude_checks",
            Takes.INTEGER,
            "Leave out raters who fail more than this share of checks (%)",
            minimum=0,
            maximum=100,
            help="Declared in advance. Results are reported with and without these raters.",
        ),
        Parameter(
            "exclude_fast",
            Takes.SWITCH,
            "Leave out implausibly fast pages",
            default=False,
            help="Declared in advance. Results are reported with and without these pages.",
        ),
    )
    policy: Sequence[Parameter] = (
        Parameter(
            "points_apart",
            Takes.INTEGER,
            "Tolerance (scale points)",
            default=1,
            minimum=0,
            maximum=10,
            required=True,
            help="Applies when answers are compared with gold, as in practice rounds.",
        ),
    )
    card_serializer: type[serializers.Serializer[Any]] = PageCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = RateValueSerializer
    columns: Sequence[str] = ("text", "criterion", "value", "prefilled", "reason", "marks")
    part = "text"
    comments: Sequence[str] = ("reason",)

    def check_value(
        self, content: Content, texts: Mapping[str, str], studies: Sequence[str], value: Mapping[str, Any]
    ) -> None:
        check(content, texts, studies, value)

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        marked = self._ratings(said, text_ids(answer.assignment.unit_id for answer, _ in said))
        insert([rating for rating, _ in marked])
        if spans := [span for rating, one in marked for span in _spans(rating, one)]:
            insert(spans)

    def rows_to_store(self, said: Sequence[tuple[Answer, Value]], texts: TextIds) -> list[Rating]:
        return [rating for rating, _ in self._ratings(said, texts)]

    def _ratings(self, said: Sequence[tuple[Answer, Value]], texts: TextIds) -> list[tuple[Rating, Value]]:
        return [
            (
                Rating(
                    answer=answer,
                    text_id=texts[answer.assignment.unit_id, text["text"]],
                    position=position,
                    number=number,
                    criterion=one["criterion"],
                    value=one["value"],
                    is_na=one["na"],
                    is_prefilled=one["prefilled"],
                    reason=one["reason"],
                ),
                one,
            )
            for answer, value in said
            for position, text in enumerate(value["texts"])
            for number, one in enumerate(text["said"])
        ]

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Rating.objects.filter(answer__in=list(answers)).order_by("answer_id", "position", "number")
        found: dict[Any, Value] = {}
        spans: dict[int, list[RatingSpan]] = defaultdict(list)
        for span in RatingSpan.objects.filter(rating__answer__in=list(answers)).order_by("pk"):
            spans[span.rating_id].append(span)
        for row in rows.select_related("text").defer("text__displayed_text"):
            texts = found.setdefault(row.answer_id, {"texts": []})["texts"]
            if not texts or texts[-1]["text"] != row.text.code:
                texts.append({"text": row.text.code, "said": []})
            texts[-1]["said"].append(_said(row, spans[row.pk]))
        return found

    # Results

    def scales_of(self, round: Round) -> Sequence[Scale]:
        return scales_of(self.content_of(round))

    def unmeasured(self, round: Round) -> Sequence[str]:
        return unmeasured(self.content_of(round))

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        return [majority(name, answers, partial(by_text, name))[0] for name in self.fields_of(round)]

    def part_of(self, field: str, value: Value) -> Value:
        texts = [
            {"text": text["text"], "said": [one for one in text["said"] if one["criterion"] == field]}
            for text in value.get("texts", [])
        ]
        return {"texts": [text for text in texts if text["said"]]} if any(t["said"] for t in texts) else {}

    def merged(self, parts: Sequence[Value]) -> Value:
        said: dict[str, list[Any]] = {}
        for part in parts:
            for text in part.get("texts", []):
                said.setdefault(text["text"], []).extend(text["said"])
        return {"texts": [{"text": code, "said": of} for code, of in said.items()]} if said else {}

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        return by_text(field, one) == by_text(field, other)

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the share of texts with different ratings."""
        mine, theirs = dict(by_text(field, one)), dict(by_text(field, other))
        codes = set(mine) | set(theirs)
        return sum(mine.get(code) != theirs.get(code) for code in codes) / len(codes) if codes else 0.0

    def is_correct(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        """Whether every text is rated within the round's tolerance of the expected value.

        Return None for free texts.
        """
        criterion = self.content_of(round).criterion(field)
        if criterion.scale.type == "text":
            return None
        mine, wanted = dict(by_text(field, said)), dict(by_text(field, expected))
        if criterion.scale.type not in ("likert", "slider"):
            return mine == wanted
        places = [option.value for option in criterion.scale.options]
        allowed = int(round.policy.get("points_apart", 1))
        return set(mine) == set(wanted) and all(_near(mine[c], wanted[c], places, allowed) for c in wanted)

    def rows(self, value: Value) -> list[Row]:
        """Return a row for each rating."""
        return [
            {
                "text": text["text"],
                "criterion": one["criterion"],
                "value": NOT_APPLICABLE if one["na"] else one["value"],
                "prefilled": "yes" if one["prefilled"] else "",
                "reason": one["reason"],
                "marks": BETWEEN.join(f"{s['start']}-{s['end']}:{s['category']}:{s['severity']}" for s in one["spans"]),
            }
            for text in value["texts"]
            for one in text["said"]
        ]

    def sentence(self, field: str, value: Value) -> str:
        return ", ".join(said or "nothing" for _, said in by_text(field, value))

    def in_words(self, value: Value) -> dict[str, str]:
        fields = dict.fromkeys(one["criterion"] for text in value.get("texts", []) for one in text["said"])
        return {field: self.sentence(field, value) for field in fields}


def by_text(field: str, value: Value) -> tuple[tuple[str, str], ...]:
    """Return the (code, value) pairs of one field, sorted by code."""
    return tuple(
        sorted(
            (text["text"], NOT_APPLICABLE if one["na"] else one["value"])
            for text in value.get("texts", [])
            for one in text["said"]
            if one["criterion"] == field
        )
    )


def _near(mine: str, wanted: str, places: Sequence[str], allowed: int) -> bool:
    if mine == wanted or mine not in places or wanted not in places:
        return mine == wanted
    return abs(places.index(mine) - places.index(wanted)) <= allowed


def _spans(rating: Rating, one: Value) -> list[RatingSpan]:
    marks = [
        RatingSpan(
            rating=rating,
            is_quote=False,
            within="summary",
            start=s["start"],
            end=s["end"],
            quote=s["quote"],
            category=s["category"],
            severity=s["severity"],
            reason=s["reason"],
        )
        for s in one["spans"]
    ]
    return marks + [
        RatingSpan(
            rating=rating,
            is_quote=True,
            within=q["in"],
            study=q["study"],
            start=q["start"],
            end=q["end"],
            quote=q["quote"],
        )
        for q in one["quotes"]
    ]


def _said(row: Rating, spans: Sequence[RatingSpan]) -> Value:
    return {
        "criterion": row.criterion,
        "value": row.value,
        "na": row.is_na,
        "prefilled": row.is_prefilled,
        "reason": row.reason,
        "spans": [
            {
                "start": s.start,
                "end": s.end,
                "quote": s.quote,
                "category": s.category,
                "severity": s.severity,
                "reason": s.reason,
            }
            for s in spans
            if not s.is_quote
        ],
        "quotes": [
            {"in": s.within, "start": s.start, "end": s.end, "quote": s.quote, "study": s.study}
            for s in spans
            if s.is_quote
        ],
    }
