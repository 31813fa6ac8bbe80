"""Serializers of the curation page."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict, UnitNameField, at_most
from projects.curation.serializers import CellSerializer
from projects.models import Origin

from ..clusters import strata
from ..clusters.items import PMID
from ..clusters.serializers import (
    GoldCueSerializer,
    GoldModalitySerializer,
    GoldPolaritySerializer,
    GoldRelationSerializer,
    StudyRefSerializer,
    TargetSerializer,
)
from ..kinds.label.serializers import LabelValueSerializer
from ..kinds.tuples import CurrentElementSerializer, TupleValueSerializer
from ..models import Relation

Plain = serializers.Serializer[Any]
CLUSTERS_AT_ONCE = 100
ROWS_AT_ONCE = 500
#: Limit of inputs per request, over all rows. A request must be stored quickly, because SQLite blocks all other writes
#: meanwhile.
INPUTS_AT_ONCE = 2_000


class CellStateSerializer(Plain):
    """State of a cell besides its value. Send ``shown`` and ``seen`` back with a correction."""

    shown = serializers.IntegerField(help_text="Revision of the unit.")
    seen = serializers.IntegerField(help_text="Newest decision on the cell; 0 for none.")
    decided_by = serializers.CharField(
        allow_null=True, help_text="Pseudonym; null for an import or without a decision."
    )
    decided_at = serializers.DateTimeField(allow_null=True)
    is_stale = serializers.BooleanField(help_text="Whether something it depends on changed after the decision.")


class LabelCellSerializer(CellStateSerializer):
    """The current label by field. Undecided fields are null."""

    polarity = GoldPolaritySerializer(allow_null=True)
    polarity_cue = GoldCueSerializer(allow_null=True)
    modality = GoldModalitySerializer(allow_null=True)
    modality_cue = GoldCueSerializer(allow_null=True)


class RelationCellSerializer(CellStateSerializer):
    relation = GoldRelationSerializer(allow_null=True)
    suggested = serializers.ChoiceField(
        choices=Relation.choices,
        allow_null=True,
        help_text="Agreement if all input polarities are equal; null until every input has one.",
    )


class TupleCellSerializer(CellStateSerializer):
    """The current PICO tuple as entered, with implied text in [brackets]."""

    elements = CurrentElementSerializer(many=True)
    origin = serializers.ChoiceField(choices=Origin.choices, allow_null=True, help_text="Null if there is no tuple.")


class OtherCellSerializer(CellStateSerializer):
    """The current value of another kind, in the format of that kind. Null if undecided."""

    kind = serializers.CharField()
    unit = serializers.IntegerField(
        help_text="Unit of the value. If `study` is given, this is a unit of the kind's own type."
    )
    study = StudyRefSerializer(allow_null=True, help_text="Study with which a target is paired.")
    value = serializers.DictField(allow_null=True)
    origin = serializers.ChoiceField(choices=Origin.choices, allow_null=True)


class CuratedPropositionSerializer(Plain):
    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    position = serializers.IntegerField(help_text="0 for the target; 1, 2, ... for the inputs.")
    study = StudyRefSerializer(allow_null=True)
    text = serializers.CharField()
    label = LabelCellSerializer()  # type: ignore[assignment]
    others = OtherCellSerializer(many=True, help_text="Values of the kinds without a field of their own.")
    removable = serializers.BooleanField(
        help_text="Whether the proposition can be removed: no assignment or decision refers to it."
    )


class MissingSerializer(Plain):
    """Something that the cluster lacks for release."""

    unit = serializers.IntegerField()
    kind = serializers.CharField()
    place = serializers.CharField(help_text="`target`, `input 1`, `input 2`, ..., or `cluster`.")


class CuratedClusterSerializer(Plain):
    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    sentence = serializers.IntegerField(
        allow_null=True, help_text="Target sentence from which the cluster was taken, if known."
    )
    tuple = TupleCellSerializer()
    relation = RelationCellSerializer()
    others = OtherCellSerializer(many=True, help_text="Values of the kinds without a field of their own.")
    propositions = CuratedPropositionSerializer(many=True)
    missing = MissingSerializer(many=True, help_text="What the cluster lacks for release; empty if it is released.")


class DerivedTextsSerializer(Plain):
    """Texts that MS^2 derives from the current classes of an abstract's sentences, one line per sentence."""

    background = serializers.CharField(allow_blank=True)
    target = serializers.CharField(allow_blank=True)


class CuratedTargetSerializer(TargetSerializer):
    """A document or sentence with the values of the kinds that apply to it."""

    others = OtherCellSerializer(many=True)


class CurationSerializer(Plain):
    """One review with all cells of the curation page."""

    id = serializers.IntegerField()
    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    targets = CuratedTargetSerializer(many=True)
    derived = DerivedTextsSerializer(
        allow_null=True, help_text="Null if the sentences of the abstract have no classes."
    )
    clusters_count = serializers.IntegerField()
    clusters = CuratedClusterSerializer(many=True, help_text="Clusters from `offset` on, at most `limit`.")


class CurationWindowSerializer(Plain):
    offset = serializers.IntegerField(min_value=0, max_value=LARGEST // 2, default=0)
    limit = serializers.IntegerField(min_value=1, max_value=CLUSTERS_AT_ONCE, default=50)


class ReasonedSerializer(Strict):
    """A write request with its identifier, and a reason if a current value is replaced."""

    uuid = serializers.UUIDField(
        help_text="Generated by the client. A repeated request with the same UUID has no effect."
    )
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="")


class CellRowSerializer(CellSerializer):
    unit = serializers.IntegerField(min_value=1, max_value=LARGEST)


class CorrectionsSerializer(ReasonedSerializer):
    """Corrections of several cells (fill-down, paste). All or none are applied."""

    rows = CellRowSerializer(many=True, allow_empty=False, **at_most(ROWS_AT_ONCE))


class CorrectedRowSerializer(Plain):
    unit = serializers.IntegerField()
    kind = serializers.CharField()
    fields_changed = serializers.ListField(child=serializers.CharField())


class CorrectionsDoneSerializer(Plain):
    rows = CorrectedRowSerializer(many=True)
    clusters = CuratedClusterSerializer(many=True, help_text="The changed clusters in their current state.")


def _text(**options: Any) -> serializers.CharField:
    return serializers.CharField(max_length=strata.CLAIM, trim_whitespace=False, **options)


class NewTextRowSerializer(Strict):
    text = _text()

    def validate_text(self, text: str) -> str:
        if not text.strip():
            raise serializers.ValidationError("Enter a text; it is empty or has only spaces.")
        return text


class NewInputSerializer(NewTextRowSerializer):
    """An input proposition with the study it is taken from."""

    pmid = serializers.CharField(max_length=40)
    label = LabelValueSerializer(required=False, allow_null=True, default=None)  # type: ignore[assignment]

    def validate_pmid(self, pmid: str) -> str:
        if not PMID.fullmatch(pmid):
            raise serializers.ValidationError("Expected a PMID: up to ten digits, such as 12038941.")
        return pmid


class NewClusterSerializer(NewTextRowSerializer):
    """A new cluster. ``text`` is the text of the target proposition."""

    sentence = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False, allow_null=True, default=None)
    tuple = TupleValueSerializer(required=False, allow_null=True, default=None)
    label = LabelValueSerializer(required=False, allow_null=True, default=None)  # type: ignore[assignment]
    relation = serializers.ChoiceField(choices=Relation.choices, required=False, allow_null=True, default=None)
    inputs = NewInputSerializer(many=True, default=list, **at_most(ROWS_AT_ONCE))


def _check_input_count(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if sum(len(row["inputs"]) for row in rows) > INPUTS_AT_ONCE:
        raise serializers.ValidationError(
            f"Expected at most {INPUTS_AT_ONCE:,} inputs in one request. Send the others separately."
        )
    return rows


class NewClustersSerializer(ReasonedSerializer):
    rows = NewClusterSerializer(many=True, allow_empty=False, **at_most(CLUSTERS_AT_ONCE))

    def validate_rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return _check_input_count(rows)


class NewInputsSerializer(ReasonedSerializer):
    rows = NewInputSerializer(many=True, allow_empty=False, **at_most(ROWS_AT_ONCE))


class ClustersDoneSerializer(Plain):
    clusters = CuratedClusterSerializer(many=True, help_text="The new and changed clusters in their current state.")


class NewSentenceSerializer(NewTextRowSerializer):
    """A target sentence of the review, with the input texts if they are already known."""

    inputs = NewInputSerializer(many=True, default=list, **at_most(ROWS_AT_ONCE))


class NewSentencesSerializer(ReasonedSerializer):
    rows = NewSentenceSerializer(many=True, allow_empty=False, **at_most(ROWS_AT_ONCE))

    def validate_rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return _check_input_count(rows)


class SentencesDoneSerializer(Plain):
    targets = TargetSerializer(many=True)


class NewReviewSerializer(ReasonedSerializer):
    pmid = serializers.CharField(max_length=40)
    title = _text(allow_blank=True, default="")
    abstract = _text(allow_blank=True, default="")
    sentences = NewSentenceSerializer(many=True, default=list, **at_most(ROWS_AT_ONCE))

    def validate_sentences(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return _check_input_count(rows)

    def validate_pmid(self, pmid: str) -> str:
        if not PMID.fullmatch(pmid):
            raise serializers.ValidationError("Expected a PMID: up to ten digits, such as 26258610.")
        return pmid


class NewReviewDoneSerializer(Plain):
    id = serializers.IntegerField()


class RemovalSerializer(Strict):
    reason = serializers.CharField(max_length=2000)
