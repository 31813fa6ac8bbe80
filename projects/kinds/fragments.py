"""Checks of text spans in submitted values."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.problems import Refused
from measures import spans


def check_fragments(text: str, fragments: Sequence[Mapping[str, Any]], field: str) -> None:
    """Check that the fragments of one span (``start``, ``end``, ``quote``) are in order and quote the text exactly.

    Offsets count code points. Raise `Refused` naming ``field``.
    """
    try:
        spans.check_quotes(text, [(f["start"], f["end"]) for f in fragments], [f["quote"] for f in fragments])
    except spans.SpanError as error:
        raise Refused.field(field, str(error)) from None
