"""Serializers of the annotation loop: cards and submissions, as unions discriminated by ``kind``."""

import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from api.fields import LARGEST, UnitNameField

from .. import kinds
from ..answers.queries import MAX_COMMENT
from ..models import Outcome
from ..practice import readiness

Plain = serializers.Serializer[Any]


class CardUnitSerializer(Plain):
    id = serializers.IntegerField()
    key = serializers.CharField(allow_blank=True, help_text="Empty if the kind is blind.")
    unit_name = UnitNameField()


class CardSerializer(Plain):
    """Fields common to the cards of all kinds."""

    assignment = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="Revision of the person's answer; 0 before the first answer.")
    shown = serializers.IntegerField(help_text="Revision of the unit. Send it back with the answer.")
    position = serializers.IntegerField()
    unit = CardUnitSerializer()
    answered_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.ChoiceField(choices=Outcome.choices, allow_null=True)
    comment = serializers.CharField(allow_blank=True)
    flag = serializers.BooleanField()
    references = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Decisions whose value the card shows. Send them back with the answer. Empty if no value is shown.",
    )
    is_suggestion = serializers.BooleanField(
        required=False, help_text="Present if `value` is a model's suggestion, which no person has decided."
    )


class PrerequisiteSerializer(Plain):
    """A prerequisite of the first unit."""

    what = serializers.ChoiceField(choices=[(readiness.QUESTIONS, "questions"), (readiness.PRACTICE, "practice")])
    state = serializers.ChoiceField(choices=[(readiness.TO_DO, "to do"), (readiness.ASK, "ask the lead")])
    round = serializers.IntegerField(help_text="This round, or the practice round to pass.")
    name = serializers.CharField()


class SubmissionSerializer(Plain):
    """Fields common to the submissions of all kinds."""

    assignment = serializers.IntegerField(min_value=1)
    revision = serializers.IntegerField(
        min_value=0, help_text="Revision of the answer that this submission replaces; 0 for a first answer."
    )
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    reason = serializers.CharField(
        allow_blank=True, default="", max_length=30, help_text="Code of the reason for a skip."
    )
    shown = serializers.IntegerField(min_value=0)
    active_ms = serializers.IntegerField(min_value=0, max_value=24 * 3600 * 1000, default=0)
    comment = serializers.CharField(allow_blank=True, default="", max_length=MAX_COMMENT)
    flag = serializers.BooleanField(default=False)
    references = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST),
        default=list,
        max_length=100,
        help_text="Decisions whose value the card showed.",
    )
    rejects_suggestion = serializers.BooleanField(
        default=False, help_text="Whether the person cleared the suggestion of the card and began anew."
    )
    have = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST),
        default=list,
        max_length=20,
        help_text="Assignments whose cards the client already has.",
    )


def _name(kind: kinds.Kind) -> str:
    return "".join(word.capitalize() for word in re.split(r"[\W_]+", kind.key))


def _of_kind(name: str, base: type[Plain], kind: kinds.Kind, fields: Mapping[str, Any]) -> type[Plain]:
    return type(name, (base,), {"kind": serializers.ChoiceField(choices=[kind.key]), **fields})


def card_serializer(kind: kinds.Kind) -> type[Plain]:
    """Return a serializer with the common fields, the kind's fields, and the value given or to be reviewed."""
    return _of_kind(
        f"{_name(kind)}CardSerializer",
        CardSerializer,
        kind,
        {**kind.card_serializer().fields, "value": kind.value_serializer(allow_null=True)},
    )


def submission_serializer(kind: kinds.Kind) -> type[Plain]:
    return _of_kind(
        f"{_name(kind)}SubmissionSerializer",
        SubmissionSerializer,
        kind,
        {"value": kind.value_serializer(allow_null=True, default=None)},
    )


CARDS: dict[str, type[Plain]] = {kind.key: card_serializer(kind) for kind in kinds.all_kinds()}
SUBMISSIONS: dict[str, type[Plain]] = {kind.key: submission_serializer(kind) for kind in kinds.all_kinds()}
# Names of the one-value enums of each kind, which would otherwise be generated.
spectacular_settings.ENUM_NAME_OVERRIDES.update({f"{_name(k)}KindEnum": [k.key] for k in kinds.all_kinds()})
#: Created once, because creation copies the fields, which takes longer than validating a submission. Use only
#: `run_validation`, which keeps no state.
CHECKS: dict[str, Plain] = {key: serializer() for key, serializer in SUBMISSIONS.items()}


def _union(name: str, of: Mapping[str, type[Plain]], *, many: bool) -> PolymorphicProxySerializer:
    return PolymorphicProxySerializer(
        component_name=name, serializers=dict(of.items()), resource_type_field_name="kind", many=many
    )


Cards = _union("Card", CARDS, many=True)
Card = _union("Card", CARDS, many=False)
Submission = _union("Submission", SUBMISSIONS, many=False)
