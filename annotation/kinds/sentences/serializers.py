"""The shapes of the sentences kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...models import AbstractReading, Dropped, EvidenceMark, RhetoricalClass

Plain = serializers.Serializer[Any]
#: No abstract of a review has more.
MOST = 1000


class AbstractSentenceSerializer(Plain):
    """A sentence of the abstract, by its number from 1, under the heading that it stands under."""

    number = serializers.IntegerField(min_value=1)
    text = serializers.CharField()
    section = serializers.CharField(allow_blank=True)


class SentencesCardSerializer(Plain):
    """What a person is shown: the abstract, sentence by sentence."""

    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    task = serializers.ChoiceField(choices=AbstractReading.Task.choices)
    sentences = AbstractSentenceSerializer(many=True)


class ClassifiedSentenceSerializer(Plain):
    number = serializers.IntegerField(min_value=1)
    said = serializers.ChoiceField(choices=RhetoricalClass.choices)


class EvidenceSentenceSerializer(Plain):
    number = serializers.IntegerField(min_value=1)
    said = serializers.ChoiceField(choices=EvidenceMark.choices)


class EvidenceSentencesSerializer(Plain):
    """Which sentences bear evidence; none is said where the whole review is dropped."""

    dropped = serializers.ChoiceField(choices=Dropped.choices, allow_blank=True, default="")
    sentences = EvidenceSentenceSerializer(many=True, **at_most(MOST))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["dropped"] and attrs["sentences"]:
            raise serializers.ValidationError({"sentences": "Nothing is said of the sentences of a dropped review."})
        return attrs | {"sentences": in_order(attrs["sentences"])}


class SentencesValueSerializer(Plain):
    """What was said of every sentence of an abstract, in one of two ways: that of the round."""

    sentence_classes = ClassifiedSentenceSerializer(many=True, required=False, **at_most(MOST))
    evidence_sentences = EvidenceSentencesSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Say a class for each sentence, or which bear evidence: one of the two.")
        if classes := attrs.get("sentence_classes"):
            attrs["sentence_classes"] = in_order(classes)
        return attrs


def in_order(sentences: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By their numbers. A `ValidationError` where one is there twice."""
    found = sorted((dict(one) for one in sentences), key=lambda one: one["number"])
    if len({one["number"] for one in found}) != len(found):
        raise serializers.ValidationError("Each sentence is said of once.")
    return found
