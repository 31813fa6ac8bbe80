"""Results in JSON: what can be scored and drawn, and the scores of single summaries."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict
from api.parameters import ParameterSerializer
from projects.serializers.plots import LookQuerySerializer
from projects.serializers.rounds import JobSerializer
from projects.serializers.tables import ResultTableSerializer

from ..models import UnitLevel

Plain = serializers.Serializer[Any]


class FigureSerializer(Plain):
    key = serializers.CharField()
    name = serializers.CharField(source="label")


class MetricSerializer(Plain):
    """A metric, with what may be set and what it says."""

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
    items = serializers.IntegerField(help_text="Units of the run; those that failed have no summary.")
    scored = serializers.ListField(child=serializers.CharField(), help_text="Metrics that have scored it.")


class PlotSerializer(Plain):
    metric = serializers.CharField()
    figure = serializers.CharField()
    title = serializers.CharField()


class UnderWaySerializer(Plain):
    job = serializers.IntegerField()
    run = serializers.IntegerField()
    metric = serializers.CharField()


class FailedScoringSerializer(Plain):
    """A run and a metric whose last try failed, and why."""

    run = serializers.IntegerField()
    metric = serializers.CharField()
    error = serializers.CharField(allow_blank=True)


class ResultsSerializer(Plain):
    """The automatic part of a project's results."""

    tables = ResultTableSerializer(many=True)
    runs = ScoredRunSerializer(many=True)
    metrics = MetricSerializer(many=True)
    plots = PlotSerializer(many=True)
    under_way = UnderWaySerializer(many=True, help_text="What will be done next first.")
    failed = FailedScoringSerializer(many=True)


class PlotQuerySerializer(LookQuerySerializer):
    metric = serializers.CharField(max_length=30, required=False, default="rouge")
    figure = serializers.CharField(max_length=60, required=False, default="rouge1_f1")


class ScoreQuerySerializer(Plain):
    metric = serializers.CharField(max_length=30, required=False, default="rouge")
    figure = serializers.CharField(max_length=60, required=False, default="", help_text="To sort by.")
    descending = serializers.BooleanField(required=False, default=False)


class SummaryScoreSerializer(Plain):
    """What a metric says of one summary, against one reference."""

    summary = serializers.IntegerField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    against = serializers.CharField(allow_blank=True, help_text="Empty where it compares with no reference.")
    text = serializers.CharField(allow_blank=True)
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))
    undefined = serializers.DictField(child=serializers.CharField())


class NewScoringSerializer(Strict):
    metric = serializers.CharField(max_length=30)
    params = serializers.DictField(required=False, default=dict)


class AskedSerializer(Plain):
    """The job that scores it; null where it was scored already."""

    job = JobSerializer(allow_null=True)
