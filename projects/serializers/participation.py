"""Participant links and consent in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict

from ..pages.participation import STATES
from .people import SessionSerializer

Plain = serializers.Serializer[Any]
TEXT = 20_000


class NewLinksSerializer(Strict):
    """Personal links, one a label; or, with places, one shared link a label."""

    labels = serializers.ListField(
        child=serializers.CharField(max_length=80), min_length=1, max_length=500, help_text="One link each."
    )
    places = serializers.IntegerField(min_value=1, max_value=10_000, default=1, help_text="1: a personal link.")
    days = serializers.IntegerField(min_value=1, max_value=365, default=30, help_text="How long it is valid.")
    text = serializers.CharField(
        max_length=TEXT, required=False, help_text="The consent text, Markdown; that of the newest link if left out."
    )


class MadeLinkSerializer(Plain):
    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    expires_at = serializers.DateTimeField()
    token = serializers.CharField(help_text="Shown this once; the page makes the link /take#TOKEN of it.")


class MadeLinksSerializer(Plain):
    links = MadeLinkSerializer(many=True)


class LinkRowSerializer(Plain):
    """A participant link as the lead sees it."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    places = serializers.IntegerField()
    used = serializers.IntegerField()
    came_by = serializers.IntegerField(allow_null=True, help_text="The shared link that this volunteer came by.")
    pseudonym = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=[(s, s) for s in STATES])
    agreed_at = serializers.DateTimeField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    seconds_an_answer = serializers.FloatField(allow_null=True)
    last_seen_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class ExtendSerializer(Strict):
    days = serializers.IntegerField(min_value=1, max_value=365, help_text="Valid so long from now.")


class ConsentTextSerializer(Strict):
    text = serializers.CharField(max_length=TEXT, help_text="Markdown.")


class ShownTextSerializer(Plain):
    text = serializers.CharField(help_text="Markdown.")
    html = serializers.CharField(help_text="Sanitised.")


class TakeTokenSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)


class TakeSerializer(TakeTokenSerializer):
    digest = serializers.CharField(
        max_length=64, required=False, default="", allow_blank=True, help_text="Of the text that was agreed to."
    )


class AgreeSerializer(Strict):
    digest = serializers.CharField(max_length=64, help_text="Of the text that was agreed to.")


class ParticipationSerializer(Plain):
    """What a volunteer is asked to agree to, and where the work is."""

    round = serializers.IntegerField()
    name = serializers.CharField()
    project_name = serializers.CharField()
    html = serializers.CharField(help_text="The text, sanitised.")
    digest = serializers.CharField(help_text="Sent back with the agreement.")
    agreed = serializers.BooleanField(help_text="Whether the person agreed to this very text.")
    withdrawn = serializers.BooleanField(help_text="Whether the person withdrew.")
    returning = serializers.BooleanField(help_text="Whether the link has a person already.")
    full = serializers.BooleanField(help_text="No place is left.")
    closed = serializers.BooleanField(help_text="The round is closed.")
    shared = serializers.BooleanField()
    expires_at = serializers.DateTimeField()


class AcceptedSerializer(Plain):
    session = SessionSerializer()
    round = serializers.IntegerField()
    token = serializers.CharField(
        allow_blank=True, help_text="Of the personal link of a new volunteer; shown this once."
    )
    expires_at = serializers.DateTimeField()


class WithdrawnSerializer(Plain):
    freed = serializers.IntegerField(help_text="Slots that go to others.")
