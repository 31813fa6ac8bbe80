"""MS^2's way to read many studies: each is encoded by itself, and the decoder attends to all of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from api.parameters import Parameter, Takes

from . import weights
from .assembly import AS_MS2, ASSEMBLY, DOCUMENTS, INPUT_TOKENS, MARKERS
from .decoding import DECODING
from .weighted import Weighted

_MASKING = Parameter(
    "masking", Takes.CHOICE, "Padding", "masked", choices=("masked", AS_MS2),
    help="MS^2's checkpoint was trained with an encoder that reads the padding to a review's longest study, and a "
    "decoder that starts with BOS. masked: padding is not read, so that a review's states depend on each study alone.",
)  # fmt: skip
#: MS^2 reads 25 studies at most.
_DOCUMENTS = replace(DOCUMENTS, default=25)
_TOKENS = replace(INPUT_TOKENS, label="Tokens read of each document at most")


class MultiEncodeBackend(Weighted):
    key = "multi_encode"
    name = "Encoder-decoder, each input by itself"
    description = (
        "MS^2's BART: every study is encoded by itself, the background before each; their states are joined and "
        "decoded once."
    )
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": weights.WEIGHTS,
        "assembly": (*(_DOCUMENTS if p is DOCUMENTS else p for p in ASSEMBLY), MARKERS, _TOKENS, _MASKING),
        "decoding": DECODING,
    }

    def neural(self) -> Any:
        from ..neural.summarisers import multi_encode

        return multi_encode
