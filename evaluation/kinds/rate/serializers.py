"""Serializers of the rate kind: a page of texts, and the ratings of each."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...models import Within
from ...protocols.serializers import ContentField

Plain = serializers.Serializer[Any]


class StudyShownSerializer(Plain):
    title = serializers.CharField(allow_blank=True)
    text = serializers.CharField()


class SourceShownSerializer(Plain):
    """The source of the texts."""

    query = serializers.CharField(allow_blank=True)
    title = serializers.CharField(allow_blank=True)
    studies = StudyShownSerializer(many=True)


class TargetSlotSerializer(Plain):
    slot = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    form = serializers.CharField()


class TargetShownSerializer(Plain):
    """The parts of the target that the protocol shows. Other parts are empty."""

    text = serializers.CharField(allow_blank=True)
    slots = TargetSlotSerializer(many=True)
    polarity = serializers.CharField(allow_blank=True)
    modality = serializers.CharField(allow_blank=True)


class PageTextSerializer(Plain):
    key = serializers.CharField(help_text="Key of the text in answers.")
    text = serializers.CharField()


class PageCardSerializer(Plain):
    """A page with its texts in the order of the rater's assignment."""

    protocol = ContentField()
    source = SourceShownSerializer()  # type: ignore[assignment]
    target = TargetShownSerializer(allow_null=True)
    texts = PageTextSerializer(many=True)


class MarkedSerializer(Plain):
    """A marked passage of the text: offsets in code points, and its quote. The server verifies the quote."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False, max_length=20_000)
    category = serializers.CharField(allow_blank=True, default="", max_length=60)
    severity = serializers.CharField(allow_blank=True, default="", max_length=60)
    reason = serializers.CharField(allow_blank=True, default="", max_length=2000)


class QuotedSerializer(Plain):
    """A passage of the text or of a study that is quoted as evidence. Studies are numbered from 0."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False, max_length=20_000)
    study = serializers.IntegerField(min_value=0, max_value=10_000, default=0)

    def get_fields(self) -> Any:
        return {"in": serializers.ChoiceField(choices=Within.choices), **super().get_fields()}


class SaidSerializer(Plain):
    """The rating of one text by one criterion."""

    criterion = serializers.CharField(max_length=40)
    value = serializers.CharField(allow_blank=True, default="", max_length=5000)
    na = serializers.BooleanField(default=False)
    prefilled = serializers.BooleanField(default=False)
    reason = serializers.CharField(allow_blank=True, default="", max_length=2000)
    spans = MarkedSerializer(many=True, default=list, **at_most(200))
    quotes = QuotedSerializer(many=True, default=list, **at_most(50))


class TextSaidSerializer(Plain):
    text = serializers.CharField(max_length=8)
    said = SaidSerializer(many=True, **at_most(40))


class RateValueSerializer(Plain):
    """The ratings of a page. Every text occurs once."""

    texts = TextSaidSerializer(many=True, **at_most(100))
