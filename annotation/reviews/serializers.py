"""Serializers of the pages of reviews and studies."""

from typing import Any

from rest_framework import serializers

from ..corpus.states import TITLES
from ..models import JUDGED_DIRECTIONS, SPAN_ELEMENT_CHOICES, Direction, ReadingTask, Role

Plain = serializers.Serializer[Any]
PROBABILITIES = "Of the three directions decreased, no difference and increased."


class CurrentSpanSerializer(Plain):
    """A half-open range of Unicode code points."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    element = serializers.ChoiceField(choices=SPAN_ELEMENT_CHOICES)
    is_machine = serializers.BooleanField(help_text="Whether no person has decided the element for this text.")


class TextWithSpansSerializer(Plain):
    text = serializers.CharField(allow_blank=True)
    spans = CurrentSpanSerializer(many=True)


class MachineEffectSerializer(Plain):
    """What a model reads in a text about a pair."""

    direction = serializers.ChoiceField(choices=Direction.choices)
    probabilities = serializers.ListField(
        child=serializers.FloatField(), min_length=3, max_length=3, help_text=PROBABILITIES
    )
    score = serializers.FloatField(help_text="Score of the sentence, 0 to 1. Low: the text may not state the effect.")
    sentence = serializers.CharField(allow_blank=True, help_text="The evidence. Empty if there is none.")


class CurrentEffectSerializer(Plain):
    """The current direction of a pair in a text: decided by people, or else the model's."""

    direction = serializers.ChoiceField(choices=JUDGED_DIRECTIONS)
    is_machine = serializers.BooleanField(help_text="Whether no person has decided the direction.")
    sentence = serializers.CharField(allow_blank=True, help_text="The sentence that people chose.")
    machine = MachineEffectSerializer(allow_null=True)


class EffectPairSerializer(Plain):
    id = serializers.IntegerField()
    intervention = serializers.CharField()
    outcome = serializers.CharField()


class PairEffectSerializer(EffectPairSerializer):
    effect = CurrentEffectSerializer(allow_null=True)


class EvidenceCountSerializer(Plain):
    n = serializers.IntegerField(help_text="Number of evidence scores.")
    weak = serializers.IntegerField(help_text="Number of scores below the limit.")


class ArticleSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    year = serializers.IntegerField(allow_null=True)


class ListedStudySerializer(ArticleSerializer):
    journal = serializers.CharField(allow_blank=True)
    has_abstract = serializers.BooleanField()
    role = serializers.ChoiceField(choices=Role.choices)


class StudyDirectionsSerializer(ListedStudySerializer):
    spans = serializers.IntegerField(help_text="Number of spans of the abstract.")
    directions = serializers.ListField(
        child=serializers.IntegerField(allow_null=True),
        help_text="The current direction for each pair of the review, in order: 0 decreased, 1 no difference, "
        "2 increased, 3 not reported; null if neither a model nor a person has judged it.",
    )
    decided = serializers.ListField(
        child=serializers.IntegerField(), help_text="Positions of the pairs that people have decided."
    )


class ReadersSerializer(Plain):
    """The models that gave the current readings of a task."""

    task = serializers.ChoiceField(choices=ReadingTask.choices)
    models = serializers.ListField(
        child=serializers.CharField(allow_blank=True), help_text="Names; empty for an imported file."
    )


class WithoutPairSerializer(Plain):
    """An intervention or outcome that is in no pair."""

    element = serializers.ChoiceField(choices=SPAN_ELEMENT_CHOICES)
    text = serializers.CharField()
    within = serializers.CharField(allow_blank=True, help_text="A longer one that contains it.")


class AgreementOfStudiesSerializer(Plain):
    """Effects of included studies with the direction of the review. Effects that are not reported do not count."""

    n = serializers.IntegerField()
    count = serializers.IntegerField()


class ReviewEvidenceSerializer(Plain):
    limit = serializers.FloatField(help_text="Scores below this limit are weak.")
    review = EvidenceCountSerializer()
    included = EvidenceCountSerializer()
    general = EvidenceCountSerializer()


class ReviewReadingsSerializer(ArticleSerializer):
    """A review with its texts, its pairs, and its studies, oldest first. Studies without a year are last."""

    unit = serializers.IntegerField()
    state = serializers.ChoiceField(
        choices=list(TITLES.items()), allow_blank=True, help_text="Whether people have decided anything."
    )
    sentences = serializers.IntegerField(help_text="Number of sentences with a class.")
    classes_are_machine = serializers.BooleanField(
        help_text="Whether the classes are a model's, not decided by people."
    )
    background = TextWithSpansSerializer()
    target = TextWithSpansSerializer(allow_null=True, help_text="Null if there is none, or it is withheld.")
    target_is_withheld = serializers.BooleanField()
    abstract = TextWithSpansSerializer()
    without_pair = WithoutPairSerializer(many=True)
    pairs = PairEffectSerializer(many=True)
    studies = StudyDirectionsSerializer(many=True)
    agreement = AgreementOfStudiesSerializer()
    evidence = ReviewEvidenceSerializer()
    readers = ReadersSerializer(many=True)


class StudyPairSerializer(PairEffectSerializer):
    of_review = serializers.ChoiceField(
        choices=JUDGED_DIRECTIONS, allow_null=True, help_text="Current direction in the abstract of the review."
    )


class StudyInReviewSerializer(ArticleSerializer):
    """What one review asks about a study."""

    role = serializers.ChoiceField(choices=Role.choices)
    abstract = TextWithSpansSerializer(help_text="The study's abstract with the spans that the review's data give.")
    pairs = StudyPairSerializer(many=True)


class StudyEvidenceSerializer(Plain):
    limit = serializers.FloatField(help_text="Scores below this limit are weak.")
    study = EvidenceCountSerializer()


class StudyReadingsSerializer(ArticleSerializer):
    """A study with the questions of each review that includes or cites it."""

    journal = serializers.CharField(allow_blank=True)
    reviews = StudyInReviewSerializer(many=True)
    evidence = StudyEvidenceSerializer()
    readers = ReadersSerializer(many=True)


class StudyEffectSerializer(ListedStudySerializer):
    effect = CurrentEffectSerializer(allow_null=True)
    agrees = serializers.BooleanField(
        allow_null=True, help_text="Whether it has the review's direction; null if one of them reports none."
    )


class PairEvidenceSerializer(Plain):
    limit = serializers.FloatField(help_text="Scores below this limit are weak.")
    included = EvidenceCountSerializer()
    general = EvidenceCountSerializer()


class PairReadingsSerializer(PairEffectSerializer):
    """A pair of a review in the review and in each of its studies, oldest first."""

    studies = StudyEffectSerializer(many=True)
    evidence = PairEvidenceSerializer()
