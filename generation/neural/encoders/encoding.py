"""Encoder states of many texts: encoded with texts of like length, then put together for one decode."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..checkpoints.families import Family, reset_attention

#: Tokens encoded at a time, padding included. More would gain nothing: an encoder is busy with any long text, and the
#: fewer share a batch, the less is padded.
TOKENS = {"cpu": 512, "cuda": 65_536}

Row = Sequence[int]


class Encoder:
    """The encoder of one model. ``mark``: a token that is attended to from everywhere, by families that do."""

    def __init__(self, model: Any, family: Family, mark: int | None) -> None:
        self.model, self.family, self.mark = model, family, mark
        self.device = model.device

    def rows(self, rows: Sequence[Row], *, heads: Sequence[int] = (), longest: int = 0) -> list[Tensor]:
        """States (tokens, d) of each row of token ids, in the order given, without padding.

        ``heads``: as `attended` takes them. ``longest``: all are padded to it, and the encoder reads the padding, as
        MS^2's checkpoints do.
        """
        found: dict[int, Tensor] = {}
        for batch in self.batches(rows, longest=longest):
            states = self.states(
                [rows[n] for n in batch], heads=[heads[n] for n in batch] if heads else (), masked=not longest,
                longest=longest,
            )  # fmt: skip
            found |= {n: states[place, : len(rows[n])] for place, n in enumerate(batch)}
        return [found[n] for n in range(len(rows))]

    def batches(self, rows: Sequence[Row], *, longest: int = 0) -> Iterator[list[int]]:
        """Which rows are encoded together: of like length, and of one bucket of the family."""
        most = TOKENS[self.device.type]
        buckets = [self.family.bucket(self.model.config, len(row)) for row in rows]
        batch: list[int] = []
        for n in sorted(range(len(rows)), key=lambda n: (buckets[n], -len(rows[n]), n)):
            width = longest or len(rows[batch[0] if batch else n])
            if batch and (buckets[batch[0]] != buckets[n] or (len(batch) + 1) * width > most):
                yield batch
                batch = []
            batch.append(n)
        yield batch

    def states(
        self, rows: Sequence[Row], *, heads: Sequence[int] = (), masked: bool = True, longest: int = 0
    ) -> Tensor:
        """States (n, S, d) of one batch, padded to ``longest`` at least."""
        longest = max(longest, *map(len, rows))
        pad = self.model.config.pad_token_id
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows], device=self.device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self.device)
        reset_attention(self.model, self.family.bucket(self.model.config, longest))
        given: dict[str, Tensor] = {"attention_mask": mask if masked else torch.ones_like(mask)}
        if self.family.global_attention:
            given["global_attention_mask"] = self.attended(ids, heads)
        found: Tensor = self.model.get_encoder()(input_ids=ids, **given).last_hidden_state
        return found

    def attended(self, ids: Tensor, heads: Sequence[int] = ()) -> Tensor:
        """Full attention: for the first token (or so many as ``heads`` says of each row) and for each mark."""
        everywhere = torch.zeros_like(ids)
        everywhere[:, 0] = 1
        for row, head in enumerate(heads):
            everywhere[row, :head] = 1
        if self.mark is not None:
            everywhere[ids == self.mark] = 1
        return everywhere


def together(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """States (n, S, d) and mask (n, S) of n texts with states (tokens, d)."""
    lengths = torch.tensor([len(one) for one in states], device=states[0].device)
    mask = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    return pad_sequence(list(states), batch_first=True), mask.long()
