"""Task kind *discourse*: whether the inputs of a cluster agree or contradict one another."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.clusters.gold import Gold, gold_labels
from annotation.consistency import findings
from annotation.kinds import clusters
from annotation.kinds.tuples import CurrentElementSerializer
from annotation.models import Cluster, DiscourseLabel, Fate, Modality, Polarity, Proposition, Relation
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures.consistency import suggested
from projects.kinds import Batch, Scale, SkipReason, Value
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]


class DiscourseClaimSerializer(Plain):
    """One proposition with its current label; null if it is not decided."""

    position = serializers.IntegerField(help_text="0 for the target; 1, 2, ... for the inputs.")
    text = serializers.CharField()
    polarity = serializers.ChoiceField(choices=Polarity.choices, allow_null=True)
    modality = serializers.ChoiceField(choices=Modality.choices, allow_null=True)


class DiscourseCardSerializer(Plain):
    """Card of a cluster."""

    pico = CurrentElementSerializer(many=True)
    propositions = DiscourseClaimSerializer(many=True)
    suggested = serializers.ChoiceField(
        choices=Relation.choices,
        allow_null=True,
        help_text="Derived from the input polarities; null if no suggestion is shown.",
    )


class DiscourseValueSerializer(Plain):
    relation = serializers.ChoiceField(choices=Relation.choices)
    suggestion = serializers.ChoiceField(
        choices=Fate.choices, required=False, allow_blank=True, help_text="Outcome of the suggestion, if one was shown."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("suggestion"):
            attrs.pop("suggestion", None)
        return attrs


FIELD = "relation"


class DiscourseKind(clusters.ClusterKind):
    """Agreement or contradiction between the inputs of one cluster. Their current polarities are shown."""

    key = "discourse"
    title = "Judge agreement within clusters"
    description = "Do the inputs of a cluster agree?"
    order = 80
    depends_on = ("inputs",)
    fields: Sequence[str] = (FIELD,)
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The inputs are unclear"),
        SkipReason("wrong labels", "A label of an input is wrong"),
        SkipReason("pico mismatch", "The inputs are not about the same PICO tuple"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = DiscourseCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = DiscourseValueSerializer
    judged_by = ("tuple", "label")
    options = (
        Parameter(
            "suggestions",
            Takes.SWITCH,
            "Suggest the relation from the input polarities",
            default=False,
            help="Suggestions may bias annotators.",
        ),
    )
    scales: Sequence[Scale] = (Scale(FIELD, tuple(Relation.values), FIELD),)
    field_values = {FIELD: Relation.choices}
    columns: Sequence[str] = (FIELD, "suggestion")

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return the clusters that have an input; without one there is nothing to compare."""
        inputs = Proposition.objects.current().filter(cluster__unit=OuterRef("pk"), position__gte=1)
        return super().units(project).filter(Exists(inputs))

    def shows_suggestions(self, round: Round) -> bool:
        return bool(round.options.get("suggestions"))

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        rows = clusters.load(assignments)
        claims: dict[int, list[Proposition]] = defaultdict(list)
        for claim in Proposition.objects.current().filter(cluster__in=list(rows.values())).order_by("position"):
            claims[claim.cluster_id].append(claim)
        labels = gold_labels([c.unit_id for mine in claims.values() for c in mine])
        return Batch(rows, {"claims": claims, "labels": labels})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the tuple, and the propositions with their current polarity and modality."""
        cluster: Cluster = batch.rows[assignment.unit_id]
        labels: dict[int, dict[str, Gold]] = batch.extra["labels"]
        claims = batch.extra["claims"][cluster.pk]
        polarities = [labels.get(c.unit_id, {}).get("polarity") for c in claims if not c.is_target]
        return {
            "pico": clusters.elements(cluster),
            "propositions": [_claim(c, labels.get(c.unit_id, {})) for c in claims],
            "suggested": (
                suggested([str(p.value) for p in polarities if p])
                if self.shows_suggestions(round) and polarities and all(polarities)
                else None
            ),
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Refuse an answer about a cluster without inputs."""
        if not Proposition.objects.current().filter(cluster__unit=assignment.unit_id, position__gte=1).exists():
            raise Refused.field("value.relation", "The cluster has no inputs to compare. Skip it.")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        DiscourseLabel.objects.bulk_create(
            DiscourseLabel(
                unit_id=answer.assignment.unit_id,
                answer=answer,
                relation=value[FIELD],
                suggestion=value.get("suggestion", ""),
            )
            for answer, value in answers
        )

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        findings.recheck([unit.pk for unit in units])

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = DiscourseLabel.objects.filter(answer__in=list(answers))
        return {row.answer_id: _value(row) for row in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = DiscourseLabel.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(row.unit_id, row.imported_id or 0): _value(row) for row in rows}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[DiscourseLabel]:
        return DiscourseLabel.objects.filter(relation__in=keys)

    def migrate(self, value: Value, unit: Unit) -> Value:
        return {FIELD: value[FIELD]}


def _claim(claim: Proposition, gold: Mapping[str, Gold]) -> dict[str, Any]:
    return {
        "position": claim.position,
        "text": claim.text,
        "polarity": gold["polarity"].value if "polarity" in gold else None,
        "modality": gold["modality"].value if "modality" in gold else None,
    }


def _value(row: DiscourseLabel) -> Value:
    return {FIELD: row.relation} | ({"suggestion": str(Fate(row.suggestion))} if row.suggestion else {})
