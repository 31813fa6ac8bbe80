"""The shapes of the evidence kind."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most
from measures.evidence import FIRST

from ..sentences.serializers import AbstractSentenceSerializer

Plain = serializers.Serializer[Any]
#: M3's evidence is the least that supports a target: one sentence, or two.
MOST = 2


def _numbers(most: int, **more: Any) -> Any:
    return serializers.ListField(child=serializers.IntegerField(min_value=1), **at_most(most), **more)


class EvidenceCardSerializer(Plain):
    """A target sentence, and the abstract of one study, sentence by sentence."""

    target = serializers.CharField()
    review_title = serializers.CharField(allow_blank=True, help_text="Of the review that the target is of.")
    pmid = serializers.CharField(help_text="Of the study.")
    title = serializers.CharField(allow_blank=True)
    sentences = AbstractSentenceSerializer(many=True)
    ranks = _numbers(
        FIRST, allow_null=True,
        help_text="The numbers of the nearest sentences, the nearest first; empty where they are not ranked yet, null "
        "where the round does not show them.",
    )  # fmt: skip


class SupportValueSerializer(Plain):
    """The sentences that support the target, by their numbers; none where the study does not support it."""

    support = _numbers(MOST)
    ranked = _numbers(FIRST, default=list, help_text="What was shown as ranks 1, 2, 3.")

    def validate_support(self, numbers: list[int]) -> list[int]:
        if len(set(numbers)) != len(numbers):
            raise serializers.ValidationError("A sentence is marked once.")
        return sorted(numbers)
