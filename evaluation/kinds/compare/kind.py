"""Compare summaries: which of two texts is better, by the criteria of a protocol."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from rest_framework import serializers

from api.parameters import Parameter, Takes
from api.problems import Refused
from measures.agreement import Scale
from projects.kinds import Row, Value
from projects.kinds.majority import Verdict, majority
from projects.models import Answer, Assignment, Round, Unit
from sql.compiled import insert

from ...design.stored import content_by
from ...models import Preference
from ...protocols.parts import NEITHER, TIE, Content
from ..pages import PageKind, text_ids
from ..scales import scales_of
from .serializers import CompareValueSerializer, PairCardSerializer

LEFT, RIGHT = "left", "right"


class CompareKind(PageKind):
    """Two texts of one source, side by side."""

    key = "compare"
    title = "Compare two summaries"
    order = 210
    protocol_kind = "compare"
    assumed_seconds = 60.0
    fields: Sequence[str] = ()
    tables = (Preference,)
    options = (
        Parameter("pairs_a_source", Takes.INTEGER, "Pairs a source", minimum=1, maximum=1000,
                  help="All where it is left out; else the pairs of systems come equally often."),
        Parameter("one_form", Takes.SWITCH, "Show all texts in one form", default=True,
                  help="Case, spaces and quotation marks alike, so that they give no system away."),
        Parameter("checks", Takes.INTEGER, "Attention checks (% of the pairs)", default=0, minimum=0, maximum=50,
                  required=True, help="Pairs of which one text is made plainly bad."),
        Parameter("exclude_checks", Takes.INTEGER, "Leave out raters who fail more than this share of checks (%)",
                  minimum=0, maximum=100, help="Declared now; results are given with and without."),
        Parameter("exclude_fast", Takes.SWITCH, "Leave out implausibly fast pages", default=False,
                  help="Declared now; results are given with and without."),
    )  # fmt: skip
    card_serializer: type[serializers.Serializer[Any]] = PairCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = CompareValueSerializer
    columns: Sequence[str] = ("criterion", "choice", "chosen", "left", "right", "reason")
    comments = ("reason",)

    def check(self, slot: Assignment, value: Value) -> None:
        page = self.page_of(slot)
        codes = {text.code for text in page.texts.all()}
        if {value[LEFT], value[RIGHT]} != codes:
            raise Refused.field("value.left", "The two texts of the page, each on one side.")
        self._check_said(content_by(page.source.design.version.digest), value, codes)

    @staticmethod
    def _check_said(content: Content, value: Value, codes: set[str]) -> None:
        asked = {criterion.key: criterion for criterion in content.criteria}
        said = [one["criterion"] for one in value["said"]]
        if sorted(said) != sorted(asked):
            raise Refused.field("value.said", f"Each of these is answered once: {', '.join(asked)}.")
        for n, one in enumerate(value["said"]):
            criterion = asked[one["criterion"]]
            offered = {option.value for option in criterion.scale.options} & {TIE, NEITHER}
            if one["choice"] not in codes | offered:
                raise Refused.field(f"value.said.{n}.choice", "One of the two texts, or what else is offered.")
            if one["choice"] in criterion.reason.required_at and not one["reason"].strip():
                raise Refused.field(f"value.said.{n}.reason", "Say why.")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        texts = text_ids(answer.assignment.unit_id for answer, _ in said)
        rows: list[Preference] = []
        for answer, value in said:
            unit = answer.assignment.unit_id
            side = {value[LEFT]: LEFT, value[RIGHT]: RIGHT}
            rows += [
                Preference(
                    answer=answer, left_id=texts[unit, value[LEFT]], right_id=texts[unit, value[RIGHT]], number=number,
                    criterion=one["criterion"], choice=side.get(one["choice"], one["choice"]), reason=one["reason"],
                )
                for number, one in enumerate(value["said"])
            ]  # fmt: skip
        insert(rows)

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Preference.objects.filter(answer__in=list(answers)).order_by("answer_id", "number")
        found: dict[Any, Value] = {}
        for row in rows.select_related("left", "right").defer("left__shown", "right__shown"):
            sides = {LEFT: row.left.code, RIGHT: row.right.code}
            value = found.setdefault(row.answer_id, {**sides, "said": []})
            value["said"].append(
                {"criterion": row.criterion, "choice": sides.get(row.choice, row.choice), "reason": row.reason}
            )
        return found

    # What it comes to

    def scales_of(self, round: Round) -> Sequence[Scale]:
        return scales_of(self.content_of(round))

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        return [majority(name, answers, partial(_choice, name))[0] for name in self.fields_of(round)]

    def part_of(self, field: str, value: Value) -> Value:
        said = [one for one in value.get("said", []) if one["criterion"] == field]
        return {**value, "said": said} if said else {}

    def merged(self, parts: Sequence[Value]) -> Value:
        there = [part for part in parts if part]
        return {**there[0], "said": [one for part in there for one in part["said"]]} if there else {}

    def says_same(self, field: str, one: Value, other: Value) -> bool:
        return _choice(field, one) == _choice(field, other)

    def rows(self, value: Value) -> list[Row]:
        """A row for each criterion. ``choice`` names the texts in the order of their codes, whatever their sides."""
        first = min(value[LEFT], value[RIGHT])
        names = {code: "first" if code == first else "second" for code in (value[LEFT], value[RIGHT])}
        return [
            {
                "criterion": one["criterion"], "choice": names.get(one["choice"], one["choice"]),
                "chosen": one["choice"], "left": value[LEFT], "right": value[RIGHT], "reason": one["reason"],
            }
            for one in value["said"]
        ]  # fmt: skip

    def sentence(self, field: str, value: Value) -> str:
        choice = _choice(field, value)
        return {value[LEFT]: "the left one", value[RIGHT]: "the right one"}.get(choice or "", choice or "")

    def in_words(self, value: Value) -> dict[str, str]:
        return {one["criterion"]: self.sentence(one["criterion"], value) for one in value.get("said", [])}


def _choice(field: str, value: Value) -> str | None:
    return next((one["choice"] for one in value.get("said", []) if one["criterion"] == field), None)
