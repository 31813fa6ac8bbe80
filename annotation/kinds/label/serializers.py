"""Serializers of the label kind."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most
from measures.consistency.labels import is_consistent

from ...clusters import strata
from ...models import Element, Modality, PicoForm, Polarity
from ..tuples import FragmentSerializer, RangeSerializer

Plain = serializers.Serializer[Any]


class SuggestionsSerializer(Plain):
    """Outcome of the candidate cues that were shown."""

    accepted = serializers.IntegerField(min_value=0)
    edited = serializers.IntegerField(min_value=0)
    rejected = serializers.IntegerField(min_value=0)


class LabelValueSerializer(Plain):
    """Polarity and modality with their cues. Polarity is ``n/a`` exactly if the modality is ``no evidence``."""

    polarity = serializers.ChoiceField(choices=Polarity.choices)
    modality = serializers.ChoiceField(choices=Modality.choices)
    polarity_cue = FragmentSerializer(many=True, default=list, **at_most(strata.PIECES))
    modality_cue = FragmentSerializer(many=True, default=list, **at_most(strata.PIECES))
    suggestions = SuggestionsSerializer(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not is_consistent(attrs["polarity"], attrs["modality"]):
            raise serializers.ValidationError(
                {"polarity": "Expected polarity n/a exactly if the modality is no evidence."}
            )
        if attrs["polarity"] == Polarity.NOT_APPLICABLE and attrs["polarity_cue"]:
            raise serializers.ValidationError(
                {"polarity_cue": "A label without evidence has no polarity cue. Leave it out."}
            )
        if not attrs.get("suggestions"):
            attrs.pop("suggestions", None)
        return attrs


class PicoElementSerializer(Plain):
    """One element of the tuple with its position in the shown text."""

    element = serializers.ChoiceField(choices=Element.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    text = serializers.CharField(allow_blank=True)
    fragments = RangeSerializer(many=True)


class LabelContextSerializer(Plain):
    """The cluster, and the position of the proposition in it (1-based; the target is first)."""

    key = serializers.CharField()
    index = serializers.IntegerField()
    size = serializers.IntegerField()


class LabelCardSerializer(Plain):
    """Card of a proposition."""

    text = serializers.CharField()
    role = serializers.ChoiceField(choices=["target", "input"])
    pico = PicoElementSerializer(many=True)
    context = LabelContextSerializer()  # type: ignore[assignment]
    candidates = RangeSerializer(many=True, allow_null=True)
    asks_cues = serializers.BooleanField(help_text="Whether annotators mark the cue of each value.")
