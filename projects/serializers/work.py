"""The annotator's loop in JSON: cards, submissions, and unions of them discriminated by ``kind``."""

import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from api.fields import LARGEST

from .. import kinds
from ..models import Outcome
from ..rounds import readiness

Plain = serializers.Serializer[Any]


class CardUnitSerializer(Plain):
    id = serializers.IntegerField()
    key = serializers.CharField(allow_blank=True, help_text="Empty where people are not to learn it.")


class CardSerializer(Plain):
    """What every card has, whatever its kind."""

    assignment = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="Of the person's answer; 0 before the first.")
    shown = serializers.IntegerField(help_text="Revision of the unit; send it back with the answer.")
    position = serializers.IntegerField()
    unit = CardUnitSerializer()
    answered_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.ChoiceField(choices=Outcome.choices, allow_null=True)
    comment = serializers.CharField(allow_blank=True)
    flag = serializers.BooleanField()
    references = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The decisions whose value is shown, to be sent back with the answer; empty where none is.",
    )


class FirstSerializer(Plain):
    """What comes before the first unit."""

    what = serializers.ChoiceField(choices=[(readiness.QUESTIONS, "questions"), (readiness.PRACTICE, "practice")])
    state = serializers.ChoiceField(choices=[(readiness.TO_DO, "to do"), (readiness.ASK, "ask the lead")])
    round = serializers.IntegerField(help_text="This round, or the practice to pass.")
    name = serializers.CharField()


class SubmissionSerializer(Plain):
    """What every submission has, whatever its kind."""

    assignment = serializers.IntegerField(min_value=1)
    revision = serializers.IntegerField(min_value=0, help_text="The revision that this one follows.")
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    reason = serializers.CharField(allow_blank=True, default="", max_length=30, help_text="Code of a skip.")
    shown = serializers.IntegerField(min_value=0)
    active_ms = serializers.IntegerField(min_value=0, max_value=24 * 3600 * 1000, default=0)
    comment = serializers.CharField(allow_blank=True, default="", max_length=5000)
    flag = serializers.BooleanField(default=False)
    references = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), default=list, max_length=100,
        help_text="The decisions that the card showed.",
    )  # fmt: skip
    have = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST),
        default=list,
        max_length=20,
        help_text="Assignments whose cards are held.",
    )


def _name(kind: kinds.Kind) -> str:
    return "".join(word.capitalize() for word in re.split(r"[\W_]+", kind.key))


def _of_kind(name: str, base: type[Plain], kind: kinds.Kind, fields: Mapping[str, Any]) -> type[Plain]:
    return type(name, (base,), {"kind": serializers.ChoiceField(choices=[kind.key]), **fields})


def card_serializer(kind: kinds.Kind) -> type[Plain]:
    """Common fields, the kind's own, and the value that the person gave, or is to review."""
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
# The description of the API names the one word of each by its kind; two kinds' words would have no name otherwise.
spectacular_settings.ENUM_NAME_OVERRIDES.update({f"{_name(k)}KindEnum": [k.key] for k in kinds.all_kinds()})
#: Made once: making one copies its fields, which takes longer than checking a submission. Use `run_validation` only,
#: which keeps nothing of what it checks.
CHECKS: dict[str, Plain] = {key: serializer() for key, serializer in SUBMISSIONS.items()}


def _union(name: str, of: Mapping[str, type[Plain]], *, many: bool) -> PolymorphicProxySerializer:
    return PolymorphicProxySerializer(
        component_name=name, serializers=dict(of.items()), resource_type_field_name="kind", many=many
    )


Cards = _union("Card", CARDS, many=True)
Card = _union("Card", CARDS, many=False)
Submission = _union("Submission", SUBMISSIONS, many=False)
