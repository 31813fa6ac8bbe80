"""Pad examples to batches. An example has token ids, labels and, for some families, full attention."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

#: The label of a position without a label. Losses ignore it.
IGNORED = -100


class Padding:
    """Pads the inputs of a tokenizer, and labels that are one number, or one per token.

    ``multiple``: lengths of inputs are padded to a multiple of it. ``attends``: examples have ``global``, the positions
    with full attention.
    """

    def __init__(self, pad: int, *, multiple: int = 1, attends: bool = False) -> None:
        self.pad, self.multiple, self.attends = pad, multiple, attends

    def __call__(self, examples: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        rows = [example["input_ids"] for example in examples]
        longest = -(-max(map(len, rows)) // self.multiple) * self.multiple
        batch = {
            "input_ids": _padded(rows, self.pad, longest),
            "attention_mask": _padded([[1] * len(row) for row in rows], 0, longest),
        }
        if self.attends:
            batch["global_attention_mask"] = torch.zeros_like(batch["attention_mask"])
            for row, example in enumerate(examples):
                batch["global_attention_mask"][row, example["global"]] = 1
        labels = [example["labels"] for example in examples]
        if isinstance(labels[0], int):
            batch["labels"] = torch.tensor(labels)
        else:
            batch["labels"] = _padded(labels, IGNORED, max(map(len, labels)))
        return batch


def _padded(rows: Sequence[Sequence[int]], fill: int, length: int) -> Tensor:
    return torch.tensor([[*row, *[fill] * (length - len(row))] for row in rows])
