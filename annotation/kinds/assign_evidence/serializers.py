"""The shapes of the assign_evidence kind."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...models import AssignedInput
from ..sentences.serializers import in_order
from ..shapes import TupleSlotShownSerializer

Plain = serializers.Serializer[Any]
#: No target has more inputs.
MOST = 2000


class TargetInputSerializer(Plain):
    """An input of the target sentence, by its number among them; numbers of those that were put aside are left out."""

    number = serializers.IntegerField(min_value=1)
    pmid = serializers.CharField()
    text = serializers.CharField()


class AssignEvidenceCardSerializer(Plain):
    """A proposition with its tuple, and the inputs of the sentence that it was made of."""

    text = serializers.CharField()
    pico = TupleSlotShownSerializer(many=True)
    inputs = TargetInputSerializer(many=True)


class SaidOfInputSerializer(Plain):
    number = serializers.IntegerField(min_value=1)
    said = serializers.ChoiceField(choices=AssignedInput.Said.choices)


class AssignEvidenceValueSerializer(Plain):
    """Of each input whether it supports the proposition."""

    supporting = SaidOfInputSerializer(many=True, **at_most(MOST))

    def validate_supporting(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return in_order(inputs)
