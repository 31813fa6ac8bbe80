"""The corpus in JSON: reviews, studies, clusters and one cluster with all that hangs on it."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict
from projects.models import Origin, Outcome

from ..corpus import lengths
from ..models import Cue, Level, Modality, PicoForm, Polarity, Relation, Slot
from ..models.counterfactual import KINDS as COUNTERFACTUAL_KINDS
from ..pages.corpus import STATES

Plain = serializers.Serializer[Any]
ROLES = ("target", "input")
COUNTERFACTUAL_ORIGINS = ("imported", "written")


class CorpusRangeSerializer(Plain):
    """A half-open range of Unicode code points of the target text."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class CorpusSlotSerializer(Plain):
    """One slot of a PICO tuple, its text as given, and where an explicit one stands in the target text."""

    slot = serializers.ChoiceField(choices=Slot.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    text = serializers.CharField(allow_blank=True)
    fragments = CorpusRangeSerializer(many=True)


class ReviewRefSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()


class StudyRefSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()


class ImportRefSerializer(Plain):
    id = serializers.IntegerField()
    file_name = serializers.CharField()


class GoldPolaritySerializer(Plain):
    value = serializers.ChoiceField(choices=Polarity.choices)
    origin = serializers.ChoiceField(choices=Origin.choices)


class GoldModalitySerializer(Plain):
    value = serializers.ChoiceField(choices=Modality.choices)
    origin = serializers.ChoiceField(choices=Origin.choices)


class GoldRelationSerializer(Plain):
    value = serializers.ChoiceField(choices=Relation.choices)
    origin = serializers.ChoiceField(choices=Origin.choices)


class CueFragmentSerializer(CorpusRangeSerializer):
    quote = serializers.CharField()


class CueValueSerializer(Plain):
    """A cue: its text verbatim, how it was found in the proposition, how often it occurs, and the place taken."""

    text = serializers.CharField()
    found = serializers.ChoiceField(choices=Cue.Found.choices)
    occurrences = serializers.IntegerField(help_text="Case aside; more than 1: the place is the first of several.")
    fragments = CueFragmentSerializer(many=True)


class GoldCueSerializer(Plain):
    """``value`` null: decided that there is no cue."""

    value = CueValueSerializer(allow_null=True)
    origin = serializers.ChoiceField(choices=Origin.choices)


class FieldInWordsSerializer(Plain):
    field = serializers.CharField()
    value = serializers.CharField()


class CorpusAnswerSerializer(Plain):
    """What one person answered in a closed round, by pseudonym. ``counted`` false: surplus, outside k and gold."""

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
    """A text that a corrected one has taken the place of."""

    unit = serializers.IntegerField()
    version = serializers.IntegerField()
    text = serializers.CharField()


class PropositionSerializer(Plain):
    """One claim with the values in force; a field that nobody decided is null."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    position = serializers.IntegerField(help_text="0 is the target, 1.. the inputs.")
    role = serializers.ChoiceField(choices=ROLES)
    study = StudyRefSerializer(allow_null=True)
    text = serializers.CharField()
    polarity = GoldPolaritySerializer(allow_null=True)
    polarity_cue = GoldCueSerializer(allow_null=True)
    modality = GoldModalitySerializer(allow_null=True)
    modality_cue = GoldCueSerializer(allow_null=True)
    is_stale = serializers.BooleanField(help_text="The text or tuple changed; nobody looked at the label since.")
    earlier = EarlierTextSerializer(many=True, help_text="Texts before it was corrected, newest first.")
    answers = CorpusAnswerSerializer(many=True, allow_null=True, help_text="Null where the role may not see them.")


class WordChangeSerializer(CorpusRangeSerializer):
    """Words of a counterfactual that differ from its target: a range of its text, empty where words were left out."""

    was = serializers.CharField(allow_blank=True, help_text="The target's words there; empty where some were put in.")


class CounterfactualWarningSerializer(Plain):
    """Something odd about a counterfactual; the code is stable, the message a sentence."""

    code = serializers.CharField()
    message = serializers.CharField()


class CounterfactualSerializer(Plain):
    """The target rewritten so that one aspect of it is false."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=COUNTERFACTUAL_KINDS)
    text = serializers.CharField()
    version = serializers.IntegerField()
    origin = serializers.ChoiceField(choices=COUNTERFACTUAL_ORIGINS)
    is_stale = serializers.BooleanField(help_text="The target's text was corrected since.")
    words = serializers.IntegerField(allow_null=True, help_text="How many differ; null: too many to count.")
    changes = WordChangeSerializer(many=True)
    warnings = CounterfactualWarningSerializer(many=True)


class HistorySerializer(Plain):
    """One decision: what was decided of which field, how, when and by whom."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    place = serializers.CharField(help_text="target, input 1.., or cluster")
    kind = serializers.CharField()
    field = serializers.CharField()
    origin = serializers.ChoiceField(choices=Origin.choices)
    value = serializers.CharField(allow_null=True, help_text="In words; null where it was left to adjudication.")
    round = serializers.CharField(allow_null=True)
    file_name = serializers.CharField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True, help_text="A pseudonym.")
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
    review = ReviewRefSerializer()
    imported = ImportRefSerializer(allow_null=True)
    pico = CorpusSlotSerializer(many=True)
    relation = GoldRelationSerializer(allow_null=True)
    relation_is_stale = serializers.BooleanField()
    suggested_relation = serializers.ChoiceField(choices=Relation.choices, allow_null=True)
    propositions = PropositionSerializer(many=True)
    counterfactuals = CounterfactualSerializer(many=True, help_text="Of the target, at most one a kind.")
    findings = ClusterFindingSerializer(many=True, help_text="Of the newest consistency check; for curators.")
    history = HistorySerializer(many=True)


class HitPieceSerializer(Plain):
    text = serializers.CharField(trim_whitespace=False)
    hit = serializers.BooleanField()


class HitSerializer(Plain):
    """A proposition that holds what is searched for, from a little before the first hit."""

    position = serializers.IntegerField(help_text="0: the target.")
    pieces = HitPieceSerializer(many=True)


class ClusterRowSerializer(Plain):
    """A cluster in a list."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    review = ReviewRefSerializer()
    text = serializers.CharField(help_text="Of the target proposition.")
    hit = HitSerializer(allow_null=True, help_text="Where its texts hold what is searched for.")
    inputs = serializers.IntegerField()
    pico = CorpusSlotSerializer(many=True)
    polarity = GoldPolaritySerializer(allow_null=True, help_text="Of the target.")
    modality = GoldModalitySerializer(allow_null=True, help_text="Of the target.")
    relation = GoldRelationSerializer(allow_null=True)


class ClusterFiltersSerializer(Plain):
    """Every filter that is set narrows."""

    search = serializers.CharField(required=False, help_text="In ids, texts and the PICO tuple, whatever the case.")
    relation = serializers.ChoiceField(choices=Relation.choices, required=False)
    polarity = serializers.ChoiceField(choices=Polarity.choices, required=False, help_text="Of any proposition.")
    modality = serializers.ChoiceField(choices=Modality.choices, required=False, help_text="Of any proposition.")
    role = serializers.ChoiceField(choices=ROLES, required=False, help_text="Whose polarity and modality is meant.")
    review = serializers.CharField(required=False, help_text="A PMID.")
    state = serializers.ChoiceField(
        choices=STATES, required=False, help_text="Of the cluster or any of its propositions; the last for curators."
    )


class ClusterStateSerializer(Plain):
    """How many clusters there are in a state."""

    state = serializers.CharField(allow_blank=True, help_text="Empty for all.")
    clusters = serializers.IntegerField()


class NeighboursSerializer(Plain):
    """The clusters before and after one, among those that are narrowed alike."""

    previous = serializers.IntegerField(allow_null=True)
    next = serializers.IntegerField(allow_null=True)
    number = serializers.IntegerField(allow_null=True, help_text="Null where the filters leave it out by now.")
    of = serializers.IntegerField()


class SearchSerializer(Plain):
    search = serializers.CharField(required=False, help_text="In the PMID and the title.")


class ReviewRowSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    clusters = serializers.IntegerField(source="cluster_count")
    studies = serializers.IntegerField(source="study_count")
    targets = serializers.IntegerField(source="target_count", help_text="Documents and sentences.")


class CorpusInputSerializer(Plain):
    position = serializers.IntegerField()
    study = StudyRefSerializer()
    text = serializers.CharField()


class TargetSerializer(Plain):
    """What a summary should say at document or sentence level, with the texts it must be derived from."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField(source="unit_id")
    level = serializers.ChoiceField(choices=Level.choices)
    key = serializers.CharField()
    text = serializers.CharField()
    inputs = CorpusInputSerializer(many=True)


class ReviewSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    studies = StudyRefSerializer(many=True)
    targets = TargetSerializer(many=True)
    clusters = ClusterRowSerializer(many=True)


class StudyRowSerializer(Plain):
    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    reviews = serializers.IntegerField(source="review_count")
    propositions = serializers.IntegerField(source="proposition_count")


class StudyPropositionSerializer(Plain):
    id = serializers.IntegerField()
    cluster = serializers.IntegerField()
    cluster_key = serializers.CharField()
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
    """How often each value is in force; values that do not occur have 0."""

    target_polarity = ValueCountSerializer(many=True)
    target_modality = ValueCountSerializer(many=True)
    input_polarity = ValueCountSerializer(many=True)
    input_modality = ValueCountSerializer(many=True)
    relation = ValueCountSerializer(many=True)


class PicoCountSerializer(Plain):
    slot = serializers.ChoiceField(choices=Slot.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    count = serializers.IntegerField()


class CounterfactualCountSerializer(Plain):
    """How many counterfactuals of a kind are in force, and of targets of which polarity; the rest have none decided."""

    kind = serializers.ChoiceField(choices=COUNTERFACTUAL_KINDS)
    count = serializers.IntegerField()
    polarity = ValueCountSerializer(many=True)


class SummarySerializer(Plain):
    """What the corpus holds."""

    reviews = serializers.IntegerField()
    studies = serializers.IntegerField()
    documents = serializers.IntegerField()
    sentences = serializers.IntegerField()
    clusters = serializers.IntegerField()
    propositions = serializers.IntegerField()
    inputs = serializers.IntegerField()
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
        allow_null=True, help_text="Mean over targets of words of the inputs per word of the target; null without any."
    )


class UnitPlaceSerializer(Plain):
    """Where a unit is to be seen: in the cluster that it is, or is a proposition of, or else with the review that it
    is, or is a target sentence of, by itself or with a study."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    cluster = serializers.IntegerField(allow_null=True, help_text="Null for a unit that is in no cluster.")
    review = serializers.IntegerField(
        allow_null=True, help_text="Whose curate page has it; null for a unit that only a round knows."
    )


class NewTextSerializer(Strict):
    """A corrected text of one proposition or target, and why."""

    text = serializers.CharField(max_length=lengths.CLAIM, trim_whitespace=False)
    reason = serializers.CharField(max_length=2000)


class SupersededSerializer(Plain):
    unit = serializers.IntegerField(help_text="The unit that has the corrected text.")
    version = serializers.IntegerField()
