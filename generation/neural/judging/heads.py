"""The output layer: most of the work of a small model, and most of the memory. Here only for the tokens that are asked
for, and a part of the vocabulary at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

#: Bytes of logits at a time. A CPU has normalised these while they are in its cache, and memory that is touched for the
#: first time costs as much as a third of the layer's work: all parts are written to the same.
BYTES = {"cpu": 8 << 20, "cuda": 1 << 30}
#: Rows of logits that a model made by itself are normalised so many at a time.
ROWS = 64


def nll(
    model: Any, rows: Tensor, nodes: Sequence[int], labels: Sequence[int], *, whole: bool = False, **given: Any
) -> list[float]:
    """The negative log-likelihood of each label at its node, in nats, by one pass through the model.

    ``rows`` of the n * T tokens of the pass have logits, and a node is one of these rows. The output layer's weights
    and biases are applied to what reaches it. Some models do more (a scale, a soft cap): with ``whole`` all logits are
    made by the model's own way, which takes the memory of all. `LookupError` where the layer is not a plain one.
    """
    with _caught(model, rows, 1 if not whole else None) as states:
        found = model(**given).logits
    if whole:
        return of_logits(found.flatten(0, -2), nodes, labels)
    head = model.get_output_embeddings()
    if type(head) is not torch.nn.Linear or head.weight.dtype != torch.float32:
        raise LookupError(f"an output layer of {type(head).__name__} in {head.weight.dtype}")
    biases = [bias.flatten() for bias in (head.bias, getattr(model, "final_logits_bias", None)) if bias is not None]
    # BART has biases, which are all 0.
    bias = sum(biases) if any(bias.any() for bias in biases) else None
    return _by_parts(states[0], head.weight, bias, *_longs(rows.device, nodes, labels))


def of_logits(logits: Tensor, nodes: Sequence[int], labels: Sequence[int]) -> list[float]:
    """The same from logits (rows, vocabulary)."""
    at, tokens = _longs(logits.device, nodes, labels)
    sums = torch.cat([torch.logsumexp(part.float(), -1) for part in logits.split(ROWS)])
    found: list[float] = (sums[at] - logits[at, tokens].float()).tolist()
    return found


def _by_parts(states: Tensor, weight: Tensor, bias: Tensor | None, at: Tensor, tokens: Tensor) -> list[float]:
    """The logits of all states for some tokens of the vocabulary, then for the next: of each part the log of the sum
    of exponentials remains, and what the labels need."""
    width = min(max(BYTES[states.device.type] // (4 * len(states)), 1), len(weight))
    room = states.new_empty(len(states) * width)
    lowest = torch.finfo(states.dtype).min
    sums, chosen = [], states.new_empty(len(at))
    for begin in range(0, len(weight), width):
        end = min(begin + width, len(weight))
        logits = room[: len(states) * (end - begin)].view(len(states), end - begin)
        torch.mm(states, weight[begin:end].T, out=logits)
        if bias is not None:
            logits += bias[begin:end]
        here = ((tokens >= begin) & (tokens < end)).nonzero()[:, 0]
        chosen[here] = logits[at[here], tokens[here] - begin]
        # A part may have nothing but tokens that are never written.
        top = logits.amax(-1, keepdim=True).clamp_(min=lowest)
        sums.append(logits.sub_(top).exp_().sum(-1).log_() + top[:, 0])
    found: list[float] = (torch.stack(sums).logsumexp(0)[at] - chosen).tolist()
    return found


def _longs(device: torch.device, *values: Sequence[int]) -> list[Tensor]:
    return [torch.tensor(each, dtype=torch.long, device=device) for each in values]


@contextmanager
def _caught(model: Any, rows: Tensor, most: int | None) -> Iterator[list[Tensor]]:
    """What reaches the output layer in these rows, while it sees only so many of them."""
    caught: list[Tensor] = []

    def hook(_: Any, given: tuple[Tensor]) -> tuple[Tensor]:
        caught.append(given[0].flatten(0, -2)[rows])
        return (caught[0][None, :most],)

    narrow: Callable[[Any, tuple[Tensor]], tuple[Tensor]] = hook
    handle = model.get_output_embeddings().register_forward_pre_hook(narrow)
    try:
        yield caught
    finally:
        handle.remove()
