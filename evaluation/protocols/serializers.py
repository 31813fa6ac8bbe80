"""Serializers of protocols."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction, extend_schema_field
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import WithDefaultSchema
from rest_framework import serializers

from api.fields import NameField, Strict

from .parts import KINDS, Content

Plain = serializers.Serializer[Any]


class PlainJsonSchema(GenerateJsonSchema):
    """A JSON schema without titles, which pydantic derives from the names, and without defaults.

    The type generator of the pages would make a property with a default required.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: WithDefaultSchema) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])


class ContentSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The API description of a protocol's content, with one component for each of its parts."""

    target_class = Content
    priority = 1

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return "ProtocolContent"

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema = Content.model_json_schema(
            mode="serialization", ref_template="#/components/schemas/Protocol{model}", schema_generator=PlainJsonSchema
        )
        for part, description in schema.pop("$defs").items():
            kind = ResolvedComponent.SCHEMA
            component = ResolvedComponent(f"Protocol{part}", kind, description, part)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(component)
        return schema


@extend_schema_field(Content)  # type: ignore[arg-type]
class ContentField(serializers.JSONField):
    """The content of a protocol, unparsed. `evaluation.protocols.content` reads and validates it."""


class FaultSerializer(Plain):
    """A fault.

    ``field`` is its path in the content (``criteria.0.scale.options.2.anchor``), or empty for the whole content.
    """

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
    rounds = UsedInSerializer(many=True, help_text="Rounds that use this version, newest first.")


class ProtocolSerializer(Plain):
    """A protocol with its versions, newest first."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    created_at = serializers.DateTimeField()
    criteria = serializers.IntegerField(help_text="Criteria of the newest version.")
    is_ready = serializers.BooleanField(help_text="Whether a round can be opened with the newest version.")
    versions = ListedVersionSerializer(many=True)


class ProtocolVersionRefSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()


class ProtocolVersionSerializer(ProtocolVersionRowSerializer):
    """One version of a protocol.

    ``unready`` lists what is missing before a round can be opened. ``versions`` are all versions of the protocol.
    """

    protocol = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    content = ContentField()
    instructions_html = serializers.CharField(help_text="HTML with safe elements only.")
    unready = FaultSerializer(many=True)
    versions = ProtocolVersionRefSerializer(many=True)


class ProtocolTemplateSerializer(Plain):
    """A protocol template."""

    key = serializers.CharField()
    name = serializers.CharField()
    about = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    content = ContentField()


class DraftSerializer(Strict):
    content = ContentField(help_text="Omitted fields have their defaults.")


class NewProtocolVersionSerializer(DraftSerializer):
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class NewProtocolSerializer(NewProtocolVersionSerializer):
    name = NameField(max_length=80)


class RenameProtocolSerializer(Strict):
    name = NameField(max_length=80)


class CheckedProtocolSerializer(Plain):
    """The validation result of a draft. ``content`` and ``digest`` are set if there is no fault."""

    faults = FaultSerializer(many=True)
    unready = FaultSerializer(many=True)
    content = ContentField(allow_null=True)
    digest = serializers.CharField(allow_blank=True)
    instructions_html = serializers.CharField(allow_blank=True)
    scales = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="By criterion: the scale to which ``means`` of its options refers, if this is another scale.",
    )
