"""Serializers of rating results. They follow the structure of `measures.ratings`."""

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


def numbers(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(), **kwargs)


def numbers_or_none() -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(allow_null=True))


def words() -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField())


class RatedRoundSerializer(Plain):
    round = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    protocol = serializers.CharField(help_text="Protocol with its version. Ratings of two versions are never pooled.")
    protocol_name = serializers.CharField()
    rater_group = serializers.CharField(allow_blank=True, help_text="Group of imported raters: experts or crowd.")
    unblinded_at = serializers.DateTimeField()


class RandomRatersSerializer(Plain):
    """The interval that generalises over raters, and the variance components of a G-study of texts and raters."""

    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True)
    texts = serializers.FloatField(allow_null=True)
    raters = serializers.FloatField(allow_null=True)
    residual = serializers.FloatField(allow_null=True)


class SystemFigureSerializer(Plain):
    """A system's mean or share for one criterion, over n texts. ``undefined`` states why there is no value."""

    system = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    sources = serializers.IntegerField()
    judgements = serializers.IntegerField()
    na = serializers.IntegerField()
    sd = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True, required=False)
    undefined = serializers.CharField(allow_blank=True)
    counts = serializers.DictField(child=serializers.IntegerField())
    count = serializers.FloatField(required=False, help_text="For a share: its numerator, out of n texts.")
    random_raters = RandomRatersSerializer(required=False)


class SystemsDifferenceSerializer(Plain):
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True, required=False)


class ComparedSerializer(Plain):
    difference = SystemsDifferenceSerializer()
    p = serializers.FloatField(allow_null=True)


class BesideTestSerializer(Plain):
    """A Wilcoxon or McNemar test, reported in addition to the permutation test."""

    n = serializers.IntegerField()
    zeros = serializers.IntegerField(required=False)
    p = serializers.FloatField(allow_null=True)
    sided = serializers.CharField()
    method = serializers.CharField(allow_blank=True)
    undefined = serializers.CharField(allow_blank=True)


class PairFigureSerializer(Plain):
    """The difference first minus second. ``holm`` is p adjusted for all pairs of the criterion."""

    first = serializers.CharField()
    second = serializers.CharField()
    comparison = ComparedSerializer()
    holm = serializers.FloatField(allow_null=True)
    different = serializers.BooleanField()
    wilcoxon = BesideTestSerializer(required=False)
    mcnemar = BesideTestSerializer(required=False)


class AgainSerializer(Plain):
    """Consistency of raters on repeated pages."""

    n = serializers.IntegerField()
    same = serializers.IntegerField(required=False, allow_null=True)
    kappa = serializers.FloatField(required=False, allow_null=True)
    no_kappa = serializers.CharField(required=False, allow_blank=True)
    difference = serializers.FloatField(required=False, allow_null=True)
    undefined = serializers.CharField(required=False, allow_blank=True)


class CriterionFiguresSerializer(Plain):
    criterion = serializers.CharField()
    kind = serializers.ChoiceField(choices=["mean", "share", "counts", "best-worst"])
    better = serializers.ChoiceField(choices=["higher", "lower", ""])
    good = words()
    values = words()
    bounds = numbers(allow_null=True, help_text="Lowest and highest possible mean.")
    systems = SystemFigureSerializer(many=True)
    pairs = PairFigureSerializer(many=True)
    letters = serializers.DictField(child=serializers.CharField(allow_blank=True))
    again = AgainSerializer()


class SeveritySerializer(Plain):
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True, required=False)


class RaterFiguresSerializer(Plain):
    rater = serializers.CharField()
    judgements = serializers.IntegerField()
    pages = serializers.IntegerField()
    median_ms = serializers.FloatField(allow_null=True)
    fast = serializers.IntegerField()
    severity = serializers.DictField(child=SeveritySerializer())


class StrengthSerializer(Plain):
    system = serializers.CharField()
    strength = serializers.FloatField(allow_null=True)
    chosen = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True, required=False)
    wins = serializers.FloatField()
    choices = serializers.FloatField()


class LeftSerializer(Plain):
    count = serializers.IntegerField()
    n = serializers.IntegerField()


class PreferenceFiguresSerializer(Plain):
    criterion = serializers.CharField()
    n = serializers.IntegerField()
    sources = serializers.IntegerField()
    ties = serializers.IntegerField()
    neither = serializers.IntegerField()
    left = LeftSerializer()
    systems = StrengthSerializer(many=True)
    undefined = serializers.CharField(allow_blank=True)


class BestWorstSystemSerializer(Plain):
    """The strength of a system, and how often its texts were shown in a tuple, best and worst."""

    system = serializers.CharField()
    strength = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True)
    shown = serializers.IntegerField()
    best = serializers.IntegerField()
    worst = serializers.IntegerField()


class BestWorstFiguresSerializer(Plain):
    """Strengths by a criterion from the best and the worst of each tuple, as logarithms with mean 0."""

    criterion = serializers.CharField()
    n = serializers.IntegerField()
    sources = serializers.IntegerField()
    systems = BestWorstSystemSerializer(many=True)
    undefined = serializers.CharField(allow_blank=True)


class StandardisedFiguresSerializer(Plain):
    """Means of the raters' standard scores on a slider. ``left_out`` are raters without variance."""

    criterion = serializers.CharField()
    better = serializers.ChoiceField(choices=["higher", "lower", ""])
    systems = SystemFigureSerializer(many=True)
    pairs = PairFigureSerializer(many=True)
    letters = serializers.DictField(child=serializers.CharField(allow_blank=True))
    raters = serializers.IntegerField()
    left_out = words()


class CorrelationSerializer(Plain):
    metric = serializers.CharField()
    criterion = serializers.CharField()
    level = serializers.ChoiceField(choices=["system", "summary"])
    coefficient = serializers.ChoiceField(choices=["kendall", "spearman", "pearson"])
    value = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    n = serializers.IntegerField()
    undefined = serializers.CharField(allow_blank=True)
    ci_reason = serializers.CharField(allow_blank=True, required=False)


class MetricMeanSerializer(Plain):
    """Mean score of a system over the rated texts, not over the whole run."""

    system = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True, required=False)
    undefined = serializers.CharField(allow_blank=True)


class MetricMeansSerializer(Plain):
    metric = serializers.CharField()
    systems = MetricMeanSerializer(many=True)


class PrintedMetricSerializer(Plain):
    label = serializers.CharField()  # type: ignore[assignment]
    scale = serializers.FloatField()
    decimals = serializers.IntegerField()
    better = serializers.ChoiceField(choices=["higher", "lower", ""])
    headline = serializers.BooleanField()


class RatedPointsSerializer(Plain):
    """Texts as points of a plot: those of ``items`` of the ``of`` rated items. ``system`` holds an index per text."""

    items = serializers.IntegerField()
    of = serializers.IntegerField()
    system = serializers.ListField(child=serializers.IntegerField())
    criteria = serializers.DictField(child=numbers_or_none())
    metrics = serializers.DictField(child=numbers_or_none())


class RatingsSerializer(Plain):
    """All results of a round, or the results after the declared exclusions."""

    rule = serializers.CharField()
    judgements = serializers.IntegerField()
    sources = serializers.IntegerField()
    items = serializers.IntegerField()
    systems = words()
    criteria = CriterionFiguresSerializer(many=True)
    raters = RaterFiguresSerializer(many=True)
    preferences = PreferenceFiguresSerializer(many=True)
    best_worst = BestWorstFiguresSerializer(many=True)
    standardised = StandardisedFiguresSerializer(many=True)
    correlations = CorrelationSerializer(many=True)
    metrics = MetricMeansSerializer(many=True)
    points = RatedPointsSerializer()


class LeftOutSerializer(Plain):
    rule = serializers.CharField()
    raters = words()
    judgements = serializers.IntegerField()


class CheckedSerializer(Plain):
    rater = serializers.CharField()
    failed = serializers.IntegerField()
    had = serializers.IntegerField()


class SystemDirectionsSerializer(Plain):
    """Directions of the texts of a system, compared with those of the references for the same sources."""

    system = serializers.CharField()
    classes = serializers.ListField(child=serializers.CharField())
    table = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="Counts with the classes of the references in rows. Fractions if raters of one text differ.",
    )
    n = serializers.FloatField()
    correct = serializers.FloatField()
    excluded = serializers.FloatField(help_text="References without a direction, left out.")
    split = serializers.IntegerField(help_text="Pairs with a text whose raters differ.")
    accuracy = serializers.FloatField(allow_null=True)
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True, required=False)
    kappa = serializers.FloatField(allow_null=True)
    kappa_ci = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    no_kappa = serializers.CharField(allow_blank=True)
    undefined = serializers.CharField(allow_blank=True)


class DirectionFiguresSerializer(Plain):
    criterion = serializers.CharField()
    systems = SystemDirectionsSerializer(many=True)


class RatingFiguresSerializer(Plain):
    """Results of a round. ``all`` includes every rating. ``kept`` applies the declared exclusions; null without any."""

    def get_fields(self) -> Any:
        return {"all": RatingsSerializer(), **super().get_fields()}

    kept = RatingsSerializer(allow_null=True)
    left_out = LeftOutSerializer(many=True)
    directions = DirectionFiguresSerializer(many=True, help_text="Empty unless the references were rated, too.")
    checks = CheckedSerializer(many=True)
    names = serializers.DictField(child=serializers.CharField())
    systems = words()
    printed = serializers.DictField(child=PrintedMetricSerializer(), help_text="How metrics are displayed, by name.")


class CriterionValueSerializer(Plain):
    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class AskedCriterionSerializer(Plain):
    key = serializers.CharField()
    name = serializers.CharField()
    values = CriterionValueSerializer(many=True)


class UnseenQuerySerializer(Plain):
    unseen = serializers.BooleanField(
        required=False, default=False, help_text="Leave out the sources that the model of any system was trained on."
    )


class SeenSourcesSerializer(Plain):
    system = serializers.CharField()
    seen = serializers.IntegerField(help_text="Sources that were used to train or choose its model.")
    sources = serializers.IntegerField()


class RatedRoundFiguresSerializer(RatedRoundSerializer):
    answers = serializers.IntegerField(help_text="Number of answers that count now.")
    made_at = serializers.DateTimeField(allow_null=True)
    outdated = serializers.ListField(
        child=serializers.CharField(), help_text="Why a new computation would give other results."
    )
    job = serializers.IntegerField(allow_null=True, help_text="The job that computes the results, or that failed.")
    criteria = AskedCriterionSerializer(many=True)
    figures = RatingFiguresSerializer(allow_null=True)
    seen = SeenSourcesSerializer(many=True, help_text="Systems whose models were trained on sources of the round.")


class ExampleQuerySerializer(Plain):
    system = serializers.CharField(required=False, default="", max_length=120)
    criterion = serializers.CharField(required=False, default="", max_length=40)
    value = serializers.CharField(required=False, default="", max_length=60, help_text="n/a: not applicable.")


class ExampleMarkSerializer(Plain):
    quote = serializers.CharField()
    category = serializers.CharField(allow_blank=True)
    severity = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)


class ExampleRatingSerializer(Plain):
    rater = serializers.CharField(allow_blank=True, help_text="Empty if the user cannot see who gave which answer.")
    criterion = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    na = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)
    marks = ExampleMarkSerializer(many=True)


class ExampleSerializer(Plain):
    """A summary as its system wrote it, with all of its ratings."""

    source = serializers.CharField()  # type: ignore[assignment]
    query = serializers.CharField(allow_blank=True)
    target = serializers.CharField(allow_blank=True)
    system = serializers.CharField()
    text = serializers.CharField()
    ratings = ExampleRatingSerializer(many=True)
