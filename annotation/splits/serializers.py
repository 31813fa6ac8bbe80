"""Serializers of splits."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from api.fields import NameField, Strict
from measures.splits.allotting import Part
from projects.jobs.serializers import JobSerializer
from projects.permissions import Names

from ..models import DataSplit, SplitLevel, SplitMode
from .parameters import STRATA, TOPICS, SplitParameters

Plain = serializers.Serializer[Any]
#: A split from a file is uploaded.
REQUESTED_MODES = [(mode.value, mode.label) for mode in SplitMode if mode != SplitMode.IMPORTED]


class PartSerializer(Plain):
    name = serializers.CharField(max_length=40)
    share = serializers.FloatField(min_value=0, max_value=1, help_text="Share of the units, between 0 and 1.")


class SplitRequestSerializer(Strict):
    """A split by component, or as the imported data has it. A split from a file is uploaded instead."""

    name = NameField(max_length=40)
    level = serializers.ChoiceField(choices=SplitLevel.choices)
    mode = serializers.ChoiceField(choices=REQUESTED_MODES)
    parts = PartSerializer(many=True, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=2**53, default=0)
    strata = serializers.ListField(
        child=serializers.ChoiceField(choices=STRATA),
        allow_null=True,
        default=None,
        help_text="Null: each whose values can be in every part.",
    )
    topics = serializers.ChoiceField(choices=TOPICS, allow_blank=True, default="")
    encoder = serializers.CharField(max_length=200, allow_blank=True, default="")
    topic_count = serializers.IntegerField(min_value=2, max_value=100, default=10)
    near = serializers.FloatField(
        min_value=0.5, max_value=0.99, allow_null=True, default=None, help_text="Similarity of near-equal texts."
    )
    drop = serializers.ListField(
        child=serializers.CharField(max_length=60), max_length=1000, default=list, help_text="Reviews that leave."
    )
    allow_empty = serializers.BooleanField(default=False)

    def asked(self) -> SplitParameters:
        given: Mapping[str, Any] = self.validated_data
        parts = [Part(part["name"], part["share"]) for part in given.get("parts", ())]
        return SplitParameters(**{**given, "drop": tuple(given["drop"]), **({"parts": tuple(parts)} if parts else {})})


class SplitFileSerializer(Strict):
    file = serializers.FileField(help_text="CSV or JSON lines with the columns unit (or review) and part.")
    name_of_split = serializers.CharField(max_length=40)
    level = serializers.ChoiceField(choices=SplitLevel.choices)
    near = serializers.FloatField(min_value=0.5, max_value=0.99, required=False)


class SharedSerializer(Plain):
    count = serializers.IntegerField()
    first = serializers.ListField(child=serializers.JSONField(), help_text="PubMed ids, or pairs of units.")


class SplitPairSerializer(Plain):
    """What two parts share."""

    parts = serializers.ListField(child=serializers.CharField())
    pmids = SharedSerializer()
    texts = SharedSerializer()
    near = SharedSerializer(allow_null=True, help_text="Null: not searched.")


class SplitContentSerializer(Plain):
    part = serializers.CharField()
    pmids = serializers.IntegerField(help_text="Distinct PubMed ids of its reviews and studies.")
    texts = serializers.IntegerField(help_text="Distinct texts.")


class SplitLeakageSerializer(Plain):
    parts = SplitContentSerializer(many=True)
    pairs = SplitPairSerializer(many=True)


class RandomPairSerializer(Plain):
    parts = serializers.ListField(child=serializers.CharField())
    pmids = serializers.FloatField(help_text="Mean number of shared PubMed ids.")


class RandomSplitsSerializer(Plain):
    """Random splits by review with the same shares."""

    repeats = serializers.IntegerField()
    pairs = RandomPairSerializer(many=True)
    clean_over_all = serializers.IntegerField(help_text="Splits in which no PubMed id is in all parts (MS^2's test).")


class TitledReviewSerializer(Plain):
    review = serializers.CharField()
    title = serializers.CharField(allow_blank=True, help_text="Title, else the first text.")


class LargestComponentSerializer(Plain):
    units = serializers.IntegerField()
    of = serializers.IntegerField(help_text="Number of all units.")
    reviews = serializers.IntegerField()
    pmids = serializers.IntegerField()
    parts = serializers.ListField(child=serializers.CharField(), help_text="Parts that have its units.")
    larger_than = serializers.ListField(child=serializers.CharField(), help_text="Parts that it does not fit into.")
    keys = serializers.ListField(child=serializers.CharField(), help_text="Its first units.")
    titles = TitledReviewSerializer(many=True)


class ComponentsSerializer(Plain):
    count = serializers.IntegerField()
    divided = serializers.IntegerField(help_text="Number of components in several parts.")
    sizes = serializers.ListField(child=serializers.IntegerField(), help_text="Units of the largest ones.")
    largest = LargestComponentSerializer()


class SplitStratumSerializer(Plain):
    """Units with one value, by part. Name and value are empty for all units."""

    name = serializers.CharField(allow_blank=True)
    value = serializers.CharField(allow_blank=True)
    counts = serializers.ListField(child=serializers.IntegerField())
    deviations = serializers.ListField(
        child=serializers.FloatField(allow_null=True), help_text="Share minus the share of the part, in points."
    )


class SplitPartSerializer(Plain):
    part = serializers.CharField()
    units = serializers.IntegerField()
    reviews = serializers.IntegerField()


class NearSerializer(Plain):
    threshold = serializers.FloatField()
    pairs = serializers.IntegerField(help_text="Pairs of near-equal texts in the data.")


class SplitReportSerializer(Plain):
    units = serializers.IntegerField()
    reviews = serializers.IntegerField()
    in_no_part = serializers.IntegerField()
    dropped = serializers.ListField(child=serializers.CharField())
    parts = SplitPartSerializer(many=True)
    components = ComponentsSerializer()
    strata = SplitStratumSerializer(many=True)
    left_out_strata = serializers.DictField(child=serializers.CharField(), help_text="Reason by stratum.")
    topics = serializers.CharField(allow_blank=True)
    near = NearSerializer(allow_null=True)
    leakage = SplitLeakageSerializer()
    random = RandomSplitsSerializer()


class SplitRowSerializer(Plain):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    level = serializers.ChoiceField(choices=SplitLevel.choices)
    mode = serializers.ChoiceField(choices=SplitMode.choices)
    first_release = serializers.CharField(allow_blank=True, help_text="First release that has it; empty if none.")
    created_at = serializers.DateTimeField()


class SplitSerializer(SplitRowSerializer):
    seed = serializers.IntegerField()
    parts = PartSerializer(many=True)
    report = SplitReportSerializer()
    outside = serializers.IntegerField(help_text="Units of the level that are in no part, as those added later.")
    created_by = serializers.SerializerMethodField(
        help_text="Name of the person if the user may see names, else the pseudonym."
    )

    def get_created_by(self, split: DataSplit) -> str:
        names: Names = self.context["names"]
        return names.of(split.created_by)


class SplitLevelCountSerializer(Plain):
    level = serializers.ChoiceField(choices=SplitLevel.choices)
    name = serializers.CharField(help_text="Plural noun for its units.")
    units = serializers.IntegerField()
    strata = serializers.ListField(child=serializers.CharField())


class SplitsSerializer(Plain):
    """The splits of a project, oldest first, and what can be split."""

    splits = SplitRowSerializer(many=True)
    levels = SplitLevelCountSerializer(many=True, help_text="Levels with units, the finest first.")
    job = JobSerializer(allow_null=True, help_text="The newest job for a split, if it is in progress or failed.")
