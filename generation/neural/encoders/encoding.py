"""Encoder states of many texts: encoded in batches of similar length, then combined for one decode."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..checkpoints.families import Family, reset_attention

#: Tokens per encoder batch, including padding. Larger batches gain nothing: any long text uses an encoder fully, and
#: small batches need less padding.
TOKENS = {"cpu": 512, "cuda": 65_536}

Row = Sequence[int]


class Encoder:
    """The encoder of one model. ``mark`` is a token with full attention, in families with global attention."""

    def __init__(self, model: Any, family: Family, mark: int | None) -> None:
        self.model, self.family, self.mark = model, family, mark
        self.device = model.device

    def rows(self, rows: Sequence[Row], *, heads: Sequence[int] = (), longest: int = 0) -> list[Tensor]:
        """Return the states (tokens, d) of each row of token ids, in the given order, without padding.

        ``heads`` is passed to `attended`. With ``longest``, rows are padded to it, and the encoder attends to the
        padding, as in the MS^2 checkpoints.
        """
        states_of: dict[int, Tensor] = {}
        for batch in self.batches(rows, longest=longest):
            states = self.states(
                [rows[n] for n in batch],
                heads=[heads[n] for n in batch] if heads else (),
                masked=not longest,
                longest=longest,
            )
            states_of |= {n: states[position, : len(rows[n])] for position, n in enumerate(batch)}
        return [states_of[n] for n in range(len(rows))]

    def batches(self, rows: Sequence[Row], *, longest: int = 0) -> Iterator[list[int]]:
        """Yield the indices of rows that are encoded together: of similar length, and of one bucket of the family."""
        max_tokens = TOKENS[self.device.type]
        buckets = [self.family.bucket(self.model.config, len(row)) for row in rows]
        batch: list[int] = []
        for n in sorted(range(len(rows)), key=lambda n: (buckets[n], -len(rows[n]), n)):
            width = longest or len(rows[batch[0] if batch else n])
            if batch and (buckets[batch[0]] != buckets[n] or (len(batch) + 1) * width > max_tokens):
                yield batch
                batch = []
            batch.append(n)
        yield batch

    def states(
        self, rows: Sequence[Row], *, heads: Sequence[int] = (), masked: bool = True, longest: int = 0
    ) -> Tensor:
        """Return the states (n, S, d) of one batch, padded to at least ``longest``."""
        longest = max(longest, *map(len, rows))
        pad = self.model.config.pad_token_id
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows], device=self.device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self.device)
        reset_attention(self.model, self.family.bucket(self.model.config, longest))
        masks: dict[str, Tensor] = {"attention_mask": mask if masked else torch.ones_like(mask)}
        if self.family.global_attention:
            masks["global_attention_mask"] = self.attended(ids, heads)
        states: Tensor = self.model.get_encoder()(input_ids=ids, **masks).last_hidden_state
        return states

    def attended(self, ids: Tensor, heads: Sequence[int] = ()) -> Tensor:
        """Return the full-attention mask: the first token (or the first ``heads[row]`` tokens) of each row, and each
        mark.
        """
        mask = torch.zeros_like(ids)
        mask[:, 0] = 1
        for row, head in enumerate(heads):
            mask[row, :head] = 1
        if self.mark is not None:
            mask[ids == self.mark] = 1
        return mask


def pad_states(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return states (n, S, d) and mask (n, S) of n texts with states (tokens, d)."""
    lengths = torch.tensor([len(text_states) for text_states in states], device=states[0].device)
    mask = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    return pad_sequence(list(states), batch_first=True), mask.long()
