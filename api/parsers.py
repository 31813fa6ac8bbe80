"""Reading request bodies: JSON that every data base can store and no parser chokes on."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

#: The most values of a body: each that is wrong gets an error of its own, which takes far more memory than the value.
MOST_VALUES = 200_000


class CarefulJSONParser(JSONParser):
    """DRF's parser (which refuses NaN), refusing also what would fail further in: nesting too deep to walk, values
    without end, text that is not Unicode (half a surrogate pair) or holds NUL, and integers of more than 64 bits."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        given = stream.read()
        # An upper bound, as good as the number itself where the limit is far above any text's commas.
        if given.count(b",") + given.count(b"[") + given.count(b"{") > MOST_VALUES:
            raise ParseError(f"JSON parse error - more than {MOST_VALUES:,} values.")
        try:
            body = super().parse(BytesIO(given), media_type, parser_context)
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
