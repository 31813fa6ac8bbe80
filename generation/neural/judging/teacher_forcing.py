"""One pass through a decoder for all texts of several sources: teacher forcing, in fp32, dropout off.

Nothing of `generate` acts here: no forced tokens, no minimum length, no n-gram blocking, no label smoothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from .heads import nll, of_logits
from .prefix_tree import Forest, Tree
from .segments import Segments, apart

#: Of one source: of each text, the negative log-likelihood of each token, in nats.
Nll = list[list[float]]


def by_trees(
    model: Any, states: Tensor, mask: Tensor, trees: Sequence[Tree], *, whole: bool = False
) -> list[Nll]:  # fmt: skip
    """Encoder-decoder. ``states`` (n, S, d) and ``mask`` (n, S) of n sources, one tree each: what texts share is read
    once, and each source's cross-attention is computed once however many texts it has. ``whole``: see `heads`."""
    packed = _Packed(trees, model.device)
    with _positions(model.get_decoder(), packed.depths):
        return packed.nll(
            model, whole=whole, encoder_outputs=BaseModelOutput(last_hidden_state=states), attention_mask=mask,
            decoder_input_ids=packed.tokens, decoder_attention_mask=packed.mask(model.dtype), use_cache=False,
        )  # fmt: skip


def by_trees_in_line(
    model: Any, states: Tensor, mask: Tensor, trees: Sequence[Tree], *, whole: bool = False
) -> list[Nll]:
    """`by_trees` without padding: all trees lie in one row, all states in another, and only attention goes from source
    to source."""
    packed = _Packed([Forest(trees)], model.device)
    segments = Segments([len(tree) for tree in trees], mask.sum(-1).tolist())
    with _positions(model.get_decoder(), packed.depths), apart(model):
        [found] = packed.nll(
            model, whole=whole, encoder_outputs=BaseModelOutput(last_hidden_state=states[mask.bool()][None]),
            decoder_input_ids=packed.tokens, decoder_attention_mask=packed.mask(model.dtype), use_cache=False,
            segments=segments,
        )  # fmt: skip
    texts = iter(found)
    return [[next(texts) for _ in tree.texts] for tree in trees]


def by_rows(model: Any, states: Tensor, mask: Tensor, trees: Sequence[Tree]) -> list[Nll]:
    """The same with one row a text, for decoders that a tree cannot be given to: states are expanded."""
    packed = _Rows(trees, model.device)
    found = model(
        encoder_outputs=BaseModelOutput(last_hidden_state=states[packed.source]), attention_mask=mask[packed.source],
        decoder_input_ids=packed.tokens, use_cache=False,
    ).logits  # fmt: skip
    return packed.nll(found)


def by_prompt_and_trees(
    model: Any, prompts: Sequence[Sequence[int]], trees: Sequence[Tree], *, whole: bool = False
) -> list[Nll]:  # fmt: skip
    """A causal model. Keys and values of each prompt but its last token, which begins its tree, are computed once."""
    packed = _Packed(trees, model.device)
    heads = [prompt[:-1] for prompt in prompts]
    width = max(map(len, heads))
    ids, seen = (torch.zeros(len(heads), width, dtype=torch.long, device=model.device) for _ in range(2))
    for row, head in enumerate(heads):
        ids[row, width - len(head) :] = torch.tensor(head, dtype=torch.long)
        seen[row, width - len(head) :] = 1
    cache = None
    if width:
        places = (seen.cumsum(-1) - 1).clamp(min=0)
        # The logits of prompts are not wanted: of one token there must be some.
        cache = model(
            input_ids=ids, attention_mask=seen, position_ids=places, use_cache=True, logits_to_keep=1
        ).past_key_values  # fmt: skip
    mask = torch.cat([_additive(seen.bool(), model.dtype)[:, None, None, :].expand(-1, 1, packed.width, -1),
                      packed.mask(model.dtype)], -1)  # fmt: skip
    return packed.nll(
        model, whole=whole, input_ids=packed.tokens, attention_mask=mask,
        position_ids=packed.depths + seen.sum(-1, keepdim=True), past_key_values=cache, use_cache=cache is not None,
    )  # fmt: skip


def by_prompt_rows(model: Any, prompts: Sequence[Sequence[int]], trees: Sequence[Tree]) -> list[Nll]:
    """The same with one row a prompt and text, for models that look back through a window, or keep a running state."""
    packed = _Rows(trees, model.device, [prompt[:-1] for prompt in prompts])
    # Padding is on the right, where it changes nothing of what is before it; labels mask the prompt.
    return packed.nll(model(input_ids=packed.tokens, attention_mask=packed.read, use_cache=False).logits)


class _Packed:
    """Trees padded to one width: ``tokens`` and ``depths`` (n, T); ``rows``, the real nodes among n * T."""

    def __init__(self, trees: Sequence[Tree], device: torch.device) -> None:
        self.trees, self.device = trees, device
        self.width = max(map(len, trees))
        self.tokens, self.depths = (
            torch.tensor([values + [0] * (self.width - len(values)) for values in rows], device=device)
            for rows in ([tree.tokens for tree in trees], [tree.depths for tree in trees])
        )
        self.rows = torch.tensor(
            [row * self.width + node for row, tree in enumerate(trees) for node in range(len(tree))], device=device
        )

    def mask(self, dtype: torch.dtype) -> Tensor:
        """(n, 1, T, T), added to the scores of attention: each node reads itself and what it follows."""
        seen = np.broadcast_to(np.eye(self.width, dtype=bool), (len(self.trees), self.width, self.width)).copy()
        for row, tree in enumerate(self.trees):
            seen[row, : len(tree), : len(tree)] = tree.sees()
        return _additive(torch.from_numpy(seen).to(self.device), dtype)[:, None]

    def nll(self, model: Any, *, whole: bool, **given: Any) -> list[Nll]:
        """By one pass that is ``given`` these tokens. Only real nodes have logits, one after the other."""
        firsts = np.cumsum([0, *(len(tree) for tree in self.trees)])
        nodes = [
            int(first) + node
            for first, tree in zip(firsts, self.trees, strict=False) for path in tree.paths for node in path
        ]  # fmt: skip
        return _deal(nll(model, self.rows, nodes, _labels(self.trees), whole=whole, **given), self.trees)


class _Rows:
    """One row a text, padded on the right: ``tokens`` and ``read`` (rows, T), and the ``source`` of each row."""

    def __init__(
        self, trees: Sequence[Tree], device: torch.device, before: Sequence[Sequence[int]] | None = None
    ) -> None:
        self.trees = trees
        self.heads = before or [()] * len(trees)
        rows = [
            [*head, tree.tokens[0], *text[:-1]]
            for head, tree in zip(self.heads, trees, strict=True) for text in tree.texts
        ]  # fmt: skip
        self.width = max(map(len, rows))
        self.source = torch.tensor([i for i, tree in enumerate(trees) for _ in tree.texts], device=device)
        self.tokens = torch.tensor([row + [0] * (self.width - len(row)) for row in rows], device=device)
        self.read = torch.tensor([[1] * len(row) + [0] * (self.width - len(row)) for row in rows], device=device)

    def nll(self, found: Tensor) -> list[Nll]:
        nodes: list[int] = []
        row = 0
        for head, tree in zip(self.heads, self.trees, strict=True):
            for text in tree.texts:
                nodes += range(row * self.width + len(head), row * self.width + len(head) + len(text))
                row += 1
        return _deal(of_logits(found.flatten(0, 1), nodes, _labels(self.trees)), self.trees)


def _labels(trees: Sequence[Tree]) -> list[int]:
    return [token for tree in trees for text in tree.texts for token in text]


def _deal(flat: Sequence[float], trees: Sequence[Tree]) -> list[Nll]:
    values = iter(flat)
    return [[[next(values) for _ in text] for text in tree.texts] for tree in trees]


def _additive(seen: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, torch.finfo(dtype).min)


@contextmanager
def _positions(decoder: Any, depths: Tensor) -> Iterator[None]:
    """Let the decoder take a node's depth for its position. `LookupError` where it is not known how."""
    if (table := getattr(decoder, "embed_positions", None)) is not None:  # BART, PEGASUS, LED, BigBird-PEGASUS
        places = torch.nn.functional.embedding(depths + getattr(table, "offset", 0), table.weight)
        module, name, replaced = table, "forward", lambda *args, **kwargs: places
    elif relative := [x for x in decoder.modules() if getattr(x, "has_relative_attention_bias", False)]:  # T5
        if len(relative) > 1:
            raise LookupError("relative positions of each layer")
        module, name = relative[0], "compute_bias"
        replaced = lambda *args, **kwargs: _relative(module, depths)  # noqa: E731
    else:
        raise LookupError(f"positions of {type(decoder).__name__}")
    setattr(module, name, replaced)
    try:
        yield
    finally:
        delattr(module, name)


def _relative(attention: Any, depths: Tensor) -> Tensor:
    """T5's bias by the distance of depths: (n, heads, T, T)."""
    buckets = attention._relative_position_bucket(
        depths[:, None, :] - depths[:, :, None], bidirectional=False,
        num_buckets=attention.relative_attention_num_buckets, max_distance=attention.relative_attention_max_distance,
    )  # fmt: skip
    bias: Tensor = attention.relative_attention_bias(buckets).permute(0, 3, 1, 2)
    return bias
