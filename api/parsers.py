"""Parser for request bodies that accepts only JSON that every database can store."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

#: Maximum number of values in a body. Each invalid value gets an error message, which needs far more memory.
MOST_VALUES = 200_000


class CarefulJSONParser(JSONParser):
    """DRF's parser, which rejects NaN, with checks for values that would fail later.

    Rejects deep nesting, too many values, lone surrogates, NUL, and integers of more than 64 bits.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        content = stream.read()
        # An upper bound of the number of values. It suffices, because no text has as many commas as the limit.
        if content.count(b",") + content.count(b"[") + content.count(b"{") > MOST_VALUES:
            raise ParseError(f"JSON parse error - more than {MOST_VALUES:,} values.")
        try:
            body = super().parse(BytesIO(content), media_type, parser_context)
            _check(body)
        except RecursionError as error:
            raise ParseError("JSON parse error - nested too deeply.") from error
        return body


def _check(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise ParseError("JSON parse error - NUL is not text.")
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise ParseError("JSON parse error - half a surrogate pair is not text.")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ParseError("JSON parse error - an integer of more than 64 bits.")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check(key)
            _check(inner)
    elif isinstance(value, list):
        for inner in value:
            _check(inner)
