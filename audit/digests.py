"""Digests over canonical JSON, so that equal content has the same digest everywhere."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    raise TypeError(f"Values of type {type(value).__name__} have no canonical JSON form.")


def canonical(content: Any) -> bytes:
    """Return UTF-8 JSON with sorted keys and without spaces. Times are in UTC with microseconds."""
    text = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain, allow_nan=False
    )
    return text.encode()


def digest_of(content: Any) -> str:
    """Return the SHA-256 of the canonical JSON in hex."""
    return hashlib.sha256(canonical(content)).hexdigest()
