"""The shapes of the discourse kind."""

from typing import Any

from rest_framework import serializers

from ...models import Fate, Modality, Polarity, Relation
from ..shapes import TupleSlotShownSerializer

Plain = serializers.Serializer[Any]


class DiscourseClaimSerializer(Plain):
    """One proposition with its label in force; null where nobody has decided."""

    position = serializers.IntegerField(help_text="0 is the target, 1.. the inputs.")
    text = serializers.CharField()
    polarity = serializers.ChoiceField(choices=Polarity.choices, allow_null=True)
    modality = serializers.ChoiceField(choices=Modality.choices, allow_null=True)


class DiscourseCardSerializer(Plain):
    """What a person is shown of a cluster."""

    pico = TupleSlotShownSerializer(many=True)
    propositions = DiscourseClaimSerializer(many=True)
    suggested = serializers.ChoiceField(
        choices=Relation.choices, allow_null=True, help_text="By the input polarities; null where none is shown."
    )


class DiscourseValueSerializer(Plain):
    relation = serializers.ChoiceField(choices=Relation.choices)
    suggestion = serializers.ChoiceField(
        choices=Fate.choices,
        required=False,
        allow_blank=True,
        help_text="What became of the suggestion, if one was shown.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("suggestion"):
            attrs.pop("suggestion", None)
        return attrs
