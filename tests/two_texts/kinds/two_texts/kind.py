"""Five points for each of two texts, shown in an order of each person's own, with a remark."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from annotation.kinds.clusters import ClusterKind
from annotation.models import Proposition
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import spans
from measures.text_agreement import Comparison
from projects.kinds import Batch, Column, Filter, Row, Scale, Sheet, SheetFaults, Value, check_fragments, groups
from projects.kinds.majority import AggregationResult, origin
from projects.models import Answer, Assignment, Origin, Project, Round, Unit

from ...models import TextRating
from .serializers import TwoTextsCardSerializer, TwoTextsValueSerializer

TEXTS = ("target", "input")
POINTS = ("1", "2", "3", "4", "5")


def target_first(slot: Assignment) -> bool:
    """By person and unit, so that a page looks the same whenever it is opened; a curator's hand has no round."""
    person = slot.person.pk if slot.person else 0
    seed = slot.round.seed if slot.round_id else 0
    return sha256(f"{seed}/{slot.unit_id}/{person}".encode()).digest()[0] % 2 == 0


def _cells(card: Mapping[str, Any]) -> dict[str, str]:
    by_key = {each["key"]: each["text"] for each in card["texts"]}
    return {"text": by_key["target"], "other": by_key["input"]}


def _value(text: str, row: Mapping[str, str]) -> Value:
    faults = [(name, f"{row.get(name, '')!r} is not one of 1 to 5") for name in TEXTS if row.get(name) not in POINTS]
    if faults:
        raise SheetFaults(faults)
    return {name: int(row[name]) for name in TEXTS} | {"remark": row.get("remark", "").strip()}


SHEET = Sheet(
    shown=(Column("text", 60), Column("other", 60)),
    answer_columns=(Column("target", 8, POINTS), Column("input", 8, POINTS), Column("remark", 40)),
    cells=_cells,
    value=_value,
    filled=lambda value: {name: str(value[name]) for name in (*TEXTS, "remark")},
)


class TwoTextsKind(ClusterKind):
    """How clear the target and the first input of a cluster are."""

    key = "two_texts"
    title = "Rate two texts"
    description = "How clear are a target and its first input?"
    group = groups.TEST
    fields: Sequence[str] = TEXTS
    options = (Parameter("why", Takes.SWITCH, "Ask for a remark where a text is unclear", default=False),)
    policy = (
        Parameter("points", Takes.CHOICE, "The points in force", default="median", choices=("median", "all the same")),
    )
    filters = (
        *ClusterKind.filters,
        Filter(
            Parameter("inputs", Takes.INTEGER, "Inputs at least", minimum=1),
            lambda units, least: units.filter(
                cluster__in=Proposition.objects.current().filter(position=least).values("cluster")
            ),
        ),
    )
    card_serializer: type[serializers.Serializer[Any]] = TwoTextsCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = TwoTextsValueSerializer
    columns: Sequence[str] = ("about", "points", "remark", "passages")
    part = "about"
    scales: Sequence[Scale] = (Scale("points", POINTS, "points", weights="quadratic", metric="interval"),)
    comparisons: Sequence[Comparison] = (
        Comparison("points", "difference", ("points",)),
        Comparison("remark", "words", ("remark",)),
        Comparison("passages", "spans", ("passages",)),
        Comparison("passages", "overlap", ("passages",)),
    )
    sheet = SHEET

    def units(self, project: Project) -> QuerySet[Unit]:
        """Those of clusters that have an input."""
        with_input = Proposition.objects.current().filter(position=1).values("cluster")
        return super().units(project).filter(cluster__in=with_input)

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        claims = Proposition.objects.current().filter(cluster__unit__in={s.unit_id for s in slots}, position__lt=2)
        texts: dict[int, dict[int, str]] = defaultdict(dict)
        for unit, position, text in claims.values_list("cluster__unit", "position", "text"):
            texts[unit][position] = text
        return Batch(texts)

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        rows = batch.rows.get(slot.unit_id, {})
        texts = [{"key": key, "text": rows.get(position, "")} for position, key in enumerate(TEXTS)]
        return {"texts": texts if target_first(slot) else texts[::-1], "why": bool(round.options.get("why"))}

    def check(self, slot: Assignment, value: Value) -> None:
        """Whoever gives a text one or two points says why, where the round asks for it."""
        if slot.round.options.get("why") and not value["remark"] and min(value[name] for name in TEXTS) <= 2:
            raise Refused.field("value.remark", "Say what is unclear.")
        if passages := value.get("passages"):
            text = self.texts([slot.unit_id])[slot.unit_id]
            for passage in passages:
                check_fragments(text, [passage], "value.passages")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        TextRating.objects.bulk_create(
            TextRating(
                unit_id=answer.assignment.unit_id,
                answer=answer,
                target_first=target_first(answer.assignment),
                **{name: value[name] for name in (*TEXTS, "remark")},
                passages=value.get("passages", []),
            )
            for answer, value in said
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = TextRating.objects.filter(answer__in=list(answers))
        return {row.answer_id: {name: getattr(row, name) for name in (*TEXTS, "remark", "passages")} for row in rows}

    def migrate(self, value: Value, unit: Unit) -> Value:
        return value

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """The median of the points, as whoever gave it said; or what all gave."""
        return [self._verdict(name, answers, round.policy.get("points", "median")) for name in TEXTS]

    def _verdict(self, name: str, answers: Sequence[tuple[Answer, Value]], policy: str) -> AggregationResult:
        points = [value[name] for _, value in answers]
        middle = median(points)
        same = points.count(middle) == len(points)
        adopted = next((answer for answer, value in answers if value[name] == middle), None)
        if not adopted or (policy == "all the same" and not same):
            return AggregationResult(name, Origin.CONTESTED, None)
        return AggregationResult(name, origin(points.count(middle), len(points)), adopted)

    def rows(self, value: Value) -> list[Row]:
        """A row for each text; the remark is of both, the passages are of the target."""
        passages = spans.spans_as_cell([(p["start"], p["end"], p["quote"])] for p in value.get("passages", []))
        return [
            {
                "about": name,
                "points": str(value[name]),
                "remark": value["remark"],
                "passages": passages if name == "target" else "",
            }
            for name in TEXTS
        ]

    def sentence(self, field: str, value: Value) -> str:
        return f"{value[field]} of 5"
