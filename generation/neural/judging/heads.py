"""The output layer, computed only for the requested tokens and for one part of the vocabulary at a time.

In a small model this layer accounts for most of the computation and memory.
"""

from collections.abc import Callable, Iterator, Sequence
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
    """For each text in order, the number of decoder tokens and the number of encoder states they attend to."""

    tokens: Sequence[int]
    states: Sequence[int]


def _segmented_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    segments: Segments,
    scaling: float | None = None,
    position_bias: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Compute attention within each segment.

    ``query`` is (1, heads, tokens, d). With a mask (1, 1, tokens, tokens), ``key`` and ``value`` belong to the tokens;
    without one, to the encoder states.
    """
    if position_bias is not None:
        raise LookupError("attention that adds a bias of positions")
    outputs, begin, first = [], 0, 0
    read = segments.states if attention_mask is None else segments.tokens
    for end, last in zip(accumulate(segments.tokens), accumulate(read), strict=True):
        mask = None if attention_mask is None else attention_mask[:, :, begin:end, first:last]
        rows = query[:, :, begin:end], key[:, :, first:last], value[:, :, first:last]
        outputs.append(scaled_dot_product_attention(*rows, attn_mask=mask, scale=scaling).transpose(1, 2))
        begin, first = end, last
    return torch.cat(outputs, 1), None


AttentionInterface.register(_NAME, _segmented_attention)


@contextmanager
def apart(model: Any) -> Iterator[None]:
    """Restrict the attention of the model to the `Segments` that a pass receives as ``segments``.

    Raise `LookupError` unless the configured attention is `sdpa`, which this implementation replaces.
    """
    configured = model.config._attn_implementation
    if configured != "sdpa":
        raise LookupError(f"attention of the kind {configured}")
    model.set_attn_implementation(_NAME)
    try:
        yield
    finally:
        model.set_attn_implementation(configured)


#: Bytes of logits per part. On a CPU, parts of this size are normalised while in the cache. First access to memory
#: costs up to a third of the computation of the layer, so all parts reuse one buffer.
BYTES = {"cpu": 8 << 20, "cuda": 1 << 30}
#: Number of rows of full logits that are normalised at a time.
ROWS = 64


def nll(
    model: Any, rows: Tensor, nodes: Sequence[int], labels: Sequence[int], *, whole: bool = False, **inputs: Any
) -> list[float]:
    """Return the negative log-likelihood of each label at its node, in nats, in one pass through the model.

    ``rows`` are the rows among the n * T tokens of the pass that get logits; a node is an index into ``rows``. The
    weights and biases of the output layer are applied to its inputs. Some models apply further steps (a scale, a soft
    cap). With ``whole`` the model computes all logits itself, at the memory cost of all logits. Raise `LookupError` if
    the layer is not a plain linear one.
    """
    with _capture_inputs(model, rows, 1 if not whole else None) as states:
        logits = model(**inputs).logits
    if whole:
        return nll_of_logits(logits.flatten(0, -2), nodes, labels)
    head = model.get_output_embeddings()
    if type(head) is not torch.nn.Linear or head.weight.dtype != torch.float32:
        raise LookupError(f"an output layer of {type(head).__name__} in {head.weight.dtype}")
    biases = [bias.flatten() for bias in (head.bias, getattr(model, "final_logits_bias", None)) if bias is not None]
    # BART has biases that are all 0.
    bias = sum(biases) if any(bias.any() for bias in biases) else None
    return _by_parts(states[0], head.weight, bias, *_as_tensors(rows.device, nodes, labels))


def nll_of_logits(logits: Tensor, nodes: Sequence[int], labels: Sequence[int]) -> list[float]:
    """Return the negative log-likelihood of each label at its node from logits (rows, vocabulary)."""
    node_ids, tokens = _as_tensors(logits.device, nodes, labels)
    sums = torch.cat([torch.logsumexp(part.float(), -1) for part in logits.split(ROWS)])
    nlls: list[float] = (sums[node_ids] - logits[node_ids, tokens].float()).tolist()
    return nlls


def _by_parts(states: Tensor, weight: Tensor, bias: Tensor | None, node_ids: Tensor, tokens: Tensor) -> list[float]:
    """Compute logits of all states for one part of the vocabulary at a time.

    Each part keeps only the log of the sum of exponentials and the logits of its labels.
    """
    width = min(max(BYTES[states.device.type] // (4 * len(states)), 1), len(weight))
    buffer = states.new_empty(len(states) * width)
    minimum = torch.finfo(states.dtype).min
    sums, chosen = [], states.new_empty(len(node_ids))
    for begin in range(0, len(weight), width):
        end = min(begin + width, len(weight))
        logits = buffer[: len(states) * (end - begin)].view(len(states), end - begin)
        torch.mm(states, weight[begin:end].T, out=logits)
        if bias is not None:
            logits += bias[begin:end]
        in_part = ((tokens >= begin) & (tokens < end)).nonzero()[:, 0]
        chosen[in_part] = logits[node_ids[in_part], tokens[in_part] - begin]
        # All tokens of a part may have a logit of minus infinity.
        top = logits.amax(-1, keepdim=True).clamp_(min=minimum)
        sums.append(logits.sub_(top).exp_().sum(-1).log_() + top[:, 0])
    nlls: list[float] = (torch.stack(sums).logsumexp(0)[node_ids] - chosen).tolist()
    return nlls


def _as_tensors(device: torch.device, *values: Sequence[int]) -> list[Tensor]:
    return [torch.tensor(value, dtype=torch.long, device=device) for value in values]


@contextmanager
def _capture_inputs(model: Any, rows: Tensor, max_rows: int | None) -> Iterator[list[Tensor]]:
    """Capture the inputs of the output layer in these rows, and pass at most ``max_rows`` of them to the layer."""
    caught: list[Tensor] = []

    def hook(_: Any, inputs: tuple[Tensor]) -> tuple[Tensor]:
        caught.append(inputs[0].flatten(0, -2)[rows])
        return (caught[0][None, :max_rows],)

    narrow: Callable[[Any, tuple[Tensor]], tuple[Tensor]] = hook
    handle = model.get_output_embeddings().register_forward_pre_hook(narrow)
    try:
        yield caught
    finally:
        handle.remove()
