"""Encoder-decoders that read each document by itself; the decoder attends to all of them as one long text."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...backends import weights
from ...backends.assembly import AS_MS2
from ...backends.protocol import BackendError, Config, Facts, Source
from ..checkpoints import loading
from ..encoders.encoding import together
from ..inputs.reading import Read
from . import seq2seq


def facts(config: Config) -> dict[str, Any]:
    """`seq2seq.facts`. MS^2's checkpoints were trained with a decoder that starts with BOS."""
    if config["assembly"]["masking"] == AS_MS2:
        config = {**config, "decoding": {**config["decoding"], "decoder_start": "bos"}}
    found = seq2seq.facts(config)
    if config["assembly"]["masking"] == AS_MS2 and found["family"] != "bart":
        raise BackendError(f"MS^2's checkpoints are BART, and this is of the family {found['family']}: take masked.")
    return found


class MultiEncode(seq2seq.Seq2Seq):
    """A loaded version of the backend `multi_encode`."""

    def read(self, source: Source) -> Read:
        return self.reader.apart(source)

    def length(self, read: Read) -> int:
        return read.tokens

    def encode(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
        """The states of each unit's rows one after the other, without their padding."""
        if self.config["assembly"]["masking"] == AS_MS2:
            # The encoder gets no mask, so the padding to a review's longest study is part of what its states say.
            return together([torch.cat(self.encoder.rows(read.rows, longest=max(map(len, read.rows))))
                             for read in batch])  # fmt: skip
        rows = iter(self.encoder.rows([row for read in batch for row in read.rows]))
        return together([torch.cat([next(rows) for _ in read.rows]) for read in batch])


def load(config: Config, recorded: Facts) -> MultiEncode:
    weights.unchanged(recorded, facts(config))
    return MultiEncode(config, recorded, loading.load(config, recorded, "seq2seq"))
