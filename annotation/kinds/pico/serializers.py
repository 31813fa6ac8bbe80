"""The shapes of the pico kind; those of its slots are `annotation.kinds.slots`'."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...corpus import lengths
from ...corpus.slots import texts_of
from ..slots import TupleValueSerializer

Plain = serializers.Serializer[Any]


class PicoValueSerializer(Plain):
    """The tuples of the propositions that a sentence makes, in the order in which they were written."""

    tuples = TupleValueSerializer(many=True, allow_empty=False, **at_most(lengths.TUPLES))

    def validate_tuples(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """No two may be the same but for case and spaces: what a blank comparator means makes no other claim."""
        met: dict[tuple[str, ...], int] = {}
        for number, row in enumerate(rows, start=1):
            if (earlier := met.setdefault(texts_of(row), number)) != number:
                raise serializers.ValidationError(f"Proposition {number} is the same as proposition {earlier}.")
        return rows


class PicoCardSerializer(Plain):
    """A target sentence, and where there is something to confirm or correct, the split in force."""

    text = serializers.CharField()
    key = serializers.CharField()
    title = serializers.CharField(allow_blank=True, help_text="Of the review, which may name what is implied.")
    in_force = PicoValueSerializer(allow_null=True)
