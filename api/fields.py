"""Base serializer, fields and limits for inputs."""

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import serializers

from measures.unit_names import unit_name

#: The largest integer that both databases can compare. SQLite fails at a larger one in a list.
LARGEST = 2**63 - 1


class FiniteField(serializers.FloatField):
    """A finite number. NaN would pass every bound, so NaN and infinity are rejected."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class NameField(serializers.CharField):
    """A name in one line, without characters that would break the line or reverse the text after the name."""

    #: Control characters, and Unicode's embeddings, overrides and isolates of the direction of text.
    UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
    default_error_messages: ClassVar[dict[str, Any]] = {
        "unwanted": "A name cannot contain control characters or characters that change the direction of text."
    }

    def to_internal_value(self, data: Any) -> str:
        name: str = super().to_internal_value(data)
        if self.UNWANTED.search(name):
            self.fail("unwanted")
        return name


class ReasonField(serializers.CharField):
    """A reason in words. Invisible characters alone are none, although they are not blank."""

    default_error_messages: ClassVar[dict[str, Any]] = {"wordless": "Give a reason in words."}

    def to_internal_value(self, data: Any) -> str:
        reason: str = super().to_internal_value(data)
        if reason and not any(map(str.isalnum, reason)):
            self.fail("wordless")
        return reason


class UnitNameField(serializers.CharField):
    """The name of a unit for people, from the key in ``source``. Read only."""

    def __init__(self, source: str = "key", **kwargs: Any) -> None:
        kwargs["read_only"] = True
        super().__init__(source=source, **kwargs)

    def to_representation(self, value: Any) -> str:
        return unit_name(super().to_representation(value))


def at_most(rows: int) -> dict[str, Any]:
    """Return the keyword argument for the maximum length of a list, which the types of DRF lack."""
    return {"max_length": rows}


class LabelField(serializers.ChoiceField):
    """A choice whose name in the API is its label. The stored value, which earlier versions used, is accepted too."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        self.by_value = {str(value): str(label) for value, label in choices}
        self.by_label = {label: value for value, label in self.by_value.items()}
        super().__init__(choices=[(label, label) for label in self.by_label], **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        return self.by_label[super().to_internal_value(self.by_value.get(str(data), data))]

    def to_representation(self, value: Any) -> Any:
        return self.by_value.get(str(value), value)


def with_new_names(data: Any, old_names: Mapping[str, str]) -> Any:
    """Return a submission with each field's current name. ``old_names`` maps names of earlier versions to them."""
    if not isinstance(data, dict) or not any(name in old_names for name in data):
        return data
    renamed = {old_names[name]: value for name, value in data.items() if name in old_names}
    return renamed | {name: value for name, value in data.items() if name not in old_names}


class Strict(serializers.Serializer[Any]):
    """A serializer that rejects unknown fields, so that no input is silently ignored."""

    #: Current names of fields, by names of earlier versions, which are still accepted.
    old_names: ClassVar[Mapping[str, str]] = {}

    def to_internal_value(self, data: Any) -> Any:
        data = with_new_names(data, self.old_names)
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError({str(name): "There is no such field." for name in unknown})
        return super().to_internal_value(data)
