"""Backend for encoder-decoders that read all documents as one text.

Supported are BART, BioBART, PEGASUS, BigBird-Pegasus, LED, PRIMERA and T5.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from api.parameters import Parameter, Takes
from generation.backends import weights
from generation.backends.assembly import (
    AS_MS2,
    ASSEMBLY,
    BUDGET,
    DOCUMENTS,
    FULL_ATTENTION,
    INPUT_TOKENS,
    MARKERS,
    SEPARATOR,
)
from generation.backends.protocol import DECODING
from generation.backends.weights import Weighted

_MASKING = Parameter(
    "masking",
    Takes.CHOICE,
    "Padding",
    "masked",
    choices=("masked", AS_MS2),
    help="MS^2's checkpoint was trained with an encoder that reads the padding to a review's longest study. Its "
    "decoder starts with BOS. masked: padding is not read, so each study is encoded independently.",
)
#: MS^2 reads at most 25 studies.
_DOCUMENTS = replace(DOCUMENTS, default=25)
_TOKENS = replace(INPUT_TOKENS, label="Maximum tokens per document")


class MultiEncodeBackend(Weighted):
    key = "multi_encode"
    name = "Encoder-decoder, inputs encoded separately"
    description = (
        "MS^2's BART: each study is encoded separately, after the background; the states are concatenated and "
        "decoded once."
    )
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": weights.WEIGHTS,
        "assembly": (*(_DOCUMENTS if p is DOCUMENTS else p for p in ASSEMBLY), MARKERS, _TOKENS, _MASKING),
        "decoding": DECODING,
    }

    def neural(self) -> Any:
        from generation.neural.summarisers import multi_encode

        return multi_encode


_BUDGET = replace(
    BUDGET,
    default="auto",
    choices=("auto", "from the front", "equal shares", "fixed shares"),
    help="equal shares: max/n tokens each; unused tokens go to the other documents. fixed shares: at "
    "most max/n tokens each, as in PRIMERA's training. auto: fixed shares for PRIMERA, otherwise from the "
    "front.",
)


class Seq2SeqBackend(Weighted):
    key = "seq2seq"
    name = "Encoder-decoder"
    description = (
        "A fine-tuned summariser that reads all documents as one text: BART, BioBART, PEGASUS, BigBird-Pegasus, LED, "
        "PRIMERA or T5."
    )
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": weights.WEIGHTS,
        "assembly": (*ASSEMBLY, MARKERS, SEPARATOR, INPUT_TOKENS, _BUDGET, FULL_ATTENTION),
        "decoding": DECODING,
    }

    def neural(self) -> Any:
        from generation.neural.summarisers import seq2seq

        return seq2seq
