"""Attention over several texts that lie in one row, each by itself: nothing is padded, and all that is done token by
token, which is most of the work, is done for all tokens together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

_NAME = "concord_apart"


@dataclass(frozen=True)
class Segments:
    """Of each text in order, the tokens that a decoder reads and the states that it attends to."""

    tokens: Sequence[int]
    states: Sequence[int]


def _apart(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, *,
    segments: Segments, scaling: float | None = None, position_bias: Tensor | None = None, **_: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """``query`` (1, heads, tokens, d); ``key`` and ``value`` are of the tokens with a mask (1, 1, tokens, tokens), of
    the states without one."""
    if position_bias is not None:
        raise LookupError("attention that adds a bias of positions")
    found, begin, first = [], 0, 0
    read = segments.states if attention_mask is None else segments.tokens
    for end, last in zip(accumulate(segments.tokens), accumulate(read), strict=True):
        mask = None if attention_mask is None else attention_mask[:, :, begin:end, first:last]
        rows = query[:, :, begin:end], key[:, :, first:last], value[:, :, first:last]
        found.append(scaled_dot_product_attention(*rows, attn_mask=mask, scale=scaling).transpose(1, 2))
        begin, first = end, last
    return torch.cat(found, 1), None


AttentionInterface.register(_NAME, _apart)


@contextmanager
def apart(model: Any) -> Iterator[None]:
    """Let the model's attention keep the `Segments` apart that a pass is given as ``segments``.

    `LookupError` where its attention is not `sdpa`, which this is, or is no matter of its configuration.
    """
    own = model.config._attn_implementation
    if own != "sdpa":
        raise LookupError(f"attention of the kind {own}")
    model.set_attn_implementation(_NAME)
    try:
        yield
    finally:
        model.set_attn_implementation(own)
