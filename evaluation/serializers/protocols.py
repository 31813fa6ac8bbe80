"""Protocols and their versions in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict

from ..protocols.parts import KINDS
from ..protocols.serializers import ContentField

Plain = serializers.Serializer[Any]


class FaultSerializer(Plain):
    """``field``: its path in the content, with dots (``criteria.0.scale.options.2.anchor``); empty for all of it."""

    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class ProtocolVersionRowSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    digest = serializers.CharField(help_text="SHA-256 of the content's canonical JSON.")
    note = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_blank=True, help_text="Empty for a version written by command.")
    created_at = serializers.DateTimeField()


class UsedInSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()


class ListedVersionSerializer(ProtocolVersionRowSerializer):
    rounds = UsedInSerializer(many=True, help_text="By this version, the newest first.")


class ProtocolSerializer(Plain):
    """A protocol with its versions, the newest first."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    created_at = serializers.DateTimeField()
    versions = ListedVersionSerializer(many=True)


class ProtocolVersionRefSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()


class ProtocolVersionSerializer(ProtocolVersionRowSerializer):
    """One version. ``unready``: what keeps a round from opening by it; ``versions``: all of the protocol."""

    protocol = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    content = ContentField()
    instructions_html = serializers.CharField(help_text="Reduced to safe elements.")
    unready = FaultSerializer(many=True)
    versions = ProtocolVersionRefSerializer(many=True)


class ProtocolTemplateSerializer(Plain):
    """A protocol to start from, in our own words."""

    key = serializers.CharField()
    name = serializers.CharField()
    about = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    content = ContentField()


class DraftSerializer(Strict):
    content = ContentField(help_text="What is left out has its default.")


class NewProtocolVersionSerializer(DraftSerializer):
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class NewProtocolSerializer(NewProtocolVersionSerializer):
    name = serializers.CharField(max_length=80)


class RenameProtocolSerializer(Strict):
    name = serializers.CharField(max_length=80)


class CheckedProtocolSerializer(Plain):
    """What became of a draft. ``content``, whole, and its ``digest`` are given where there is no fault."""

    faults = FaultSerializer(many=True)
    unready = FaultSerializer(many=True)
    content = ContentField(allow_null=True)
    digest = serializers.CharField(allow_blank=True)
    instructions_html = serializers.CharField(allow_blank=True)
    scales = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="By criterion: the scale that its options can mean values of (``means``), where it is not its own.",
    )
