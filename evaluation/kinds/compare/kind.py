"""The compare kind: choose the better of two texts by the criteria of a protocol."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from rest_framework import serializers

from api.fields import at_most
from api.parameters import Parameter, Takes
from api.problems import Refused
from evaluation.kinds.pages import PageKind
from evaluation.kinds.rate.serializers import PageCardSerializer
from evaluation.kinds.scales import scales_of
from evaluation.kinds.shown import TextIds, text_ids
from evaluation.models import Preference
from evaluation.protocols.parts import NEITHER, TIE, Content
from measures.agreement import Scale
from projects.kinds import Row, Value
from projects.kinds.majority import AggregationResult, majority
from projects.models import Answer, Round, Unit
from sql.compiled import insert

Plain = serializers.Serializer[Any]


class PairCardSerializer(PageCardSerializer):
    """A page of two texts, the left one first."""


class PairChoiceSerializer(Plain):
    """A choice by one criterion. ``choice`` is the key of the better text, ``tie`` or ``neither``."""

    criterion = serializers.CharField(max_length=40)
    choice = serializers.CharField(max_length=8)
    reason = serializers.CharField(allow_blank=True, default="", max_length=2000)


class CompareValueSerializer(Plain):
    left = serializers.CharField(max_length=8)
    right = serializers.CharField(max_length=8)
    said = PairChoiceSerializer(many=True, **at_most(40))


LEFT, RIGHT = "left", "right"


class CompareKind(PageKind):
    """Two texts of one source, side by side."""

    key = "compare"
    title = "Compare two summaries"
    description = "Which of two summaries is better?"
    order = 210
    protocol_kind = "compare"
    assumed_seconds = 60.0
    fields: Sequence[str] = ()
    options = (
        Parameter(
            "pairs_a_source",
            Takes.INTEGER,
            "Pairs a source",
            minimum=1,
            maximum=1000,
            help="Empty: all pairs. Otherwise all pairs of systems are equally frequent.",
        ),
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
            "Attention checks (% of the pairs)",
            default=0,
            minimum=0,
            maximum=50,
            required=True,
            help="Pairs with one degraded text.",
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
    card_serializer: type[serializers.Serializer[Any]] = PairCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = CompareValueSerializer
    columns: Sequence[str] = ("criterion", "choice", "chosen", "left", "right", "reason")
    comments = ("reason",)

    def check_value(
        self, content: Content, texts: Mapping[str, str], studies: Sequence[str], value: Mapping[str, Any]
    ) -> None:
        if {value[LEFT], value[RIGHT]} != set(texts):
            raise Refused.field("value.left", "Expected the two texts of the page, one on each side.")
        self._check_said(content, value, set(texts))

    @staticmethod
    def _check_said(content: Content, value: Mapping[str, Any], codes: set[str]) -> None:
        asked = {criterion.key: criterion for criterion in content.criteria}
        said = [one["criterion"] for one in value["said"]]
        if sorted(said) != sorted(asked):
            raise Refused.field("value.said", f"Expected one answer for each of: {', '.join(asked)}.")
        for n, one in enumerate(value["said"]):
            criterion = asked[one["criterion"]]
            offered = {option.value for option in criterion.scale.options} & {TIE, NEITHER}
            if one["choice"] not in codes | offered:
                raise Refused.field(
                    f"value.said.{n}.choice", "Expected one of the two texts, or another option of the protocol."
                )
            if one["choice"] in criterion.reason.required_at and not one["reason"].strip():
                raise Refused.field(f"value.said.{n}.reason", "Give a reason.")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        insert(self.rows_to_store(said, text_ids(answer.assignment.unit_id for answer, _ in said)))

    def rows_to_store(self, said: Sequence[tuple[Answer, Value]], texts: TextIds) -> list[Preference]:
        rows: list[Preference] = []
        for answer, value in said:
            unit = answer.assignment.unit_id
            side = {value[LEFT]: LEFT, value[RIGHT]: RIGHT}
            rows += [
                Preference(
                    answer=answer,
                    left_id=texts[unit, value[LEFT]],
                    right_id=texts[unit, value[RIGHT]],
                    number=number,
                    criterion=one["criterion"],
                    choice=side.get(one["choice"], one["choice"]),
                    reason=one["reason"],
                )
                for number, one in enumerate(value["said"])
            ]
        return rows

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Preference.objects.filter(answer__in=list(answers)).order_by("answer_id", "number")
        found: dict[Any, Value] = {}
        for row in rows.select_related("left", "right").defer("left__displayed_text", "right__displayed_text"):
            sides = {LEFT: row.left.code, RIGHT: row.right.code}
            value = found.setdefault(row.answer_id, {**sides, "said": []})
            value["said"].append(
                {"criterion": row.criterion, "choice": sides.get(row.choice, row.choice), "reason": row.reason}
            )
        return found

    # Results

    def scales_of(self, round: Round) -> Sequence[Scale]:
        return scales_of(self.content_of(round))

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        return [majority(name, answers, partial(_choice, name))[0] for name in self.fields_of(round)]

    def part_of(self, field: str, value: Value) -> Value:
        said = [one for one in value.get("said", []) if one["criterion"] == field]
        return {**value, "said": said} if said else {}

    def merged(self, parts: Sequence[Value]) -> Value:
        answered = [part for part in parts if part]
        return {**answered[0], "said": [one for part in answered for one in part["said"]]} if answered else {}

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        return _choice(field, one) == _choice(field, other)

    def rows(self, value: Value) -> list[Row]:
        """Return a row for each criterion. ``choice`` is relative to the order of the codes, not to the sides."""
        first = min(value[LEFT], value[RIGHT])
        names = {code: "first" if code == first else "second" for code in (value[LEFT], value[RIGHT])}
        return [
            {
                "criterion": one["criterion"],
                "choice": names.get(one["choice"], one["choice"]),
                "chosen": one["choice"],
                "left": value[LEFT],
                "right": value[RIGHT],
                "reason": one["reason"],
            }
            for one in value["said"]
        ]

    def sentence(self, field: str, value: Value) -> str:
        choice = _choice(field, value)
        return {value[LEFT]: "the left one", value[RIGHT]: "the right one"}.get(choice or "", choice or "")

    def in_words(self, value: Value) -> dict[str, str]:
        return {one["criterion"]: self.sentence(one["criterion"], value) for one in value.get("said", [])}


def _choice(field: str, value: Value) -> str | None:
    return next((one["choice"] for one in value.get("said", []) if one["criterion"] == field), None)
