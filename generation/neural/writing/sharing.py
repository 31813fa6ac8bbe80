"""Caches in which the beams of an item share what is theirs in common.

Transformers copies the encoder's states for every beam and re-gathers these copies at every step, although all beams
of an item attend to the same keys and values. Here they are kept once an item: the beams of an item become so many
queries of one attention. In real arithmetic that is the same sum.
"""

from types import MethodType
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.masking_utils import create_bidirectional_mask

#: What the families call their attention over the encoder's states.
_CROSS = ("encoder_attn", "EncDecAttention")


def share_cross_attention(model: Any) -> None:
    """Let each decoder layer take ``k`` times as many rows as there are encoder states: row ``i`` belongs to states
    ``i // k``. With equally many it is what it was. The mask given must be 4D: `cross_mask`."""
    for name, module in model.get_decoder().named_modules():
        if name.rpartition(".")[2] in _CROSS:
            module.forward = MethodType(_folded(module.forward), module)


def _folded(forward: Any) -> Any:
    def cross(self: Any, hidden_states: Tensor, *, key_value_states: Tensor, **given: Any) -> Any:
        rows, queries, width = hidden_states.shape
        items = key_value_states.shape[0]
        if rows == items:
            return forward(hidden_states, key_value_states=key_value_states, **given)
        folded = hidden_states.view(items, rows // items * queries, width)
        name = "mask" if "mask" in given else "attention_mask"
        if given.get(name) is not None:
            # LED wants a mask of the exact shape; expanding copies nothing.
            given[name] = given[name].expand(-1, -1, folded.shape[1], -1)
        output, *rest = forward(folded, key_value_states=key_value_states, **given)
        return (output.reshape(rows, queries, width), *rest)

    return cross


def cross_mask(model: Any, states: Tensor, mask: Tensor) -> Tensor:
    """The mask of ``states`` (n, S, d) from ``mask`` (n, S), 1 where there is a token, as attention takes it:
    (n, 1, 1, S)."""
    config = model.config
    made = create_bidirectional_mask(
        config=config, inputs_embeds=states[:, :1], attention_mask=mask, encoder_hidden_states=states
    )
    if made is None:
        # Nothing is masked. Said in words of shape 4D all the same, or the decoder would make its own for n rows.
        made = torch.ones(len(states), 1, 1, states.shape[1], dtype=torch.bool, device=states.device)
    return made


class Shared:
    """The cache of a decoder: one row a beam for what was written, one row an item for what was read."""

    def __init__(self) -> None:
        self.written, self.read = DynamicCache(), DynamicCache()
        self.both = EncoderDecoderCache(self.written, self.read)

    def follow(self, rows: Tensor) -> None:
        """Row ``i`` continues what row ``rows[i]`` was; there may be fewer rows than before."""
        self.written.reorder_cache(rows)

    def keep(self, items: Tensor) -> None:
        """Only some items go on. The rows of what was written are chosen by `follow`."""
        self.read.batch_select_indices(items)
