"""The probe of encoder-decoders: what `likelihood` needs to know of one."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from ..backends.assembly import Unreadable
from ..backends.protocol import Failure, Probed, ProbedUnit
from . import likelihood
from .forcing import Nll
from .likelihood import Judged, Unscorable
from .reading import Read
from .trees import Tree

if TYPE_CHECKING:
    from .seq2seq import Seq2Seq


class Probe:
    """Judges texts by a summariser whose weights are in float32: in fewer bits, small differences would be noise."""

    def __init__(self, summariser: "Seq2Seq") -> None:
        self.summariser = summariser
        self.decode = likelihood.decoding(summariser.model)

    def __call__(self, items: Sequence[Probed]) -> Iterator[list[ProbedUnit | Failure]]:
        own = self.summariser
        return likelihood.probe(
            items, ready=self.ready, judge=self.judge, device=own.device.type, memory=own.memory, limits=own.limits,
            weights=own.weights,
        )  # fmt: skip

    def ready(self, item: Probed) -> Judged[Read]:
        own, start = self.summariser, self.summariser.settings.decoder_start_token_id
        try:
            read = own.read(item.source)
        except Unreadable as why:
            raise Unscorable(str(why)) from why
        ids, special = likelihood.labels(
            own.loaded.tokenizer, item.texts, start=start, longest=own.longest, newline=own.family.newline
        )  # fmt: skip
        return Judged(item.source.unit, read, read.tokens, Tree(start, ids), special)

    def judge(self, batch: list[Judged[Read]]) -> list[Nll]:
        with torch.inference_mode():
            states, mask = self.summariser.encode([judged.source for judged in batch])
            return self.decode(self.summariser.model, states, mask, [judged.tree for judged in batch])
