"""The shapes of the match kind."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...models.matching import CANDIDATES

Plain = serializers.Serializer[Any]


class MatchCandidateSerializer(Plain):
    number = serializers.IntegerField(
        min_value=1, max_value=CANDIDATES, help_text="What an answer calls it by: the same for everybody."
    )
    text = serializers.CharField()


class MatchCardSerializer(Plain):
    """What a person is shown: nothing that tells where a sentence is from, or which of them is the evidence."""

    target = serializers.CharField(help_text="The sentence of the review.")
    candidates = MatchCandidateSerializer(
        many=True, **at_most(CANDIDATES),
        help_text="Four sentences of one study, in the order of the page: each person of an item has another.",
    )  # fmt: skip


class MatchValueSerializer(Plain):
    most_relevant = serializers.IntegerField(
        min_value=1, max_value=CANDIDATES, help_text="The number of a candidate, wherever it stands on the page."
    )
