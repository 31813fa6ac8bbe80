"""The task kind *counterfactual*: a target rewritten so that one aspect of it is false (TASKS: counterfactual)."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter, Takes
from api.problems import FieldErrors, Refused
from measures.counterfactuals import check
from measures.text_agreement import Comparison
from measures.word_edits import folded_words
from projects.kinds import Batch, Row, Scale, SkipReason, Value
from projects.kinds.majority import Verdict, majority
from projects.models import Answer, Assignment, Project, Round, Unit

from ...models import Proposition, Rewriting
from ...values.in_force import gold_labels
from ..propositions import PropositionKind
from . import card as cards
from . import in_force
from .serializers import FIELDS, CounterfactualCardSerializer, CounterfactualValueSerializer

#: Whether a kind has a text: the one thing of an answer that has declared categories.
APPLIES = ("applies", "does not apply")


class CounterfactualKind(PropositionKind):
    """A target proposition rewritten in up to five ways, each a text or a reason why there is none."""

    key = "counterfactual"
    title = "Write counterfactuals"
    order = 90
    fields: Sequence[str] = tuple(FIELDS)
    tables = (Rewriting,)
    judged_by = ("tuple", "label")
    assumed_seconds = 60.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("several claims", "It makes several claims"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = CounterfactualCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = CounterfactualValueSerializer
    options = (
        Parameter(
            "counterfactual_kinds", Takes.SEVERAL, "Kinds", default=[], choices=tuple(FIELDS),
            words=tuple(kind.value for kind in FIELDS.values()), help="None chosen: all five.",
        ),
        Parameter("drafts", Takes.SWITCH, "Offer drafts", default=True, help="Drafts by rule may bias annotators."),
    )  # fmt: skip
    scales: Sequence[Scale] = (Scale("applies", APPLIES, "applies"),)
    comparisons: Sequence[Comparison] = (Comparison("text", "words", ("text",)),)
    columns: Sequence[str] = ("counterfactual", "applies", "text", "origin", "rule", "reason")
    part = "counterfactual"
    headings = {"negation": "Negation", "antonym": "Antonym", "no_effect": "No effect", "no_evidence": "No evidence",
                "modality": "Modality"}  # fmt: skip

    def units(self, project: Project) -> QuerySet[Unit]:
        """Targets in corpus order."""
        return super().units(project).filter(proposition__position=0)

    def fields_of(self, round: Round) -> Sequence[str]:
        chosen = round.options.get("counterfactual_kinds") or self.fields
        return [name for name in self.fields if name in chosen]

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        units = [slot.unit_id for slot in slots]
        found = Proposition.objects.filter(unit__in=units).select_related("cluster")
        targets = {p.unit_id: p for p in found.prefetch_related("cluster__pico__fragments")}
        return Batch(targets, {"gold": gold_labels(units)})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        return cards.shown(
            batch.rows[slot.unit_id], batch.extra["gold"].get(slot.unit_id, {}), fields=self.fields_of(round),
            with_drafts=round.options.get("drafts", True),
        )  # fmt: skip

    def check(self, slot: Assignment, value: Value) -> None:
        """Each kind that is asked for has a text that is a counterfactual of the target, or a reason; what is only odd
        about a text the page warns of."""
        target = Proposition.objects.get(unit=slot.unit_id)
        if not target.is_target:
            raise Refused.field("value", "Only a target has counterfactuals; this is an input.")
        asked, errors = self.fields_of(slot.round), list[tuple[str, str]]()
        errors += [(name, "This kind is not asked for.") for name in value if name not in asked]
        for name in asked:
            if name not in value:
                errors.append((name, "Give a text, or say why the kind does not apply."))
            elif text := value[name]["text"]:
                errors += [(f"{name}.text", e.message) for e in check(FIELDS[name], target.text, text).errors]
        if errors:
            faults: FieldErrors = [{"field": f"value.{where}", "message": message} for where, message in errors]
            raise Refused(errors[0][1], errors=faults)

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        Rewriting.objects.bulk_create(
            Rewriting(unit_id=answer.assignment.unit_id, answer=answer, kind=FIELDS[name].value, **one)
            for answer, value in said
            for name, one in value.items()
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        found: dict[Any, Value] = defaultdict(dict)
        names = {kind.value: name for name, kind in FIELDS.items()}
        rows = Rewriting.objects.filter(answer__in=list(answers)).order_by("id")
        for answer, kind, *one in rows.values_list("answer", "kind", "text", "origin", "rule", "reason"):
            found[answer][names[kind]] = dict(zip(("text", "origin", "rule", "reason"), one, strict=True))
        return dict(found)

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        """Kind by kind, where more than half wrote the same words, or said that it does not apply."""
        return [_verdict(name, answers) for name in self.fields_of(round)]

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """The counterfactuals that probes and releases read follow what is in force."""
        in_force.follow(units)

    def says_same(self, field: str, one: Value, other: Value) -> bool:
        """The same text, or the same reason; how a text came about says nothing of it."""
        here, there = one.get(field), other.get(field)
        if here is None or there is None:
            return here is there
        return (here["text"], here["reason"]) == (there["text"], there["reason"])

    def rows(self, value: Value) -> list[Row]:
        """A row for each kind."""
        return [
            {"counterfactual": FIELDS[name].value, "applies": APPLIES[not one["text"]]} | one
            for name, one in value.items()
        ]

    def sentence(self, field: str, value: Value) -> str:
        one = value[field]
        return str(one["text"] or f"does not apply: {one['reason']}")


def _verdict(field: str, answers: Sequence[tuple[Answer, Value]]) -> Verdict:
    def key(value: Value) -> Hashable:
        return folded_words(value[field]["text"])

    return majority(field, answers, key)[0]
