"""Serializers of the corpus: reviews, studies, clusters and statistics."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict, UnitNameField
from projects.models import Origin, Outcome
from projects.stored_figures.serializers import StoredSerializer

from ..clusters.serializers import (
    CorpusElementSerializer,
    CorpusRangeSerializer,
    GoldCueSerializer,
    GoldModalitySerializer,
    GoldPolaritySerializer,
    GoldRelationSerializer,
    ImportRefSerializer,
    ReviewRefSerializer,
    StudyRefSerializer,
    TargetSerializer,
)
from ..models import Element, Modality, Part, PicoForm, Polarity, Relation
from ..models.counterfactual import KINDS as COUNTERFACTUAL_KINDS
from ..questions.corrections import LONGEST
from .queries import ORDERINGS, STATES

Plain = serializers.Serializer[Any]
ROLES = ("target", "input")
COUNTERFACTUAL_ORIGINS = ("imported", "written")


class FieldInWordsSerializer(Plain):
    field = serializers.CharField()
    value = serializers.CharField()


class CorpusAnswerSerializer(Plain):
    """The answer of one person in a closed round. ``counted`` is false for uncounted (late) answers."""

    uuid = serializers.UUIDField()
    round = serializers.CharField()
    kind = serializers.CharField()
    person = serializers.CharField()
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    reason = serializers.CharField(allow_blank=True)
    counted = serializers.BooleanField()
    received_at = serializers.DateTimeField()
    comment = serializers.CharField(allow_blank=True)
    said = FieldInWordsSerializer(many=True)


class EarlierTextSerializer(Plain):
    """A text that was replaced by a correction."""

    unit = serializers.IntegerField()
    version = serializers.IntegerField()
    text = serializers.CharField()


class PropositionSerializer(Plain):
    """A proposition with its current values. Undecided fields are null."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    position = serializers.IntegerField(help_text="0 for the target; 1, 2, ... for the inputs.")
    role = serializers.ChoiceField(choices=ROLES)
    study = StudyRefSerializer(allow_null=True)
    text = serializers.CharField()
    shown = serializers.IntegerField(help_text="Revision of the unit. Send it back with a correction.")
    seen = serializers.IntegerField(
        help_text="Newest decision on the label, 0 for none. Send it back with a correction."
    )
    polarity = GoldPolaritySerializer(allow_null=True)
    polarity_cue = GoldCueSerializer(allow_null=True)
    modality = GoldModalitySerializer(allow_null=True)
    modality_cue = GoldCueSerializer(allow_null=True)
    is_stale = serializers.BooleanField(
        help_text="Whether the text or tuple changed and the label was not reviewed since."
    )
    earlier = EarlierTextSerializer(many=True, help_text="Texts before corrections, newest first.")
    answers = CorpusAnswerSerializer(many=True, allow_null=True, help_text="Null if the role cannot see answers.")


class WordChangeSerializer(CorpusRangeSerializer):
    """Words of a counterfactual that differ from its target, as a range of its text. Empty if words were deleted."""

    was = serializers.CharField(
        allow_blank=True, help_text="The replaced words of the target; empty if words were inserted."
    )


class CounterfactualWarningSerializer(Plain):
    """A warning about a counterfactual, with a stable code and a message."""

    code = serializers.CharField()
    message = serializers.CharField()


class CounterfactualSerializer(Plain):
    """A version of the target in which one aspect is false."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=COUNTERFACTUAL_KINDS)
    text = serializers.CharField()
    version = serializers.IntegerField()
    origin = serializers.ChoiceField(choices=COUNTERFACTUAL_ORIGINS)
    is_stale = serializers.BooleanField(help_text="Whether the target's text was corrected since.")
    words = serializers.IntegerField(
        allow_null=True, help_text="Number of different words; null if there are too many to count."
    )
    changes = WordChangeSerializer(many=True)
    warnings = CounterfactualWarningSerializer(many=True)


class HistorySerializer(Plain):
    """One decision on one field."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    place = serializers.CharField(help_text="`target`, `input 1`, `input 2`, ..., or `cluster`.")
    kind = serializers.CharField()
    field = serializers.CharField()
    origin = serializers.ChoiceField(choices=Origin.choices)
    value = serializers.CharField(allow_null=True, help_text="Value in words; null if it was left to adjudication.")
    round = serializers.CharField(allow_null=True)
    file_name = serializers.CharField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True, help_text="Pseudonym of the person who decided.")
    decided_at = serializers.DateTimeField()
    reason = serializers.CharField(allow_blank=True)


class ClusterFindingSerializer(Plain):
    id = serializers.IntegerField()
    rule = serializers.CharField()
    title = serializers.CharField()
    reason = serializers.CharField()


class ClusterSerializer(Plain):
    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    review = ReviewRefSerializer()
    imported = ImportRefSerializer(allow_null=True)
    pico = CorpusElementSerializer(many=True)
    relation = GoldRelationSerializer(allow_null=True)
    relation_is_stale = serializers.BooleanField()
    suggested_relation = serializers.ChoiceField(choices=Relation.choices, allow_null=True)
    propositions = PropositionSerializer(many=True)
    counterfactuals = CounterfactualSerializer(
        many=True, help_text="Counterfactuals of the target, at most one of each kind."
    )
    findings = ClusterFindingSerializer(
        many=True, help_text="Findings of the newest consistency check; only for curators."
    )
    history = HistorySerializer(many=True)


class HitPieceSerializer(Plain):
    text = serializers.CharField(trim_whitespace=False)
    hit = serializers.BooleanField()


class HitSerializer(Plain):
    """A proposition that matches the search, starting shortly before the first match."""

    position = serializers.IntegerField(help_text="Position of the proposition; 0 is the target.")
    pieces = HitPieceSerializer(many=True)


class ClusterRowSerializer(Plain):
    """A cluster in a list."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    review = ReviewRefSerializer()
    text = serializers.CharField(help_text="Text of the target proposition.")
    hit = HitSerializer(allow_null=True, help_text="Match of the search in the texts of the cluster.")
    inputs = serializers.IntegerField()
    input_polarities = serializers.ListField(
        child=serializers.ChoiceField(choices=Polarity.choices, allow_null=True),
        help_text="Current polarity of each input, in order; null if undecided.",
    )
    states = serializers.ListField(
        child=serializers.ChoiceField(choices=STATES),
        help_text="States of the cluster or any of its propositions. `flagged` and `findings` are only for curators.",
    )
    pico = CorpusElementSerializer(many=True)
    polarity = GoldPolaritySerializer(allow_null=True, help_text="Polarity of the target.")
    modality = GoldModalitySerializer(allow_null=True, help_text="Modality of the target.")
    relation = GoldRelationSerializer(allow_null=True)


class ClusterFiltersSerializer(Plain):
    """Filters of the cluster list. All given filters must match."""

    search = serializers.CharField(required=False, help_text="Searches IDs, texts and the PICO tuple, ignoring case.")
    relation = serializers.ChoiceField(choices=Relation.choices, required=False)
    polarity = serializers.ChoiceField(
        choices=Polarity.choices, required=False, help_text="Matches if any proposition has this polarity."
    )
    modality = serializers.ChoiceField(
        choices=Modality.choices, required=False, help_text="Matches if any proposition has this modality."
    )
    role = serializers.ChoiceField(
        choices=ROLES,
        required=False,
        help_text="Role of the propositions to which the polarity and modality filters apply.",
    )
    review = serializers.CharField(required=False, help_text="PMID of the review.")
    state = serializers.ChoiceField(
        choices=STATES,
        required=False,
        help_text="State of the cluster or any of its propositions. `flagged` and `findings` are only for curators.",
    )
    ordering = serializers.ChoiceField(
        choices=[sign + column for sign in ("", "-") for column in ORDERINGS],
        required=False,
        help_text="Column to sort by, descending with a minus. By default, corpus order.",
    )


class ClusterStateSerializer(Plain):
    """The number of clusters in a state."""

    state = serializers.CharField(allow_blank=True, help_text="Empty for all clusters.")
    clusters = serializers.IntegerField()


class NeighboursSerializer(Plain):
    """The previous and the next cluster in a filtered list."""

    previous = serializers.IntegerField(allow_null=True)
    next = serializers.IntegerField(allow_null=True)
    number = serializers.IntegerField(allow_null=True, help_text="Null if the cluster no longer matches the filters.")
    of = serializers.IntegerField()


class ReviewSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    studies = StudyRefSerializer(many=True)
    targets = TargetSerializer(many=True)
    clusters = ClusterRowSerializer(many=True)


class StudyPropositionSerializer(Plain):
    id = serializers.IntegerField()
    cluster = serializers.IntegerField()
    cluster_key = serializers.CharField()
    cluster_name = UnitNameField(source="cluster_key")
    position = serializers.IntegerField()
    text = serializers.CharField()
    polarity = GoldPolaritySerializer(allow_null=True)
    modality = GoldModalitySerializer(allow_null=True)


class StudySerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    reviews = ReviewRefSerializer(many=True)
    propositions = StudyPropositionSerializer(many=True)


class ValueCountSerializer(Plain):
    value = serializers.CharField()
    count = serializers.IntegerField()


class ValueCountsSerializer(Plain):
    """The number of current values of each kind, including values that do not occur."""

    target_polarity = ValueCountSerializer(many=True)
    target_modality = ValueCountSerializer(many=True)
    input_polarity = ValueCountSerializer(many=True)
    input_modality = ValueCountSerializer(many=True)
    relation = ValueCountSerializer(many=True)


class PicoCountSerializer(Plain):
    element = serializers.ChoiceField(choices=Element.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    count = serializers.IntegerField()


class CounterfactualCountSerializer(Plain):
    """The number of current counterfactuals of a kind, also by the polarity of their target.

    The polarities do not add up to ``count`` if some targets have no decided polarity.
    """

    kind = serializers.ChoiceField(choices=COUNTERFACTUAL_KINDS)
    count = serializers.IntegerField()
    polarity = ValueCountSerializer(many=True)


class SummarySerializer(Plain):
    """Counts of corpus objects and of current values."""

    reviews = serializers.IntegerField()
    studies = serializers.IntegerField()
    documents = serializers.IntegerField()
    sentences = serializers.IntegerField()
    clusters = serializers.IntegerField()
    propositions = serializers.IntegerField()
    inputs = serializers.IntegerField()
    questions = serializers.IntegerField()
    passages = serializers.IntegerField()
    written_summaries = serializers.IntegerField()
    values = ValueCountsSerializer()
    pico = PicoCountSerializer(many=True)
    counterfactuals = CounterfactualCountSerializer(many=True)


class LevelStatisticsSerializer(Plain):
    """One row of M3's Table 2."""

    level = serializers.ChoiceField(choices=["document", "sentence", "proposition"])
    targets = serializers.IntegerField()
    inputs = serializers.IntegerField()
    reviews = serializers.IntegerField()
    studies = serializers.IntegerField()
    inputs_per_target = serializers.FloatField(allow_null=True)
    compression = serializers.FloatField(
        allow_null=True, help_text="Mean over targets of input words per target word; null without targets."
    )


class StoredSummarySerializer(StoredSerializer):
    figures = SummarySerializer(allow_null=True, help_text="Null until they are computed.")


class StoredLevelsSerializer(StoredSerializer):
    figures = LevelStatisticsSerializer(many=True, allow_null=True, help_text="Null until they are computed.")


class UnitPlaceSerializer(Plain):
    """The page that shows a unit: its cluster or its review.

    The cluster is given if the unit is a cluster or a proposition of one. Otherwise the review is given if the unit is
    the review, a target sentence of it, or a pair of a target sentence and a study.
    """

    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    cluster = serializers.IntegerField(allow_null=True, help_text="Null if the unit is in no cluster.")
    review = serializers.IntegerField(
        allow_null=True,
        help_text="Review whose curation page contains the unit; null for a unit that exists only in a round.",
    )
    is_of_questions = serializers.BooleanField(
        help_text="Whether it is a question, passage or written summary, which the page Origin shows."
    )


class NewTextSerializer(Strict):
    """A corrected text with a reason. Only that of a written summary may be empty: nothing was relevant."""

    text = serializers.CharField(max_length=max(LONGEST.values()), trim_whitespace=False, allow_blank=True)
    reason = serializers.CharField(max_length=2000)
    part = serializers.ChoiceField(
        choices=Part.choices,
        required=False,
        allow_blank=True,
        default="",
        help_text="Of a question or passage: which text. The first one if omitted.",
    )


class CurrentTextSerializer(Plain):
    """A text that can be corrected."""

    part = serializers.CharField(allow_blank=True, help_text="Of a question or passage: which of its texts it is.")
    title = serializers.CharField()
    version = serializers.IntegerField()
    text = serializers.CharField(allow_blank=True)
    longest = serializers.IntegerField(help_text="Maximum number of characters.")
    may_be_empty = serializers.BooleanField()


class SupersededSerializer(Plain):
    unit = serializers.IntegerField(help_text="Unit of the corrected text.")
    version = serializers.IntegerField()
