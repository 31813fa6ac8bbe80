"""Task kind *assign_evidence*: which inputs of its sentence support one proposition."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.kinds import clusters
from annotation.kinds.assign_evidence import current
from annotation.kinds.assign_evidence.current import FIELD, KIND, SUPPORTS
from annotation.kinds.sentences.serializers import in_order
from annotation.kinds.tuples import CurrentElementSerializer
from annotation.models import AssignedEvidence, AssignedInput, Cluster, Proposition
from api.fields import at_most
from api.problems import Refused
from measures.agreement import Scale
from projects.kinds import Batch, Row, SkipReason, Value, groups
from projects.kinds.majority import AggregationResult, by_part
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]
#: Maximum number of inputs of a target.
MOST = 2000


class TargetInputSerializer(Plain):
    """An input of the target sentence and its number. Numbers of replaced inputs are omitted."""

    number = serializers.IntegerField(min_value=1)
    pmid = serializers.CharField()
    text = serializers.CharField()


class AssignEvidenceCardSerializer(Plain):
    """A proposition with its tuple, and the inputs of its target sentence."""

    text = serializers.CharField()
    pico = CurrentElementSerializer(many=True)
    inputs = TargetInputSerializer(many=True)


class SaidOfInputSerializer(Plain):
    number = serializers.IntegerField(min_value=1)
    said = serializers.ChoiceField(choices=AssignedInput.Judgement.choices)


class AssignEvidenceValueSerializer(Plain):
    """For each input, whether it supports the proposition."""

    supporting = SaidOfInputSerializer(many=True, **at_most(MOST))

    def validate_supporting(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return in_order(inputs)


VALUES = tuple(AssignedInput.Judgement.values)


class AssignEvidenceKind(clusters.ClusterKind):
    """One cluster: its tuple, its target proposition, and the inputs of its target sentence."""

    key = KIND
    title = "Assign evidence to propositions"
    description = "Which of the evidence supports each proposition of a conclusion?"
    group = groups.CORPUS
    order = 60
    depends_on: Sequence[clusters.Part] = ("target", "evidence")
    fields: Sequence[str] = (FIELD,)
    judged_by = ("tuple",)
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("wrong tuple", "The PICO tuple does not match the sentence"),
        SkipReason("unclear", "An input is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = AssignEvidenceCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = AssignEvidenceValueSerializer
    scales: Sequence[Scale] = (Scale("input supports", VALUES, "said", missing=("",)),)
    field_values = {FIELD: AssignedInput.Judgement.choices}
    columns: Sequence[str] = ("input", "said")
    part = "input"

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return the clusters whose sentence has inputs."""
        return super().units(project).filter(current.has_inputs())

    # Cards and answers

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        rows = clusters.load(assignments)
        claims = Proposition.objects.current().filter(cluster__in=list(rows.values()), position=0)
        texts = dict(claims.values_list("cluster", "text"))
        return Batch(rows, {"inputs": current.inputs_of_units(rows), "texts": texts})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        cluster: Cluster = batch.rows[assignment.unit_id]
        return {
            "text": batch.extra["texts"].get(cluster.pk, ""),
            "pico": clusters.elements(cluster),
            "inputs": [
                {"number": row.position, "pmid": row.study.pmid, "text": row.source_text}
                for row in batch.extra["inputs"][assignment.unit_id]
            ],
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that the answer covers every input of the sentence and no other.

        The answer is empty if the evidence was withdrawn while the round is open. New evidence makes such an
        answer stale.
        """
        numbers = [row.position for row in current.inputs_of_units([assignment.unit_id])[assignment.unit_id]]
        if [row_["number"] for row_ in value[FIELD]] != numbers:
            raise Refused.field(
                f"value.{FIELD}", "Decide for every input of the sentence whether it supports the proposition."
            )

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        rows = AssignedEvidence.objects.bulk_create(
            AssignedEvidence(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in answers
        )
        inputs = current.inputs_of_units([row.unit_id for row in rows])
        ids = {(unit, row.position): row for unit, unit_inputs in inputs.items() for row in unit_inputs}
        AssignedInput.objects.bulk_create(
            AssignedInput(
                assigned_evidence=row, input=ids[row.unit_id, input_value["number"]], judgement=input_value["said"]
            )
            for row, (_, value) in zip(rows, answers, strict=True)
            for input_value in value[FIELD]
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        by_answer: dict[Any, Value] = {answer: {FIELD: []} for answer in answers}
        rows = AssignedInput.objects.filter(assigned_evidence__answer__in=list(by_answer))
        rows = rows.order_by("assigned_evidence", "input__position")
        for answer, number, judgement in rows.values_list("assigned_evidence__answer", "input__position", "judgement"):
            by_answer[answer][FIELD].append({"number": number, "said": judgement})
        return by_answer

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[AssignedEvidence]:
        """Return the answers with one of these values for an input."""
        inputs = AssignedInput.objects.filter(assigned_evidence=OuterRef("pk"), judgement__in=keys)
        return AssignedEvidence.objects.filter(Exists(inputs))

    # Decisions and agreement

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Update the input propositions of the clusters from the current values."""
        current.update_propositions(units, by=by, reason=reason)

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """Aggregate the majority value of every input, if some answer equals that combination."""
        return [by_part(FIELD, answers, _parts)]

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the share of the inputs on which two answers differ."""
        mine, theirs = _parts(one), _parts(other)
        numbers = mine.keys() | theirs.keys()
        return sum(mine.get(n) != theirs.get(n) for n in numbers) / len(numbers) if numbers else 0.0

    def rows(self, value: Value) -> list[Row]:
        """Return one row per input, with its number among the inputs of the sentence."""
        return [{"input": str(one["number"]), "said": one["said"]} for one in value[FIELD]]

    def sentence(self, field: str, value: Value) -> str:
        numbers = [str(one["number"]) for one in value[field] if one["said"] == SUPPORTS]
        of = len(value[field])
        if not numbers:
            return f"none of {of} inputs" if of else "no inputs"
        # The numbers come first: "2 of 2 inputs" could mean both of them.
        return f"input{'s' if len(numbers) > 1 else ''} {', '.join(numbers)} (of {of})"


def _parts(value: Value) -> dict[int, str]:
    return {one["number"]: str(one["said"]) for one in value[FIELD]}
