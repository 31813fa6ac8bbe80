"""The shape of the agreement report."""

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


def numbers(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(), **kwargs)


def table(allow_null: bool = False) -> serializers.ListField:
    return serializers.ListField(child=serializers.ListField(child=serializers.FloatField(allow_null=allow_null)))


class OverReviewsSerializer(Plain):
    """The interval over reviews: the one to cite, for units of one review are alike. Without one, why."""

    se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    undefined = serializers.CharField(allow_null=True)


class CoefficientSerializer(Plain):
    """A defined coefficient; undefined ones are listed with their reason in ``undefined``. ``se`` and ``ci`` take units
    for independent. ``reviews`` is null where no review has several units."""

    value = serializers.FloatField()
    se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    method = serializers.CharField()
    bootstrap_ci = numbers(allow_null=True)
    reviews = OverReviewsSerializer(allow_null=True)


class CohenPairSerializer(Plain):
    raters = serializers.ListField(child=serializers.CharField())
    units = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(required=False)
    se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    method = serializers.CharField()
    reviews = OverReviewsSerializer(allow_null=True)
    percent = serializers.FloatField(allow_null=True)


class CoefficientsSerializer(Plain):
    percent_agreement = CoefficientSerializer(required=False)
    ac1 = CoefficientSerializer(required=False)
    ac2 = CoefficientSerializer(required=False)
    fleiss = CoefficientSerializer(required=False)
    conger = CoefficientSerializer(required=False)
    brennan_prediger = CoefficientSerializer(required=False)
    alpha = CoefficientSerializer(required=False)
    alpha_weighted = CoefficientSerializer(required=False)
    cohen_pairs = CohenPairSerializer(many=True)


class AllAgreeSerializer(Plain):
    count = serializers.IntegerField()
    of = serializers.IntegerField()


class OneVersusRestSerializer(Plain):
    ac1 = serializers.JSONField()
    fleiss = serializers.JSONField()


class CategorySerializer(Plain):
    label = serializers.CharField()  # type: ignore[assignment]
    n = serializers.IntegerField()
    units = serializers.IntegerField()
    specific = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(allow_null=True)
    one_vs_rest = OneVersusRestSerializer()


class PairsSerializer(Plain):
    """Symmetric matrices, raters in the order of ``raters``; the diagonal of ``n``: how many each rated."""

    raters = serializers.ListField(child=serializers.CharField())
    kappa = table(allow_null=True)
    percent = table(allow_null=True)
    n = table()


class PairTableSerializer(Plain):
    raters = serializers.ListField(child=serializers.CharField())
    table = table()


class ConfusionSerializer(Plain):
    scale = serializers.ListField(child=serializers.CharField())
    pooled = table()
    pairs = PairTableSerializer(many=True)


class RatingSerializer(Plain):
    rater = serializers.CharField()
    value = serializers.CharField()


class ContestedSerializer(Plain):
    item = serializers.CharField()
    agreement = serializers.FloatField()
    ratings = RatingSerializer(many=True)


class CurvePointSerializer(Plain):
    units = serializers.IntegerField()
    half_width = serializers.FloatField()


class PlanSerializer(Plain):
    coefficient = serializers.CharField()
    over = serializers.CharField()
    half_width = serializers.FloatField(allow_null=True)
    curve = CurvePointSerializer(many=True)
    needed = CurvePointSerializer(many=True)


class ClassScoreSerializer(Plain):
    label = serializers.CharField()  # type: ignore[assignment]
    n_gold = serializers.IntegerField()
    n_given = serializers.IntegerField()
    precision = serializers.FloatField(allow_null=True)
    recall = serializers.FloatField(allow_null=True)
    f1 = serializers.FloatField(allow_null=True)


class AgainstGoldSerializer(Plain):
    rater = serializers.CharField()
    n = serializers.IntegerField()
    correct = serializers.IntegerField()
    accuracy = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    method = serializers.CharField()
    undefined = serializers.CharField(allow_null=True)
    kappa = serializers.FloatField(allow_null=True)
    confusion = table()
    classes = ClassScoreSerializer(many=True)


class BootstrapSerializer(Plain):
    """``draws``: whole reviews, or units where no review has several."""

    replicates = serializers.IntegerField()
    seed = serializers.IntegerField()
    draws = serializers.CharField()


class ReviewsMethodSerializer(Plain):
    coefficients = serializers.CharField()
    percent_agreement = serializers.CharField()


class MeasureSerializer(Plain):
    name = serializers.CharField()
    scale = serializers.ListField(child=serializers.CharField())
    q = serializers.IntegerField()
    weights = serializers.CharField()
    metric = serializers.CharField()
    level = serializers.FloatField()
    units = serializers.IntegerField()
    reviews = serializers.IntegerField(allow_null=True)
    cite = serializers.CharField(help_text="Over what the interval goes that is to be cited: reviews or units.")
    reviews_method = ReviewsMethodSerializer()
    raters = serializers.IntegerField()
    ratings = serializers.IntegerField()
    missing_share = serializers.FloatField(allow_null=True)
    all_agree = AllAgreeSerializer()
    pairwise = serializers.FloatField(allow_null=True)
    coefficients = CoefficientsSerializer()
    undefined = serializers.DictField(child=serializers.CharField())
    categories = CategorySerializer(many=True)
    pairs = PairsSerializer()
    confusion = ConfusionSerializer()
    contested = ContestedSerializer(many=True)
    bootstrap = BootstrapSerializer()
    warnings = serializers.ListField(child=serializers.CharField())
    plan = PlanSerializer(allow_null=True)
    gold = AgainstGoldSerializer(many=True)


class SpanAgreementSerializer(Plain):
    name = serializers.CharField()
    method = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    pairs = serializers.IntegerField()
    units = serializers.IntegerField()
    both_empty = serializers.IntegerField()
    undefined = serializers.CharField(allow_null=True)


class RepeatMeasureSerializer(Plain):
    name = serializers.CharField()
    units = serializers.IntegerField(help_text="Pairs of a first and a second answer of one person.")
    all_agree = AllAgreeSerializer()
    coefficient = serializers.ChoiceField(choices=["ac1", "ac2"])
    value = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(allow_null=True)


class RepeatsSerializer(Plain):
    """How far people say the same of what they are asked twice; what two people say does not come in."""

    answers = serializers.IntegerField()
    measures = RepeatMeasureSerializer(many=True)


class ReviewedFieldSerializer(Plain):
    field = serializers.CharField()
    reviewed = serializers.IntegerField()
    corrected = serializers.IntegerField()


class ReviewMeasureSerializer(Plain):
    """Cohen's kappa between what was shown and what was made of it: not agreement between independent raters."""

    name = serializers.CharField()
    n = serializers.IntegerField()
    same = serializers.IntegerField()
    kappa = serializers.FloatField(allow_null=True)
    se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    method = serializers.CharField()
    undefined = serializers.CharField(allow_null=True)


class ReviewedSerializer(Plain):
    """What became of the values that were shown, to be confirmed or corrected."""

    note = serializers.CharField(help_text="What these figures are not; to be shown beside them.")
    reviewed = serializers.IntegerField()
    corrected = serializers.IntegerField()
    confirmed = serializers.IntegerField()
    fields = ReviewedFieldSerializer(many=True)  # type: ignore[assignment]
    measures = ReviewMeasureSerializer(many=True)


class AgreementReportSerializer(Plain):
    """``agreement --format json``: every figure with its n, its method and, where it makes sense, its interval."""

    round = serializers.CharField()
    project = serializers.CharField()
    kind = serializers.CharField()
    purpose = serializers.CharField()
    status = serializers.CharField()
    overlap = serializers.IntegerField()
    units = serializers.IntegerField()
    units_answered = serializers.IntegerField()
    raters = serializers.ListField(child=serializers.CharField())
    answers = serializers.IntegerField()
    measures = MeasureSerializer(many=True)
    spans = SpanAgreementSerializer(many=True)
    repeats = RepeatsSerializer(required=False, help_text="Where people were asked again.")


class CitationSerializer(Plain):
    """One sentence: measure, coefficient with its interval, units, raters and method. Empty without answers."""

    text = serializers.CharField(allow_blank=True)
    latex = serializers.CharField(allow_blank=True)


class ContestedUnitSerializer(ContestedSerializer):
    unit = serializers.IntegerField(allow_null=True)
    text = serializers.CharField(allow_blank=True)
    waits = serializers.BooleanField(help_text="For adjudication, where the reader may adjudicate.")


class CitedMeasureSerializer(MeasureSerializer):
    citation = CitationSerializer()
    contested = ContestedUnitSerializer(many=True)


class AgreementSerializer(AgreementReportSerializer):
    """The report, when it was measured, and whether it is what the answers come to now."""

    measures = CitedMeasureSerializer(many=True)
    review = ReviewedSerializer(required=False, help_text="Where the current value was shown to be reviewed.")
    as_of = serializers.DateTimeField()
    current = serializers.BooleanField(help_text="Whether measuring it now would give the same.")
    answers_now = serializers.IntegerField(help_text="Counted answers by now; the report may be of fewer.")
    job = serializers.IntegerField(allow_null=True, help_text="The job that measures it anew, or that failed to.")


class AgreementToComeSerializer(Plain):
    """Of a large round whose agreement no job has measured yet."""

    answers = serializers.IntegerField()
    job = serializers.IntegerField(allow_null=True, help_text="The job that measures it, or that failed to.")
