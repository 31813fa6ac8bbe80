"""The interval rule before version 2, kept so that releases that use it can be recomputed.

Only `measures.recompute` enables it, for the figures of such a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_is_on: ContextVar[bool] = ContextVar("former rule", default=False)


def is_on() -> bool:
    """Whether figures are computed by the former rule."""
    return _is_on.get()


@contextmanager
def rule(on: bool = True) -> Iterator[None]:
    """Compute by the former rule inside the block."""
    token = _is_on.set(on)
    try:
        yield
    finally:
        _is_on.reset(token)


def in_former_words(printed: Any, computed: Any) -> Any:
    """Return ``computed`` with the keys for withheld intervals that former releases use."""
    if isinstance(computed, list | tuple):
        pairs = printed if isinstance(printed, list) and len(printed) == len(computed) else [None] * len(computed)
        return [in_former_words(one, other) for one, other in zip(pairs, computed, strict=True)]
    if not isinstance(computed, dict):
        return computed
    printed_fields = printed if isinstance(printed, dict) else {}
    converted = {key: in_former_words(printed_fields.get(key), value) for key, value in computed.items()}
    if "ci_reason" in converted and "ci_reason" not in printed_fields:
        reason = converted.pop("ci_reason")
        if "no_interval" in printed_fields:
            converted["no_interval"] = reason or ""
    return converted
