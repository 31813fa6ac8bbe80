"""Base serializer, fields and limits for inputs."""

import math
from typing import Any

from rest_framework import serializers

#: The largest integer that both databases can compare. SQLite fails at a larger one in a list.
LARGEST = 2**63 - 1


class FiniteField(serializers.FloatField):
    """A finite number. NaN would pass every bound, so NaN and infinity are rejected."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


def at_most(rows: int) -> dict[str, Any]:
    """Return the keyword argument for the maximum length of a list, which the types of DRF lack."""
    return {"max_length": rows}


class Strict(serializers.Serializer[Any]):
    """A serializer that rejects unknown fields, so that no input is silently ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError({str(name): "There is no such field." for name in unknown})
        return super().to_internal_value(data)
