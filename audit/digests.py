"""Digests of content: one canonical JSON, so that the same content has the same digest everywhere."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    raise TypeError(f"No canonical form for {type(value).__name__}.")


def canonical(content: Any) -> bytes:
    """JSON with sorted keys and no spaces, UTF-8; times in UTC to the microsecond."""
    text = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain, allow_nan=False
    )
    return text.encode()


def digest_of(content: Any) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical(content)).hexdigest()
