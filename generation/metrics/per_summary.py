"""What metrics without torch share: they are ready at once and refuse nothing."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from api.parameters import Parameter

from .protocol import Figure, Judged, MetricError, Params, Row


class CpuMetric:
    """A metric that any worker can compute."""

    parameters: tuple[Parameter, ...] = ()
    figures: tuple[Figure, ...] = ()
    has_corpus = False

    def needs_torch(self, params: Params) -> bool:
        return False

    def check(self, params: Params) -> None:
        """Nothing can be wrong beyond what the parameters declare."""


class PerSummaryScorer(ABC):
    """A scorer that looks at one summary at a time: override `rows`."""

    @abstractmethod
    def rows(self, judged: Judged) -> list[Row]:
        """What is stored of one summary: a row a reference, or one where it compares with none."""

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        return [self.rows(judged) for judged in batch]

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        raise MetricError("This metric has no figure of the whole corpus.")
