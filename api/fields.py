"""What inputs have in common, whatever they are of."""

import math
from typing import Any

from rest_framework import serializers

#: The largest id or number that both data bases can compare with; SQLite fails at a larger one in a list.
LARGEST = 2**63 - 1


class FiniteField(serializers.FloatField):
    """A number that can be compared: "nan", which is neither below nor above any bound, is refused, and infinity."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


def at_most(rows: int) -> dict[str, Any]:
    """The length that a list of rows may have (a keyword of the list, which the types of DRF do not know)."""
    return {"max_length": rows}


class Strict(serializers.Serializer[Any]):
    """Input that refuses fields it does not know, so that nobody believes to have set what was ignored."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError({str(name): "There is no such field." for name in unknown})
        return super().to_internal_value(data)
