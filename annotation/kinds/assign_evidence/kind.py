"""The task kind *assign_evidence*: which inputs of its sentence support one proposition (TASKS: assign evidence)."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from api.problems import Refused
from measures.agreement import Scale
from projects.kinds import Batch, Row, SkipReason, Value
from projects.kinds.majority import Verdict, by_part
from projects.models import Answer, Assignment, Project, Round, Unit

from ...models import AssignedEvidence, AssignedInput, AssignedProposition, Cluster, Proposition
from .. import clusters
from . import in_force, inputs
from .in_force import FIELD, KIND, SUPPORTS
from .serializers import AssignEvidenceCardSerializer, AssignEvidenceValueSerializer

SAID = tuple(AssignedInput.Said.values)


class AssignEvidenceKind(clusters.ClusterKind):
    """One cluster: its tuple, its target proposition, and the inputs of the sentence that it was made of."""

    key = KIND
    title = "Assign evidence to propositions"
    order = 60
    said_of: Sequence[clusters.Part] = ("target", "evidence")
    fields: Sequence[str] = (FIELD,)
    tables = (AssignedEvidence, AssignedInput, AssignedProposition)
    judged_by = ("tuple",)
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("wrong tuple", "The tuple is not what the sentence says"),
        SkipReason("unclear", "An input is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = AssignEvidenceCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = AssignEvidenceValueSerializer
    scales: Sequence[Scale] = (Scale("input supports", SAID, "said", missing=("",)),)
    columns: Sequence[str] = ("input", "said")
    part = "input"

    def units(self, project: Project) -> QuerySet[Unit]:
        """The clusters whose sentence has inputs."""
        return super().units(project).filter(inputs.has_inputs())

    # What is shown, and what is said

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        rows = clusters.load(slots)
        claims = Proposition.objects.current().filter(cluster__in=list(rows.values()), position=0)
        texts = dict(claims.values_list("cluster", "text"))
        return Batch(rows, {"inputs": inputs.of_units(rows), "texts": texts})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        cluster: Cluster = batch.rows[slot.unit_id]
        return {
            "text": batch.extra["texts"].get(cluster.pk, ""),
            "pico": clusters.slots(cluster),
            "inputs": [
                {"number": row.position, "pmid": row.study.pmid, "text": row.text}
                for row in batch.extra["inputs"][slot.unit_id]
            ],
        }

    def check(self, slot: Assignment, value: Value) -> None:
        """Something is said of every input of the sentence, and of no other. Nothing is said where its evidence was
        taken back while the round is open: what comes later makes that stale."""
        there = [row.position for row in inputs.of_units([slot.unit_id])[slot.unit_id]]
        if [one["number"] for one in value[FIELD]] != there:
            raise Refused.field(
                f"value.{FIELD}", "Say of every input of the sentence whether it supports the proposition."
            )

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        rows = AssignedEvidence.objects.bulk_create(
            AssignedEvidence(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in said
        )
        there = inputs.of_units([row.unit_id for row in rows])
        ids = {(unit, row.position): row for unit, some in there.items() for row in some}
        AssignedInput.objects.bulk_create(
            AssignedInput(of=row, input=ids[row.unit_id, one["number"]], said=one["said"])
            for row, (_, value) in zip(rows, said, strict=True)
            for one in value[FIELD]
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        found: dict[Any, Value] = {answer: {FIELD: []} for answer in answers}
        rows = AssignedInput.objects.filter(of__answer__in=list(found)).order_by("of", "input__position")
        for answer, number, said in rows.values_list("of__answer", "input__position", "said"):
            found[answer][FIELD].append({"number": number, "said": said})
        return found

    # What it comes to

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """The input propositions of the clusters follow what is in force."""
        in_force.follow(units, by=by, reason=reason)

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        """What more than half said of every input, where somebody said just that."""
        return [by_part(FIELD, answers, _parts)]

    def apart(self, field: str, one: Value, other: Value) -> float:
        """The share of the inputs of which the two say otherwise."""
        mine, theirs = _parts(one), _parts(other)
        numbers = mine.keys() | theirs.keys()
        return sum(mine.get(n) != theirs.get(n) for n in numbers) / len(numbers) if numbers else 0.0

    def rows(self, value: Value) -> list[Row]:
        """A row for each input, by its number among those of the sentence."""
        return [{"input": str(one["number"]), "said": one["said"]} for one in value[FIELD]]

    def sentence(self, field: str, value: Value) -> str:
        numbers = [str(one["number"]) for one in value[field] if one["said"] == SUPPORTS]
        of = len(value[field])
        if not numbers:
            return f"none of {of} inputs" if of else "no inputs"
        # The numbers first: "2 of 2 inputs" would say that both do.
        return f"input{'s' if len(numbers) > 1 else ''} {', '.join(numbers)} (of {of})"


def _parts(value: Value) -> dict[int, str]:
    return {one["number"]: str(one["said"]) for one in value[FIELD]}
