"""The curate page in JSON: one review whole, and what is typed into it."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict, at_most
from projects.models import Origin
from projects.serializers.corrections import CellSerializer

from ..corpus import lengths
from ..corpus.items import PMID
from ..kinds.label.serializers import LabelValueSerializer
from ..kinds.shapes import TupleSlotShownSerializer
from ..kinds.slots import TupleValueSerializer
from ..models import Relation
from .corpus import (
    GoldCueSerializer,
    GoldModalitySerializer,
    GoldPolaritySerializer,
    GoldRelationSerializer,
    StudyRefSerializer,
    TargetSerializer,
)

Plain = serializers.Serializer[Any]
CLUSTERS_AT_ONCE = 100
ROWS_AT_ONCE = 500
#: Inputs of all rows of one request together: so much is stored in a moment, in which on SQLite nobody else can write.
INPUTS_AT_ONCE = 2_000


class CellStateSerializer(Plain):
    """What every cell says beside its value. Send ``shown`` and ``seen`` back with a correction."""

    shown = serializers.IntegerField(help_text="Revision of the unit.")
    seen = serializers.IntegerField(help_text="The newest decision about it; 0 for none.")
    decided_by = serializers.CharField(allow_null=True, help_text="A pseudonym; null for an import, or none.")
    decided_at = serializers.DateTimeField(allow_null=True)
    is_stale = serializers.BooleanField(help_text="Something above it has changed since it was decided.")


class LabelCellSerializer(CellStateSerializer):
    """The label in force, field by field; null where nobody has decided."""

    polarity = GoldPolaritySerializer(allow_null=True)
    polarity_cue = GoldCueSerializer(allow_null=True)
    modality = GoldModalitySerializer(allow_null=True)
    modality_cue = GoldCueSerializer(allow_null=True)


class RelationCellSerializer(CellStateSerializer):
    relation = GoldRelationSerializer(allow_null=True)
    suggested = serializers.ChoiceField(
        choices=Relation.choices, allow_null=True,
        help_text="Agreement when all input polarities are equal; null until every input has one.",
    )  # fmt: skip


class TupleCellSerializer(CellStateSerializer):
    """The tuple in force, as typed: implied text in [brackets]."""

    slots = TupleSlotShownSerializer(many=True)
    origin = serializers.ChoiceField(
        choices=Origin.choices, allow_null=True, help_text="Null where nobody has given a tuple."
    )


class OtherCellSerializer(CellStateSerializer):
    """What another kind's value in force is, as that kind says it; null where nobody has decided."""

    kind = serializers.CharField()
    unit = serializers.IntegerField(help_text="What is asked of: a unit of the kind's own where `study` is given.")
    study = StudyRefSerializer(allow_null=True, help_text="What a target is held against.")
    value = serializers.DictField(allow_null=True)
    origin = serializers.ChoiceField(choices=Origin.choices, allow_null=True)


class CuratedPropositionSerializer(Plain):
    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    position = serializers.IntegerField(help_text="0 is the target, 1.. the inputs.")
    study = StudyRefSerializer(allow_null=True)
    text = serializers.CharField()
    label = LabelCellSerializer()  # type: ignore[assignment]
    others = OtherCellSerializer(many=True, help_text="Of the kinds that are not named here.")
    removable = serializers.BooleanField(help_text="Nothing was ever said of it, so it can be taken out again.")


class MissingSerializer(Plain):
    """Something that the release of the cluster waits for."""

    unit = serializers.IntegerField()
    kind = serializers.CharField()
    place = serializers.CharField(help_text="target, input 1.., or cluster")


class CuratedClusterSerializer(Plain):
    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    sentence = serializers.IntegerField(allow_null=True, help_text="The target sentence it was taken from, if told.")
    tuple = TupleCellSerializer()
    relation = RelationCellSerializer()
    others = OtherCellSerializer(many=True, help_text="Of the kinds that are not named here.")
    propositions = CuratedPropositionSerializer(many=True)
    missing = MissingSerializer(many=True, help_text="Empty: the cluster is released.")


class DerivedTextsSerializer(Plain):
    """What MS^2 makes of the classes in force of an abstract's sentences: a line a sentence."""

    background = serializers.CharField(allow_blank=True)
    target = serializers.CharField(allow_blank=True)


class CuratedTargetSerializer(TargetSerializer):
    """A document or a sentence, with what the kinds say that ask of such a text."""

    others = OtherCellSerializer(many=True)


class CurationSerializer(Plain):
    """One review whole, as the curate page shows it."""

    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    targets = CuratedTargetSerializer(many=True)
    derived = DerivedTextsSerializer(allow_null=True, help_text="Null where its sentences have no classes.")
    clusters_count = serializers.IntegerField()
    clusters = CuratedClusterSerializer(many=True, help_text="From `offset` on, at most `limit`.")


class CurationWindowSerializer(Plain):
    offset = serializers.IntegerField(min_value=0, max_value=LARGEST // 2, default=0)
    limit = serializers.IntegerField(min_value=1, max_value=CLUSTERS_AT_ONCE, default=50)


class ReasonedSerializer(Strict):
    """One write: its identifier, and why, where something in force gives way."""

    uuid = serializers.UUIDField(help_text="Made by the client: the same request again does nothing.")
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="")


class CellRowSerializer(CellSerializer):
    unit = serializers.IntegerField(min_value=1, max_value=LARGEST)


class CorrectionsSerializer(ReasonedSerializer):
    """Many cells at once (fill-down, paste): all or none."""

    rows = CellRowSerializer(many=True, allow_empty=False, **at_most(ROWS_AT_ONCE))


class CorrectedRowSerializer(Plain):
    unit = serializers.IntegerField()
    kind = serializers.CharField()
    fields_changed = serializers.ListField(child=serializers.CharField())


class CorrectionsDoneSerializer(Plain):
    rows = CorrectedRowSerializer(many=True)
    clusters = CuratedClusterSerializer(many=True, help_text="Those that were touched, as they are now.")


def _text(**options: Any) -> serializers.CharField:
    return serializers.CharField(max_length=lengths.CLAIM, trim_whitespace=False, **options)


class NewTextRowSerializer(Strict):
    text = _text()

    def validate_text(self, text: str) -> str:
        if not text.strip():
            raise serializers.ValidationError("There is no text.")
        return text


class NewInputSerializer(NewTextRowSerializer):
    """One input proposition: which study it is taken from, and what it says."""

    pmid = serializers.CharField(max_length=40)
    label = LabelValueSerializer(required=False, allow_null=True, default=None)  # type: ignore[assignment]

    def validate_pmid(self, pmid: str) -> str:
        if not PMID.fullmatch(pmid):
            raise serializers.ValidationError("A PubMed id has up to ten digits, such as 12038941.")
        return pmid


class NewClusterSerializer(NewTextRowSerializer):
    """One cluster, typed or pasted whole. Its text is that of the target proposition."""

    sentence = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False, allow_null=True, default=None)
    tuple = TupleValueSerializer(required=False, allow_null=True, default=None)
    label = LabelValueSerializer(required=False, allow_null=True, default=None)  # type: ignore[assignment]
    relation = serializers.ChoiceField(choices=Relation.choices, required=False, allow_null=True, default=None)
    inputs = NewInputSerializer(many=True, default=list, **at_most(ROWS_AT_ONCE))


def _few_inputs(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if sum(len(row["inputs"]) for row in rows) > INPUTS_AT_ONCE:
        raise serializers.ValidationError(f"At most {INPUTS_AT_ONCE:,} inputs at once: send the rest by themselves.")
    return rows


class NewClustersSerializer(ReasonedSerializer):
    rows = NewClusterSerializer(many=True, allow_empty=False, **at_most(CLUSTERS_AT_ONCE))

    def validate_rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return _few_inputs(rows)


class NewInputsSerializer(ReasonedSerializer):
    rows = NewInputSerializer(many=True, allow_empty=False, **at_most(ROWS_AT_ONCE))


class ClustersDoneSerializer(Plain):
    clusters = CuratedClusterSerializer(many=True, help_text="Those that were made or touched, as they are now.")


class NewSentenceSerializer(NewTextRowSerializer):
    """One target sentence of the review, with the texts it must be derived from, if they are known already."""

    inputs = NewInputSerializer(many=True, default=list, **at_most(ROWS_AT_ONCE))


class NewSentencesSerializer(ReasonedSerializer):
    rows = NewSentenceSerializer(many=True, allow_empty=False, **at_most(ROWS_AT_ONCE))

    def validate_rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return _few_inputs(rows)


class SentencesDoneSerializer(Plain):
    targets = TargetSerializer(many=True)


class NewReviewSerializer(ReasonedSerializer):
    pmid = serializers.CharField(max_length=40)
    title = _text(allow_blank=True, default="")
    abstract = _text(allow_blank=True, default="")
    sentences = NewSentenceSerializer(many=True, default=list, **at_most(ROWS_AT_ONCE))

    def validate_sentences(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return _few_inputs(rows)

    def validate_pmid(self, pmid: str) -> str:
        if not PMID.fullmatch(pmid):
            raise serializers.ValidationError("A PubMed id has up to ten digits, such as 26258610.")
        return pmid


class NewReviewDoneSerializer(Plain):
    id = serializers.IntegerField()


class RemovalSerializer(Strict):
    reason = serializers.CharField(max_length=2000)
