"""Encoder-decoders that encode each document separately. The decoder attends to all of them as one long text."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...backends import weights
from ...backends.assembly import AS_MS2
from ...backends.protocol import BackendError, Config, Facts, Source
from ..checkpoints import loading
from ..encoders.encoding import pad_states
from ..inputs.reading import Read
from . import seq2seq


def facts(config: Config) -> dict[str, Any]:
    """Return `seq2seq.facts`. The MS^2 checkpoints were trained with a decoder that starts with BOS."""
    if config["assembly"]["masking"] == AS_MS2:
        config = {**config, "decoding": {**config["decoding"], "decoder_start": "bos"}}
    model_facts = seq2seq.facts(config)
    if config["assembly"]["masking"] == AS_MS2 and model_facts["family"] != "bart":
        raise BackendError(
            f"MS^2's checkpoints are BART; the family of this model is {model_facts['family']}: use masked."
        )
    return model_facts


class MultiEncode(seq2seq.Seq2Seq):
    """A loaded version of the backend `multi_encode`."""

    def read(self, source: Source) -> Read:
        return self.reader.apart(source)

    def length(self, read: Read) -> int:
        return read.tokens

    def encode(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
        """Return the concatenated states of each unit's rows, without padding."""
        if self.config["assembly"]["masking"] == AS_MS2:
            # The encoder gets no mask, so padding to the longest study of a review affects the states.
            return pad_states(
                [torch.cat(self.encoder.rows(read.rows, longest=max(map(len, read.rows)))) for read in batch]
            )
        rows = iter(self.encoder.rows([row for read in batch for row in read.rows]))
        return pad_states([torch.cat([next(rows) for _ in read.rows]) for read in batch])


def load(config: Config, recorded: Facts) -> MultiEncode:
    weights.unchanged(recorded, facts(config))
    return MultiEncode(config, recorded, loading.load(config, recorded, "seq2seq"))
