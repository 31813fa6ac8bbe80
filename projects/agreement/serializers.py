"""Serializers of the agreement report."""

from typing import Any

from rest_framework import serializers

from ..suggestions.serializers import SuggestionReportSerializer

Plain = serializers.Serializer[Any]


def numbers(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(), **kwargs)


def table(allow_null: bool = False) -> serializers.ListField:
    return serializers.ListField(child=serializers.ListField(child=serializers.FloatField(allow_null=allow_null)))


class CoefficientSerializer(Plain):
    """A defined coefficient. Undefined coefficients are listed in ``undefined`` with the reason.

    ``se`` assumes independent units; ``ci_se`` and ``ci`` are over reviews. If there is no interval, ``ci`` is null and
    ``ci_reason`` says why.
    """

    value = serializers.FloatField()
    se = serializers.FloatField(allow_null=True)
    ci_se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_null=True)
    method = serializers.CharField()


class CohenPairSerializer(Plain):
    raters = serializers.ListField(child=serializers.CharField())
    units = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(required=False)
    se = serializers.FloatField(allow_null=True)
    ci_se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_null=True)
    method = serializers.CharField()
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
    """Symmetric matrices of rater pairs, in the order of ``raters``.

    The diagonal of ``n`` contains the number of ratings of each rater.
    """

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
    ci_reason = serializers.CharField(allow_null=True)
    method = serializers.CharField()
    undefined = serializers.CharField(allow_null=True)
    kappa = serializers.FloatField(allow_null=True)
    confusion = table()
    classes = ClassScoreSerializer(many=True)


class UnweightedSerializer(Plain):
    """Unweighted agreement of an ordered scale. Every value is a category, including values outside the scale."""

    scale = serializers.ListField(child=serializers.CharField())
    q = serializers.IntegerField()
    units = serializers.IntegerField()
    reviews = serializers.IntegerField(allow_null=True)
    cite = serializers.CharField(help_text="Basis of the interval to cite: reviews or units.")
    raters = serializers.IntegerField()
    ratings = serializers.IntegerField()
    all_agree = AllAgreeSerializer()
    pairwise = serializers.FloatField(allow_null=True)
    coefficients = CoefficientsSerializer()
    undefined = serializers.DictField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())


class MeasureSerializer(Plain):
    name = serializers.CharField()
    scale = serializers.ListField(child=serializers.CharField())
    q = serializers.IntegerField()
    weights = serializers.CharField()
    metric = serializers.CharField()
    level = serializers.FloatField()
    units = serializers.IntegerField()
    reviews = serializers.IntegerField(allow_null=True)
    cite = serializers.CharField(
        help_text="Basis of the interval to cite: reviews, or units if no review has several units."
    )
    interval_method = serializers.CharField()
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
    warnings = serializers.ListField(child=serializers.CharField())
    plan = PlanSerializer(allow_null=True)
    gold = AgainstGoldSerializer(many=True)
    unweighted = UnweightedSerializer(required=False)
    cite_form = serializers.ChoiceField(
        choices=["weighted", "unweighted"], required=False, help_text="For an ordered scale: the form to cite."
    )


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
    units = serializers.IntegerField(help_text="Number of pairs of a first and a second answer by the same person.")
    all_agree = AllAgreeSerializer()
    coefficient = serializers.ChoiceField(choices=["ac1", "ac2"])
    value = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(allow_null=True)


class RepeatsSerializer(Plain):
    """Intra-rater agreement on repeated units. Answers of different people are not compared."""

    answers = serializers.IntegerField()
    measures = RepeatMeasureSerializer(many=True)


class ReviewedFieldSerializer(Plain):
    field = serializers.CharField()
    reviewed = serializers.IntegerField()
    corrected = serializers.IntegerField()


class ReviewMeasureSerializer(Plain):
    """Cohen's kappa between the shown and the given value. It is not agreement between independent raters."""

    name = serializers.CharField()
    n = serializers.IntegerField()
    same = serializers.IntegerField()
    kappa = serializers.FloatField(allow_null=True)
    se = serializers.FloatField(allow_null=True)
    ci_se = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    ci_reason = serializers.CharField(allow_null=True)
    method = serializers.CharField()
    undefined = serializers.CharField(allow_null=True)


class ReviewedSerializer(Plain):
    """Results of a review of current values: how many were confirmed and how many corrected."""

    note = serializers.CharField(help_text="Limitation of these figures, to be displayed with them.")
    reviewed = serializers.IntegerField()
    corrected = serializers.IntegerField()
    confirmed = serializers.IntegerField()
    fields = ReviewedFieldSerializer(many=True)  # type: ignore[assignment]
    measures = ReviewMeasureSerializer(many=True)


class WriterMeanSerializer(Plain):
    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Number of pairs.")
    clusters = serializers.IntegerField(help_text="Number of questions.")
    sd = serializers.FloatField(allow_null=True)
    ci = numbers(allow_null=True)
    undefined = serializers.CharField(allow_blank=True)
    ci_reason = serializers.CharField(allow_blank=True)


class WriterMeansSerializer(Plain):
    rouge2 = WriterMeanSerializer()
    rouge_l = WriterMeanSerializer()
    bleu = WriterMeanSerializer()


class WritersByTypeSerializer(Plain):
    type = serializers.CharField(help_text="What is summarised (each passage, or all) and, for pairs, the form.")
    pairs = serializers.IntegerField()
    questions = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Pairs with an empty text: nothing was relevant.")
    measures = WriterMeansSerializer()


class DifferentPairSerializer(Plain):
    type = serializers.CharField()
    question = serializers.CharField()
    passage = serializers.CharField()
    form = serializers.CharField()
    writers = serializers.ListField(child=serializers.CharField())
    value = serializers.FloatField(help_text="ROUGE-L F1.")


class WritingSerializer(Plain):
    """Agreement between people who wrote summaries of the same passages."""

    method = serializers.CharField()
    forms_method = serializers.CharField()
    libraries = serializers.DictField(child=serializers.CharField())
    writers = serializers.ListField(child=serializers.CharField())
    types = WritersByTypeSerializer(many=True, help_text="Pairs of writers.")
    forms = WritersByTypeSerializer(many=True, help_text="Extractive texts against abstractive ones.")
    lowest = DifferentPairSerializer(many=True, help_text="The pairs with the lowest ROUGE-L.")


class AgreementReportSerializer(Plain):
    """The output of ``agreement --format json``: each figure with its n, method and, where defined, interval."""

    round = serializers.CharField()
    project = serializers.CharField()
    kind = serializers.CharField()
    purpose = serializers.CharField()
    status = serializers.CharField()
    overlap = serializers.IntegerField()
    rater_group = serializers.CharField(required=False, help_text="Group of imported raters: experts or crowd.")
    units = serializers.IntegerField()
    units_answered = serializers.IntegerField()
    raters = serializers.ListField(child=serializers.CharField())
    answers = serializers.IntegerField()
    measures = MeasureSerializer(many=True)
    spans = SpanAgreementSerializer(many=True)
    writing = WritingSerializer(required=False, help_text="Present if people wrote summaries.")
    repeats = RepeatsSerializer(required=False, help_text="Present if the round repeats units.")
    attention_checks = serializers.IntegerField(
        required=False, help_text="Number of answered attention checks. No figure includes them."
    )
    suggestions_shown = serializers.BooleanField(
        required=False, help_text="Present if people saw suggestions, so that they did not label independently."
    )
    suggestions = SuggestionReportSerializer(
        required=False, help_text="Present if a model's suggestions replaced the current values of a correction round."
    )


class DifferentTextsSerializer(DifferentPairSerializer):
    texts = serializers.ListField(
        child=serializers.CharField(allow_blank=True), allow_null=True, help_text="Null unless the person is a lead."
    )


class WritingOnPageSerializer(WritingSerializer):
    lowest = DifferentTextsSerializer(many=True, help_text="The pairs with the lowest ROUGE-L, with their texts.")


class CitationSerializer(Plain):
    """One sentence with measure, coefficient, interval, units, raters and method. Empty without answers."""

    text = serializers.CharField(allow_blank=True)
    latex = serializers.CharField(allow_blank=True)


class ContestedUnitSerializer(ContestedSerializer):
    unit = serializers.IntegerField(allow_null=True)
    unit_name = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    waits = serializers.BooleanField(
        help_text="Whether the unit waits for adjudication and the user may adjudicate it."
    )


class CitedMeasureSerializer(MeasureSerializer):
    citation = CitationSerializer()
    contested = ContestedUnitSerializer(many=True)


class AgreementSerializer(AgreementReportSerializer):
    """The agreement report, when it was computed, and whether it is current."""

    measures = CitedMeasureSerializer(many=True)
    writing = WritingOnPageSerializer(required=False, help_text="Present if people wrote summaries.")
    review = ReviewedSerializer(required=False, help_text="Present if the round showed the current value for review.")
    unmeasured = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Criteria whose scale has too many steps for computing agreement.",
    )
    as_of = serializers.DateTimeField()
    current = serializers.BooleanField(help_text="Whether computing the report now would give the same result.")
    answers_now = serializers.IntegerField(help_text="Number of counted answers now. The report may include fewer.")
    job = serializers.IntegerField(allow_null=True, help_text="The job that recomputes the report, or that failed to.")


class AgreementPendingSerializer(Plain):
    """Response for a large round whose agreement no job has computed yet."""

    answers = serializers.IntegerField()
    job = serializers.IntegerField(allow_null=True, help_text="The job that computes the report, or that failed to.")
