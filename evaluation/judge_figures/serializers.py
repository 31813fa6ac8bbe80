"""Serializers of what judges are worth. They follow the structure of `measures.judges`."""

from typing import Any

from rest_framework import serializers

from ..models import JudgeFigures
from ..results.serializers import numbers, words

Plain = serializers.Serializer[Any]


class JudgeFigureSerializer(Plain):
    """A figure over n texts or pairs. ``undefined`` states why there is no value, ``ci_reason`` why no interval."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    sources = serializers.IntegerField()
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True)
    undefined = serializers.CharField(allow_blank=True)


class FamilyFigureSerializer(JudgeFigureSerializer):
    systems = words()


class JudgeWithRaterSerializer(Plain):
    rater = serializers.CharField()
    value = serializers.FloatField(allow_null=True)


class JudgeAgreementSerializer(Plain):
    """Agreement of two raters at a time: people with each other, and the judge with people."""

    coefficient = serializers.CharField(help_text="AC1 or AC2, as on the agreement page.")
    own = JudgeFigureSerializer(help_text="Mean over the pairs of people.")
    judge = JudgeFigureSerializer(help_text="Mean over the judge with each person.")
    consensus = JudgeFigureSerializer(help_text="The judge with the majority or the mean of people.")
    difference = JudgeFigureSerializer(help_text="Judge minus own.")
    raters = JudgeWithRaterSerializer(many=True, help_text="Empty if you can't see who answered what.")


class AnnotatorTestSerializer(Plain):
    annotator = serializers.CharField()
    n = serializers.IntegerField()
    sources = serializers.IntegerField()
    judge_wins = serializers.FloatField()
    annotator_wins = serializers.FloatField()
    method = serializers.CharField()
    p = serializers.FloatField()
    p_clustered = serializers.FloatField(allow_null=True)
    rejected = serializers.BooleanField()
    rejected_clustered = serializers.BooleanField()


class AlternativeTestSerializer(Plain):
    """The alternative annotator test. ``cited`` is the lower winning rate: of the t test and of the clustered test."""

    epsilon = serializers.FloatField()
    winning_rate = serializers.FloatField(allow_null=True)
    winning_rate_clustered = serializers.FloatField(allow_null=True)
    cited = serializers.FloatField(allow_null=True)
    advantage = serializers.FloatField(allow_null=True)
    passes = serializers.BooleanField()
    undefined = serializers.CharField(allow_blank=True)
    undefined_clustered = serializers.CharField(allow_blank=True)
    annotators = AnnotatorTestSerializer(many=True)


class PositionSerializer(Plain):
    flips = JudgeFigureSerializer(help_text="Share of choices or values that change with the order of the texts.")
    first = JudgeFigureSerializer(allow_null=True, help_text="Share of choices for the text read first; .5 is no bias.")


class SystemOrderSerializer(Plain):
    """The share of pairs of systems that the judge orders as people do."""

    value = serializers.FloatField(allow_null=True)
    right = serializers.IntegerField()
    n = serializers.IntegerField()
    systems = serializers.IntegerField()
    undefined = serializers.CharField(allow_blank=True)


class CalibrationPointSerializer(Plain):
    judge = serializers.FloatField()
    human = serializers.FloatField()
    n = serializers.IntegerField()


class CalibrationSerializer(Plain):
    bias = JudgeFigureSerializer(help_text="Judge minus people.")
    slope = JudgeFigureSerializer(help_text="Slope of people's values on the judge's.")
    points = CalibrationPointSerializer(many=True)
    consistency = JudgeFigureSerializer(help_text="Share of pages' texts whose samples have one value.")


class PoweredSerializer(Plain):
    """A human-only and a prediction-powered mean. ``saved``: as precise as this number of human-rated sources."""

    n = serializers.IntegerField(required=False)
    others = serializers.IntegerField(required=False)
    human = serializers.FloatField(allow_null=True, required=False)
    human_se = serializers.FloatField(allow_null=True, required=False)
    human_ci = numbers(allow_null=True, required=False)
    human_ci_reason = serializers.CharField(allow_blank=True, required=False)
    judge = serializers.FloatField(allow_null=True, required=False)
    bias = serializers.FloatField(allow_null=True, required=False)
    tuning = serializers.FloatField(allow_null=True, required=False)
    value = serializers.FloatField(allow_null=True, required=False)
    se = serializers.FloatField(allow_null=True, required=False)
    ci = numbers(allow_null=True, required=False)
    ci_reason = serializers.CharField(allow_blank=True, required=False)
    saved = serializers.FloatField(allow_null=True, required=False)
    undefined = serializers.CharField(allow_blank=True)


class PoweredSystemSerializer(PoweredSerializer):
    system = serializers.CharField()


class PoweredPairSerializer(PoweredSerializer):
    first = serializers.CharField()
    second = serializers.CharField()


class JudgeCorrelationSerializer(Plain):
    """The correlation of the judge's values with people's, at one level (see `CorrelationSerializer`)."""

    level = serializers.CharField(help_text="system or summary.")
    coefficient = serializers.CharField(help_text="kendall, spearman or pearson.")
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    undefined = serializers.CharField(allow_blank=True)
    ci_reason = serializers.CharField(allow_blank=True)


class JudgedCriterionSerializer(Plain):
    criterion = serializers.CharField()
    kind = serializers.ChoiceField(choices=["mean", "share", "counts", "best-worst", "preference"])
    better = serializers.ChoiceField(choices=["higher", "lower", ""])
    n = serializers.IntegerField()
    sources = serializers.IntegerField()
    decision = serializers.ChoiceField(choices=["yes", "no", "unknown"])
    reasons = words()
    sentence = serializers.CharField()
    agreement = JudgeAgreementSerializer()
    alternative = AlternativeTestSerializer()
    position = PositionSerializer()
    undefined = serializers.CharField(allow_blank=True, help_text="Why the figures below are missing.")
    correlations = JudgeCorrelationSerializer(many=True, allow_null=True)
    order = SystemOrderSerializer(allow_null=True)
    length = JudgeFigureSerializer(allow_null=True)
    family = FamilyFigureSerializer(allow_null=True)
    calibration = CalibrationSerializer(allow_null=True)
    systems = PoweredSystemSerializer(many=True)
    pairs = PoweredPairSerializer(many=True)
    imputed = serializers.IntegerField(help_text="Texts without a valid value, which got the judge's mean.")


class JudgeFactsSerializer(Plain):
    answers = serializers.IntegerField()
    failed = serializers.IntegerField()
    followed = serializers.IntegerField()
    sources = serializers.IntegerField()


class JudgeFiguresSerializer(Plain):
    rule = serializers.CharField()
    epsilon = serializers.FloatField()
    facts = JudgeFactsSerializer()
    names = serializers.DictField(child=serializers.CharField())
    criteria = JudgedCriterionSerializer(many=True)


class JudgedRunSerializer(Plain):
    """A judge run on an unblinded round, with its stored figures. ``figures`` is null if they are not computed yet."""

    run = serializers.IntegerField()
    judge = serializers.CharField()
    model = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    samples = serializers.IntegerField()
    both_orders = serializers.BooleanField()
    finished_at = serializers.DateTimeField(allow_null=True)
    group = serializers.ChoiceField(choices=JudgeFigures.Group.choices, allow_blank=True)
    made_at = serializers.DateTimeField(allow_null=True)
    outdated = words()
    job = serializers.IntegerField(allow_null=True)
    figures = JudgeFiguresSerializer(allow_null=True)


class RaterGroupSerializer(Plain):
    group = serializers.ChoiceField(choices=JudgeFigures.Group.choices, help_text="Sets epsilon: .2, .15 or .1.")
