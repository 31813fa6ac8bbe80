"""Serializers of results: tables, scores, and outputs side by side."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict, UnitNameField
from api.parameters import ParameterSerializer
from api.problems import Refused
from projects.jobs.serializers import JobSerializer
from projects.reports.serializers import ResultTableSerializer

from ..models import ItemStatus, UnitLevel

Plain = serializers.Serializer[Any]
#: ``hidden``: embargoed for the user. ``absent``: no run of the version contains the unit.
STATES = (*ItemStatus.values, "hidden", "absent")


class OutputFilterSerializer(Plain):
    level = serializers.ChoiceField(choices=UnitLevel.choices, required=False, default="")
    versions = serializers.CharField(
        required=False,
        default="",
        help_text="Version IDs, separated by commas, in display order. Default: the newest run version of each system.",
    )
    unit = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST, help_text="Return the page with this unit instead of ``page``."
    )

    def validate_versions(self, value: str) -> list[int]:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if any(not part.isdecimal() or len(part) > 18 for part in parts):
            raise Refused.field("versions", "Must be version IDs separated by commas.")
        return [int(part) for part in parts]


class InputCutSerializer(Plain):
    """How much of the inputs was cut, in words or characters, for an endpoint whose tokenizer is not available."""

    unit = serializers.CharField(help_text="words or characters.")
    of = serializers.IntegerField(help_text="Length of the inputs.")
    left_out = serializers.IntegerField()


class SummaryTextSerializer(Plain):
    """One output, unchanged. Token counts are null if the backend does not use tokens."""

    text = serializers.CharField(allow_blank=True)
    finish = serializers.CharField(help_text="complete, length (cut off at the maximum length) or unknown.")
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_cut = serializers.IntegerField(allow_null=True, help_text="Input tokens that did not fit.")
    cut = InputCutSerializer(allow_null=True, help_text="Null if nothing was cut, or if tokens are counted.")
    tokens_out = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField()
    digest = serializers.CharField(help_text="SHA-256 of the text.")


class RunSummarySerializer(SummaryTextSerializer):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()


class CopiedRangeSerializer(Plain):
    """A half-open range of Unicode code points of the summary that occurs verbatim in one of the inputs."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class CopyingSerializer(Plain):
    """How much of a summary is copied from its inputs (`measures.copying`). Case is ignored."""

    ranges = CopiedRangeSerializer(many=True, help_text="Copied runs of ``least`` tokens or more.")
    least = serializers.IntegerField()
    coverage = serializers.FloatField(
        allow_null=True, help_text="Share of the summary's tokens that occur in the inputs, 0 to 1."
    )
    longest = serializers.IntegerField(allow_null=True, help_text="Tokens of the longest run copied from one input.")
    tokens = serializers.IntegerField(help_text="Tokens of the summary.")
    undefined = serializers.CharField(allow_blank=True, help_text="Why the values are null.")


class ReadSummarySerializer(SummaryTextSerializer):
    copying = CopyingSerializer()


class OutputCellSerializer(Plain):
    """The output of one version for one unit."""

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
    direction = serializers.CharField(
        allow_blank=True, help_text="At the level of pairs: the direction of the effect that the study states."
    )


class ReferenceSerializer(Plain):
    """A reference of the summary: first the unit's own target, then, for a document, each proposition of its review.

    For a passage or question: each written summary.
    """

    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    name = serializers.CharField(allow_blank=True, help_text="Name of a written summary: its form and its writer.")
    text = serializers.CharField(allow_blank=True)


class UnitOutputsSerializer(Plain):
    """One unit with its inputs, references and outputs."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    position = serializers.IntegerField(help_text="Position in corpus order, from 1.")
    question = serializers.CharField(allow_blank=True)
    background = serializers.CharField(allow_blank=True)
    pico = serializers.DictField(child=serializers.CharField(allow_blank=True))
    inputs = InputTextSerializer(many=True)
    references = ReferenceSerializer(many=True)
    outputs = OutputCellSerializer(many=True)


class FigureSerializer(Plain):
    key = serializers.CharField()
    name = serializers.CharField(source="label")


class MetricSerializer(Plain):
    """A metric with its parameters and figures."""

    key = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    parameters = ParameterSerializer(many=True)
    figures = FigureSerializer(many=True)


class ScoredRunSerializer(Plain):
    run = serializers.IntegerField()
    name = serializers.CharField()
    level = serializers.ChoiceField(choices=UnitLevel.choices)
    version = serializers.IntegerField()
    summaries = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Units of the run. Failed units have no summary.")
    scored = serializers.ListField(child=serializers.CharField(), help_text="Metrics with scores for the run.")


class UnderWaySerializer(Plain):
    job = serializers.IntegerField()
    run = serializers.IntegerField()
    metric = serializers.CharField()


class FailedScoringSerializer(Plain):
    """A run and a metric whose last attempt failed, with the error."""

    run = serializers.IntegerField()
    metric = serializers.CharField()
    error = serializers.CharField(allow_blank=True)


class SeenUnitsSerializer(Plain):
    """How many units of a level the model of any system has seen in a training."""

    level = serializers.ChoiceField(choices=UnitLevel.choices)
    units = serializers.IntegerField()


class UnseenQuerySerializer(Plain):
    unseen = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Leave out, for all systems, the units that were used to train or choose the model of any.",
    )


class ListedTableSerializer(ResultTableSerializer):
    of_rounds = serializers.BooleanField(help_text="Whether the table is about rating rounds.")


class ResultsSerializer(Plain):
    """The automatic part of a project's results."""

    tables = ListedTableSerializer(many=True)
    runs = ScoredRunSerializer(many=True)
    metrics = MetricSerializer(many=True)
    under_way = UnderWaySerializer(many=True, help_text="Queued and running scorings, in order of execution.")
    failed = FailedScoringSerializer(many=True)
    seen = SeenUnitsSerializer(many=True, help_text="Units that ``unseen`` leaves out.")


class ScoreQuerySerializer(Plain):
    metric = serializers.CharField(max_length=30, required=False, default="rouge")
    figure = serializers.CharField(max_length=60, required=False, default="", help_text="Figure to sort by.")
    descending = serializers.BooleanField(required=False, default=False)


class SummaryScoreSerializer(Plain):
    """The scores of one summary by a metric, against one reference."""

    summary = serializers.IntegerField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    against = serializers.CharField(allow_blank=True, help_text="Empty if the metric uses no reference.")
    text = serializers.CharField(allow_blank=True)
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))
    undefined = serializers.DictField(child=serializers.CharField())


class NewScoringSerializer(Strict):
    metric = serializers.CharField(max_length=30)
    params = serializers.DictField(required=False, default=dict)


class AskedSerializer(Plain):
    """The job that computes the scores; null if they exist already."""

    job = JobSerializer(allow_null=True)
