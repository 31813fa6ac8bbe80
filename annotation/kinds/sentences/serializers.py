"""Serializers of the sentences kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...models import AbstractReading, Dropped, EvidenceMark, RhetoricalClass

Plain = serializers.Serializer[Any]
#: Maximum number of sentences of a review's abstract.
MOST = 1000


class AbstractSentenceSerializer(Plain):
    """A sentence of the abstract, with its number from 1 and its section heading."""

    number = serializers.IntegerField(min_value=1)
    text = serializers.CharField()
    section = serializers.CharField(allow_blank=True)


class SentencesCardSerializer(Plain):
    """Card of a review: its abstract, sentence by sentence."""

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
    """The sentences that bear evidence. If the review is dropped, the list is empty."""

    dropped = serializers.ChoiceField(choices=Dropped.choices, allow_blank=True, default="")
    sentences = EvidenceSentenceSerializer(many=True, **at_most(MOST))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["dropped"] and attrs["sentences"]:
            raise serializers.ValidationError(
                {"sentences": "A dropped review has no values of sentences. Leave the list empty."}
            )
        return attrs | {"sentences": in_order(attrs["sentences"])}


class SentencesValueSerializer(Plain):
    """Values of the sentences of an abstract, for the task of the round."""

    sentence_classes = ClassifiedSentenceSerializer(many=True, required=False, **at_most(MOST))
    evidence_sentences = EvidenceSentencesSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError(
                "Expected either the class of each sentence or the sentences with evidence."
            )
        if classes := attrs.get("sentence_classes"):
            attrs["sentence_classes"] = in_order(classes)
        return attrs


def in_order(sentences: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the sentences ordered by number. Raise `ValidationError` for a duplicate number."""
    ordered = sorted((dict(sentence) for sentence in sentences), key=lambda sentence: sentence["number"])
    if len({sentence["number"] for sentence in ordered}) != len(ordered):
        raise serializers.ValidationError("A number occurs twice. Expected each number once.")
    return ordered
