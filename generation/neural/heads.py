"""The output layer: most of the work of a small model, and most of the memory. Here only for the tokens that are asked
for, and a few at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

#: Bytes of logits at a time. A CPU's allocator gives larger blocks back at once, and touching them anew costs as much
#: as a tenth of the pass.
BYTES = {"cpu": 24 << 20, "cuda": 1 << 30}


def logits(model: Any, rows: Tensor, *, whole: bool = False, **given: Any) -> Iterable[Tensor]:
    """Logits (some rows, vocabulary) of ``rows`` of n * T tokens, part by part, of one pass through the model.

    The model's own output layer and bias are applied to what reaches them. Some models do more (a scale, a soft cap):
    with ``whole`` all rows go through the model's own way, which takes the memory of all logits.
    """
    with _caught(model, rows, 1 if not whole else None) as states:
        found = model(**given).logits
    head = model.get_output_embeddings()
    step = max(BYTES[rows.device.type] // (4 * head.weight.shape[0]), 1)
    if whole:
        parts: Iterable[Tensor] = found.flatten(0, -2).split(step)
        return parts
    bias = getattr(model, "final_logits_bias", None)
    return (_with(head(part), bias) for part in states[0].split(step))


def nll(parts: Iterable[Tensor], nodes: Sequence[int], labels: Sequence[int], device: torch.device) -> list[float]:
    """Of each label at its node (a row of all parts together): the log of the sum of exponentials, less its logit."""
    at, tokens = (torch.tensor(values, dtype=torch.long, device=device) for values in (nodes, labels))
    found = torch.zeros(len(at), device=device)
    begin = 0
    for part in parts:
        chosen = ((at >= begin) & (at < begin + len(part))).nonzero()[:, 0]
        rows = at[chosen] - begin
        found[chosen] = torch.logsumexp(part.float(), -1)[rows] - part[rows, tokens[chosen]].float()
        begin += len(part)
    values: list[float] = found.tolist()
    return values


def _with(found: Tensor, bias: Tensor | None) -> Tensor:
    return found if bias is None else found.add_(bias)


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
