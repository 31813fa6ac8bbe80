from typing import Any

from rest_framework import serializers

from api.fields import UnitNameField
from projects.models import Origin

from ..models import Cue, Element, Level, Modality, PicoForm, Polarity, Relation

Plain = serializers.Serializer[Any]


class CorpusRangeSerializer(Plain):
    """A half-open range of Unicode code points of the target text."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class CorpusElementSerializer(Plain):
    """One element of a PICO tuple: its text as entered and, if explicit, its ranges in the target text."""

    element = serializers.ChoiceField(choices=Element.choices)
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
    """A cue: its verbatim text, its match in the proposition, the number of occurrences, and the ranges of the match
    used."""

    text = serializers.CharField()
    found = serializers.ChoiceField(choices=Cue.Found.choices)
    occurrences = serializers.IntegerField(
        help_text="Number of matches, ignoring case. If there are several, the first one is used."
    )
    fragments = CueFragmentSerializer(many=True)


class GoldCueSerializer(Plain):
    """``value`` is null if it was decided that there is no cue."""

    value = CueValueSerializer(allow_null=True)
    origin = serializers.ChoiceField(choices=Origin.choices)


class CorpusInputSerializer(Plain):
    position = serializers.IntegerField()
    study = StudyRefSerializer()
    text = serializers.CharField(source="source_text")


class TargetSerializer(Plain):
    """A target at document or sentence level, with the texts from which a summary must derive it."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField(source="unit_id")
    level = serializers.ChoiceField(choices=Level.choices)
    key = serializers.CharField()
    unit_name = UnitNameField()
    text = serializers.CharField()
    inputs = CorpusInputSerializer(many=True)
