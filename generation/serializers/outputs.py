"""What came out, alone and side by side, in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST
from api.problems import Refused

from ..models import ItemStatus, UnitLevel

Plain = serializers.Serializer[Any]
#: ``hidden``: sealed from whoever asks. ``absent``: the unit is in no run of the version.
STATES = (*ItemStatus.values, "hidden", "absent")


class OutputFilterSerializer(Plain):
    level = serializers.ChoiceField(choices=UnitLevel.choices, required=False, default="")
    versions = serializers.CharField(
        required=False, default="", help_text="Ids, by commas, in the order to show; else what was run, one a system."
    )
    unit = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST, help_text="The page that has this unit, instead of ``page``."
    )

    def validate_versions(self, value: str) -> list[int]:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if any(not part.isdecimal() or len(part) > 18 for part in parts):
            raise Refused.field("versions", "Ids of versions, by commas.")
        return [int(part) for part in parts]


class InputCutSerializer(Plain):
    """How much of a unit's inputs was left out, where nobody here has the tokenizer: an endpoint's."""

    unit = serializers.CharField(help_text="words or characters.")
    of = serializers.IntegerField(help_text="How long the inputs are.")
    left_out = serializers.IntegerField()


class SummaryTextSerializer(Plain):
    """One output, as it came out. Token counts are null where the backend has no tokens."""

    text = serializers.CharField(allow_blank=True)
    finish = serializers.CharField(help_text="complete, length (cut off at the longest allowed) or unknown.")
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_cut = serializers.IntegerField(allow_null=True, help_text="Input tokens that did not fit.")
    cut = InputCutSerializer(allow_null=True, help_text="Null where all was read, or tokens are counted.")
    tokens_out = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField()
    digest = serializers.CharField(help_text="SHA-256 of the text.")


class RunSummarySerializer(SummaryTextSerializer):
    unit = serializers.IntegerField()
    key = serializers.CharField()


class CopiedRangeSerializer(Plain):
    """A half-open range of Unicode code points of the summary that stands word for word in one of the inputs."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class CopyingSerializer(Plain):
    """How much of a summary is copied from its inputs (`measures.copying`); case is ignored."""

    ranges = CopiedRangeSerializer(many=True, help_text="What to mark: runs of ``least`` tokens or more.")
    least = serializers.IntegerField()
    coverage = serializers.FloatField(allow_null=True, help_text="Share of its tokens that occur in the inputs, 0..1.")
    longest = serializers.IntegerField(allow_null=True, help_text="Tokens of the longest run copied from one input.")
    tokens = serializers.IntegerField(help_text="Tokens of the summary.")
    undefined = serializers.CharField(allow_blank=True, help_text="Why the figures are null.")


class ReadSummarySerializer(SummaryTextSerializer):
    copying = CopyingSerializer()


class OutputCellSerializer(Plain):
    """What one version wrote of one unit."""

    version = serializers.IntegerField()
    system = serializers.CharField()
    number = serializers.IntegerField()
    run = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField(choices=[(state, state) for state in STATES])
    error = serializers.CharField(allow_blank=True)
    summary = ReadSummarySerializer(allow_null=True)


class InputTextSerializer(Plain):
    text = serializers.CharField(allow_blank=True)
    title = serializers.CharField(allow_blank=True)
    key = serializers.CharField(allow_blank=True, help_text="PMID of the study.")


class ReferenceSerializer(Plain):
    """What the summary should say: the unit's own target first, for a document also each proposition of its review."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    text = serializers.CharField(allow_blank=True)


class UnitOutputsSerializer(Plain):
    """One unit: what is read, what should be said, and what was written."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    place = serializers.IntegerField(help_text="In the order of the corpus, from 1.")
    question = serializers.CharField(allow_blank=True)
    background = serializers.CharField(allow_blank=True)
    pico = serializers.DictField(child=serializers.CharField(allow_blank=True))
    inputs = InputTextSerializer(many=True)
    references = ReferenceSerializer(many=True)
    outputs = OutputCellSerializer(many=True)
