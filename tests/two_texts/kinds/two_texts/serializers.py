from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


class RatedTextSerializer(Plain):
    key = serializers.ChoiceField(choices=["target", "input"])
    text = serializers.CharField()


class PassageSerializer(Plain):
    """A half-open range of code points of the target, with its words."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False)


class TwoTextsCardSerializer(Plain):
    texts = RatedTextSerializer(many=True, help_text="Two, in an order of the person's own.")
    why = serializers.BooleanField(help_text="Whether a remark is asked for.")


class TwoTextsValueSerializer(Plain):
    target = serializers.IntegerField(min_value=1, max_value=5)
    input = serializers.IntegerField(min_value=1, max_value=5)
    remark = serializers.CharField(max_length=1000, allow_blank=True, default="")
    passages = PassageSerializer(many=True, default=list, help_text="Unclear passages of the target.")
