"""The shapes of the counterfactual kind: a target with drafts, and what was made of it kind by kind."""

from typing import Any

from rest_framework import serializers

from measures.counterfactual_rules import Rule
from measures.counterfactuals import Kind

from ...corpus import lengths
from ...models import Modality, NotApplicable, Polarity, TextOrigin
from ..shapes import RangeSerializer, TupleSlotShownSerializer

Plain = serializers.Serializer[Any]
#: The decision field of each kind: as the API spells it -> M3's word.
FIELDS = {kind.value.replace(" ", "_"): kind for kind in Kind}
RULES = [(rule.value, rule.value) for rule in Rule]


class DraftSerializer(Plain):
    """A text by a rule, to be accepted, edited or turned down."""

    rule = serializers.ChoiceField(choices=RULES)
    text = serializers.CharField()


class AskedRewritingSerializer(Plain):
    """One kind that is asked for."""

    field = serializers.ChoiceField(choices=list(FIELDS))
    should = serializers.CharField(
        allow_blank=True, help_text="What the label is to become; empty where none is known."
    )
    drafts = DraftSerializer(many=True, help_text="At most three; none where no rule fits, or the round shows none.")


class CounterfactualCardSerializer(Plain):
    """What a person is shown of a target."""

    text = serializers.CharField()
    cluster = serializers.CharField(help_text="Key of the cluster that the target is of.")
    pico = TupleSlotShownSerializer(many=True)
    polarity = serializers.ChoiceField(choices=Polarity.choices, allow_null=True, help_text="In force; null for none.")
    modality = serializers.ChoiceField(choices=Modality.choices, allow_null=True, help_text="In force; null for none.")
    polarity_cue = RangeSerializer(many=True)
    modality_cue = RangeSerializer(many=True)
    asked = AskedRewritingSerializer(many=True)
    hedges = serializers.ListField(child=serializers.CharField(), help_text="Words that weaken a claim.")
    boosters = serializers.ListField(child=serializers.CharField(), help_text="Words that strengthen one.")


class RewritingValueSerializer(Plain):
    """A text and where it comes from, or why the kind does not apply."""

    text = serializers.CharField(allow_blank=True, default="", max_length=lengths.CLAIM, trim_whitespace=False)
    origin = serializers.ChoiceField(choices=TextOrigin.choices, allow_blank=True, default="")
    rule = serializers.ChoiceField(
        choices=RULES, allow_blank=True, default="", help_text="Of the draft that it is, or was edited from."
    )
    reason = serializers.ChoiceField(choices=NotApplicable.choices, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["reason"]:
            if attrs["text"] or attrs["origin"] or attrs["rule"]:
                raise serializers.ValidationError({"reason": "A kind that does not apply has no text."})
        elif not attrs["text"].strip():
            raise serializers.ValidationError({"text": "Write a text, or say why the kind does not apply."})
        elif not attrs["origin"]:
            raise serializers.ValidationError({"origin": "Say whether it was drafted, edited or written."})
        elif (attrs["origin"] == TextOrigin.WRITTEN) == bool(attrs["rule"]):
            raise serializers.ValidationError(
                {"rule": "A draft has its rule; what was written from the target has none."}
            )
        return attrs


class CounterfactualValueSerializer(Plain):
    """What was made of the target, by kind: those that the round asks for."""

    negation = RewritingValueSerializer(required=False)
    antonym = RewritingValueSerializer(required=False)
    no_effect = RewritingValueSerializer(required=False)
    no_evidence = RewritingValueSerializer(required=False)
    modality = RewritingValueSerializer(required=False)
