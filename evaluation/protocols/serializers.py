"""A protocol's content in the description of the API, made of what its parts declare. Cards of raters have it too."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from . import parts
from .takes import Better, Code, Flag, Number, OneOf, OrNull, Part, Place, Several, Takes, Version, declared

Plain = serializers.Serializer[Any]
_VALUES = {"type": "array", "items": {"type": "string"}}
_BETTER = {"oneOf": [{"type": "string", "enum": list(Better.directions)}, _VALUES]}


@extend_schema_field(_BETTER)
class BetterField(serializers.JSONField):
    """A direction, a list of good values, or null."""


def _field(what: Takes, later: bool = False) -> serializers.Field[Any, Any, Any, Any]:
    match what:
        case Part():
            return _serializer(what.of)(allow_null=what.or_null)
        case Several(each=Part() as part):
            return _serializer(part.of)(many=True)
        case Several():
            return serializers.ListField(child=_field(what.each))
        case OneOf():
            return serializers.ChoiceField(choices=list(what.values))
        case Flag():
            return serializers.BooleanField()
        case Place() | Version():
            return serializers.IntegerField()
        case Number():
            return serializers.FloatField(allow_null=True)
        case Better():
            return BetterField(allow_null=True)
        case OrNull():
            return serializers.CharField(allow_null=True)
    return serializers.CharField(allow_blank=later or not isinstance(what, Code), required=not later)


_made: dict[type, type[Plain]] = {}


def _serializer(part: type) -> type[Plain]:
    """The serializer of a part, once: its name in the description is the part's, as one of a protocol."""
    if part not in _made:
        shape: dict[str, Any] = {name: _field(what, one.metadata["later"]) for name, what, one in declared(part)}
        _made[part] = type(f"Protocol{part.__name__}Serializer", (Plain,), shape | {"__doc__": part.__doc__})
    return _made[part]


ContentSerializer = _serializer(parts.Content)


@extend_schema_field(ContentSerializer)
class ContentField(serializers.JSONField):
    """The content of a protocol as it stands: `evaluation.protocols.content` reads and checks it."""
