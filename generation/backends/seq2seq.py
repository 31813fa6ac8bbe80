"""Encoder-decoders that read all documents as one text: BART, BioBART, PEGASUS, BigBird-Pegasus, LED, PRIMERA, T5."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from api.parameters import Parameter

from . import weights
from .assembly import ASSEMBLY, BUDGET, FULL_ATTENTION, INPUT_TOKENS, MARKERS, SEPARATOR
from .decoding import DECODING
from .weighted import Weighted

_BUDGET = replace(
    BUDGET, default="auto", choices=("auto", "from the front", "equal shares", "fixed shares"),
    help="Equal shares: max/n tokens each; what short ones leave goes to the others. Fixed shares: max/n each and no "
    "more, as PRIMERA was trained. auto: fixed shares for PRIMERA, else from the front.",
)  # fmt: skip


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
        from ..neural.summarisers import seq2seq

        return seq2seq
