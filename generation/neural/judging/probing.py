"""The probe of encoder-decoders: what `likelihood` needs to know of one."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from ...backends.assembly import Unreadable
from ...backends.protocol import Failure, Probed, ProbedUnit, Source
from ..batches import Limits, Memory
from ..checkpoints.families import Family
from ..inputs.reading import Read
from . import likelihood
from .likelihood import Judged, Unscorable
from .prefix_tree import Tree
from .teacher_forcing import Nll


class Encoding(Protocol):
    """What is needed of a loaded summariser: it reads a unit, and encodes several."""

    model: Any
    loaded: Any
    settings: Any
    family: Family
    device: torch.device
    memory: Memory
    limits: Limits
    weights: str
    longest: int | None

    def read(self, source: Source) -> Read: ...

    def encode(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]: ...

    def close(self) -> None: ...


class Probe:
    """Judges texts by a summariser whose weights are in float32: in fewer bits, small differences would be noise."""

    def __init__(self, summariser: Encoding) -> None:
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
