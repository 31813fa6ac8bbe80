"""The shapes of the match kind."""

from typing import Any

from rest_framework import serializers

from ...models.matching import CANDIDATES

Plain = serializers.Serializer[Any]


class MatchCardSerializer(Plain):
    """What a person is shown: nothing that tells where a sentence is from, or which of them is the evidence."""

    target = serializers.CharField(help_text="The sentence of the review.")
    candidates = serializers.ListField(
        child=serializers.CharField(), min_length=CANDIDATES, max_length=CANDIDATES,
        help_text="Four sentences of one study, in the order of the page.",
    )  # fmt: skip


class MatchValueSerializer(Plain):
    most_relevant = serializers.IntegerField(
        min_value=1, max_value=CANDIDATES, help_text="The place of a candidate on the page, from 1."
    )
