"""Teacher forcing: one decoder pass for all texts of several sources, in fp32 and without dropout.

No setting of `generate` applies: no forced tokens, minimum length, n-gram blocking or label smoothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from generation.neural.judging.heads import Segments, apart

from .heads import nll, nll_of_logits
from .prefix_tree import Forest, Tree

#: For one source: the negative log-likelihood of each token of each text, in nats.
Nll = list[list[float]]


def by_trees(model: Any, states: Tensor, mask: Tensor, trees: Sequence[Tree], *, whole: bool = False) -> list[Nll]:
    """Judge with an encoder-decoder, one tree per source.

    ``states`` (n, S, d) and ``mask`` (n, S) are those of n sources. Shared prefixes are computed once, and so is the
    cross-attention of each source. For ``whole`` see `heads`.
    """
    packed = _PackedTrees(trees, model.device)
    with _positions(model.get_decoder(), packed.depths):
        return packed.nll(
            model,
            whole=whole,
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=mask,
            decoder_input_ids=packed.tokens,
            decoder_attention_mask=packed.mask(model.dtype),
            use_cache=False,
        )


def by_trees_in_line(
    model: Any, states: Tensor, mask: Tensor, trees: Sequence[Tree], *, whole: bool = False
) -> list[Nll]:
    """Like `by_trees`, without padding: all trees form one row and all states another.

    Attention stays within a source.
    """
    packed = _PackedTrees([Forest(trees)], model.device)
    segments = Segments([len(tree) for tree in trees], mask.sum(-1).tolist())
    with _positions(model.get_decoder(), packed.depths), apart(model):
        [nlls] = packed.nll(
            model,
            whole=whole,
            encoder_outputs=BaseModelOutput(last_hidden_state=states[mask.bool()][None]),
            decoder_input_ids=packed.tokens,
            decoder_attention_mask=packed.mask(model.dtype),
            use_cache=False,
            segments=segments,
        )
    texts = iter(nlls)
    return [[next(texts) for _ in tree.texts] for tree in trees]


def by_rows(model: Any, states: Tensor, mask: Tensor, trees: Sequence[Tree]) -> list[Nll]:
    """Like `by_trees`, with one row per text, for decoders that do not support trees. States are expanded."""
    packed = _Rows(trees, model.device)
    logits = model(
        encoder_outputs=BaseModelOutput(last_hidden_state=states[packed.source]),
        attention_mask=mask[packed.source],
        decoder_input_ids=packed.tokens,
        use_cache=False,
    ).logits
    return packed.nll(logits)


def by_prompt_and_trees(
    model: Any, prompts: Sequence[Sequence[int]], trees: Sequence[Tree], *, whole: bool = False
) -> list[Nll]:
    """Judge with a causal model.

    Keys and values of each prompt are computed once, except for its last token, which starts its tree.
    """
    packed = _PackedTrees(trees, model.device)
    heads = [prompt[:-1] for prompt in prompts]
    width = max(map(len, heads))
    ids, prompt_mask = (torch.zeros(len(heads), width, dtype=torch.long, device=model.device) for _ in range(2))
    for row, head in enumerate(heads):
        ids[row, width - len(head) :] = torch.tensor(head, dtype=torch.long)
        prompt_mask[row, width - len(head) :] = 1
    cache = None
    if width:
        positions = (prompt_mask.cumsum(-1) - 1).clamp(min=0)
        # Logits of prompts are not needed; one token is the minimum.
        cache = model(
            input_ids=ids, attention_mask=prompt_mask, position_ids=positions, use_cache=True, logits_to_keep=1
        ).past_key_values
    mask = torch.cat(
        [
            _additive_mask(prompt_mask.bool(), model.dtype)[:, None, None, :].expand(-1, 1, packed.width, -1),
            packed.mask(model.dtype),
        ],
        -1,
    )
    return packed.nll(
        model,
        whole=whole,
        input_ids=packed.tokens,
        attention_mask=mask,
        position_ids=packed.depths + prompt_mask.sum(-1, keepdim=True),
        past_key_values=cache,
        use_cache=cache is not None,
    )


def by_prompt_rows(model: Any, prompts: Sequence[Sequence[int]], trees: Sequence[Tree]) -> list[Nll]:
    """Like `by_prompt_and_trees`, with one row per prompt and text, for models with windowed attention or a running
    state.
    """
    packed = _Rows(trees, model.device, [prompt[:-1] for prompt in prompts])
    # Padding on the right does not affect earlier tokens. Labels exclude the prompt.
    return packed.nll(model(input_ids=packed.tokens, attention_mask=packed.read, use_cache=False).logits)


class _PackedTrees:
    """Trees padded to one width: ``tokens`` and ``depths`` (n, T), and ``rows``, the real nodes among n * T."""

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
        """Return the additive attention mask (n, 1, T, T): each node attends to itself and its ancestors."""
        visible = np.broadcast_to(np.eye(self.width, dtype=bool), (len(self.trees), self.width, self.width)).copy()
        for row, tree in enumerate(self.trees):
            visible[row, : len(tree), : len(tree)] = tree.visibility()
        return _additive_mask(torch.from_numpy(visible).to(self.device), dtype)[:, None]

    def nll(self, model: Any, *, whole: bool, **inputs: Any) -> list[Nll]:
        """Compute the likelihoods in one pass with the arguments ``inputs``. Only real nodes get logits, in order."""
        firsts = np.cumsum([0, *(len(tree) for tree in self.trees)])
        nodes = [
            int(first) + node
            for first, tree in zip(firsts, self.trees, strict=False)
            for path in tree.paths
            for node in path
        ]
        return _regroup(nll(model, self.rows, nodes, _labels(self.trees), whole=whole, **inputs), self.trees)


class _Rows:
    """One row per text, padded on the right: ``tokens`` and ``read`` (rows, T), and the ``source`` of each row."""

    def __init__(
        self, trees: Sequence[Tree], device: torch.device, before: Sequence[Sequence[int]] | None = None
    ) -> None:
        self.trees = trees
        self.heads = before or [()] * len(trees)
        rows = [
            [*head, tree.tokens[0], *text[:-1]]
            for head, tree in zip(self.heads, trees, strict=True)
            for text in tree.texts
        ]
        self.width = max(map(len, rows))
        self.source = torch.tensor([i for i, tree in enumerate(trees) for _ in tree.texts], device=device)
        self.tokens = torch.tensor([row + [0] * (self.width - len(row)) for row in rows], device=device)
        self.read = torch.tensor([[1] * len(row) + [0] * (self.width - len(row)) for row in rows], device=device)

    def nll(self, logits: Tensor) -> list[Nll]:
        nodes: list[int] = []
        row = 0
        for head, tree in zip(self.heads, self.trees, strict=True):
            for text in tree.texts:
                nodes += range(row * self.width + len(head), row * self.width + len(head) + len(text))
                row += 1
        return _regroup(nll_of_logits(logits.flatten(0, 1), nodes, _labels(self.trees)), self.trees)


def _labels(trees: Sequence[Tree]) -> list[int]:
    return [token for tree in trees for text in tree.texts for token in text]


def _regroup(flat: Sequence[float], trees: Sequence[Tree]) -> list[Nll]:
    values = iter(flat)
    return [[[next(values) for _ in text] for text in tree.texts] for tree in trees]


def _additive_mask(visible: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill(~visible, torch.finfo(dtype).min)


@contextmanager
def _positions(decoder: Any, depths: Tensor) -> Iterator[None]:
    """Use the depth of a node as its decoder position. Raise `LookupError` for an unknown kind of positions."""
    if (table := getattr(decoder, "embed_positions", None)) is not None:  # BART, PEGASUS, LED, BigBird-PEGASUS
        embedded = torch.nn.functional.embedding(depths + getattr(table, "offset", 0), table.weight)
        module, name, replaced = table, "forward", lambda *args, **kwargs: embedded
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
    """Return the T5 position bias for differences of depth: (n, heads, T, T)."""
    buckets = attention._relative_position_bucket(
        depths[:, None, :] - depths[:, :, None],
        bidirectional=False,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
    bias: Tensor = attention.relative_attention_bias(buckets).permute(0, 3, 1, 2)
    return bias
