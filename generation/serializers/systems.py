"""What can be configured, systems and versions in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict
from api.parameters import ParameterSerializer

from ..models import UnitLevel
from .runs import RunRowSerializer

Plain = serializers.Serializer[Any]


class MaterialSerializer(Plain):
    """A level, and how many units of it the project has."""

    key = serializers.ChoiceField(choices=UnitLevel.choices)
    name = serializers.CharField()
    units = serializers.IntegerField()


class SectionSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    parameters = ParameterSerializer(many=True)


class BackendSerializer(Plain):
    """A way to make summaries, with the form of its configuration."""

    key = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    no_probe = serializers.CharField(allow_blank=True, help_text="Why texts cannot be probed; empty where they can.")
    sections = SectionSerializer(many=True)


class PresetSerializer(Plain):
    """A summariser that a paper names, to begin with. ``needs``: fields (``section.name``) that are left open."""

    key = serializers.CharField()
    name = serializers.CharField()
    paper = serializers.CharField()
    says = serializers.CharField()
    backend = serializers.CharField()
    config = serializers.DictField(child=serializers.JSONField())
    needs = serializers.ListField(child=serializers.CharField())


class VersionChoicesSerializer(Plain):
    """What a new version can be made of."""

    levels = MaterialSerializer(many=True)
    backends = BackendSerializer(many=True)
    presets = PresetSerializer(many=True)


class VersionFieldsSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    backend = serializers.CharField()
    level = serializers.ChoiceField(choices=UnitLevel.choices)
    hash = serializers.CharField(help_text="SHA-256 of configuration and facts: the version's name.")
    note = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class VersionRowSerializer(VersionFieldsSerializer):
    run = RunRowSerializer(allow_null=True, help_text="The newest that made summaries.")


class SystemSerializer(Plain):
    """A summariser with its versions, the newest first."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    versions = VersionRowSerializer(many=True)


class NewSystemSerializer(Strict):
    name = serializers.CharField(max_length=80)
    description = serializers.CharField(max_length=5000, required=False, default="", allow_blank=True)


class NewVersionSerializer(Strict):
    config = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        help_text="``backend``, ``level``, ``seed`` and the backend's sections; what is left out has its default.",
    )
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class LineSerializer(Plain):
    """One parameter of a configuration, read out."""

    section = serializers.CharField()
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    words = serializers.CharField()
    default = serializers.BooleanField()


class VersionChangeSerializer(Plain):
    """Something in which the version differs from the one before; empty where one of them has no such thing."""

    field = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class VersionRefSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()


class VersionSerializer(VersionFieldsSerializer):
    """One exact configuration, with what it points at."""

    system = serializers.IntegerField()
    system_name = serializers.CharField()
    project = serializers.CharField()
    config = serializers.DictField(child=serializers.JSONField(allow_null=True))
    facts = serializers.DictField(child=serializers.JSONField(allow_null=True))
    by = serializers.CharField(allow_blank=True, help_text="Empty for a version made by command.")
    no_probe = serializers.CharField(allow_blank=True, help_text="Why it cannot be probed; empty where it can.")
    lines = LineSerializer(many=True)
    before = VersionRefSerializer(allow_null=True)
    changes = VersionChangeSerializer(many=True)
    runs = RunRowSerializer(many=True, help_text="The newest fifty.")
