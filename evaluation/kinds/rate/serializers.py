"""The shapes of the rate kind: a page of texts, and what is said of each."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...models import Within
from ...protocols.serializers import ContentSerializer

Plain = serializers.Serializer[Any]


class StudyShownSerializer(Plain):
    title = serializers.CharField(allow_blank=True)
    text = serializers.CharField()


class SourceShownSerializer(Plain):
    """What the texts were made from."""

    query = serializers.CharField(allow_blank=True)
    title = serializers.CharField(allow_blank=True)
    studies = StudyShownSerializer(many=True)


class TargetSlotSerializer(Plain):
    slot = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    form = serializers.CharField()


class TargetShownSerializer(Plain):
    """As much of the target as the protocol shows; what it does not is empty."""

    text = serializers.CharField(allow_blank=True)
    slots = TargetSlotSerializer(many=True)
    polarity = serializers.CharField(allow_blank=True)
    modality = serializers.CharField(allow_blank=True)


class PageTextSerializer(Plain):
    key = serializers.CharField(help_text="What answers call it.")
    text = serializers.CharField()


class PageCardSerializer(Plain):
    """A page, its texts in the order of the person's own place."""

    protocol = ContentSerializer()
    source = SourceShownSerializer()  # type: ignore[assignment]
    target = TargetShownSerializer(allow_null=True)
    texts = PageTextSerializer(many=True)


class MarkedSerializer(Plain):
    """A passage of the text, in code points, with its quote; the server slices the text again and compares."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False, max_length=20_000)
    category = serializers.CharField(allow_blank=True, default="", max_length=60)
    severity = serializers.CharField(allow_blank=True, default="", max_length=60)
    reason = serializers.CharField(allow_blank=True, default="", max_length=2000)


class QuotedSerializer(Plain):
    """A passage of the text or of a study (from 0) that is given as evidence."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)
    quote = serializers.CharField(trim_whitespace=False, max_length=20_000)
    study = serializers.IntegerField(min_value=0, max_value=10_000, default=0)

    def get_fields(self) -> Any:
        return {"in": serializers.ChoiceField(choices=Within.choices), **super().get_fields()}


class SaidSerializer(Plain):
    """What is said of one text by one criterion."""

    criterion = serializers.CharField(max_length=30)
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
    """Every text of the page, once."""

    texts = TextSaidSerializer(many=True, **at_most(100))
