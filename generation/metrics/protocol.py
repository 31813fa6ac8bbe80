"""What a metric is to the rest of Concord. One module a metric stands behind this protocol; nothing here imports torch.

A metric is asked about batches of summaries, each with the material it was made from and what it should have said, and
says of each one or more *rows*: one against every reference that it compares with, or one that names no reference where
it looks at the summary, or at it and its inputs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from api.parameters import Parameter
from measures.means import UNBOUNDED, Bounds

from ..runs.sources import Material

Params = Mapping[str, Any]


class MetricError(Exception):
    """A metric cannot be had, for a reason that a lead can act on: no such folder, no baseline to rescale by."""


@dataclass(frozen=True)
class Judged:
    """One summary, by its id, with its text and its material."""

    summary: int
    text: str
    material: Material


@dataclass(frozen=True)
class Row:
    """What a metric says of one summary, against one reference (its unit's id) or none.

    A figure without a value says why in ``undefined``; raises `ValueError` where one does not, or is no finite number.
    """

    reference: int | None
    values: Mapping[str, float | None]
    undefined: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if (value is None) != (name in self.undefined) or (value is not None and not math.isfinite(value)):
                raise ValueError(f"{name}: a finite number, or none and the reason; this is {value!r}.")


@dataclass(frozen=True)
class Figure:
    """One number of a row. ``scale``: tables print it times this (ROUGE in per cent); ``against``: what it compares
    the summary with: references, inputs, or nothing. ``bounds``: what no summary can leave, before it is scaled.
    ``better``: "higher" or "lower", "" where neither is. ``headline``: it stands for its metric where there is room for
    few."""

    key: str
    label: str
    against: str = "reference"
    scale: float = 1.0
    decimals: int = 2
    bounds: Bounds = UNBOUNDED
    better: str = ""
    headline: bool = False


class Scorer(Protocol):
    """A metric that is loaded, with its parameters."""

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        """The rows of each summary, in the order of the batch."""

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """What exists for all summaries together only, each by name; called where the metric ``has_corpus``.

        Gets every summary once with the rows that were stored of it, as a stream.
        """


class Metric(Protocol):
    """A metric. Stateless; listed in `metrics/__init__.py`."""

    key: str
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    figures: tuple[Figure, ...]
    has_corpus: bool

    def needs_torch(self, params: Params) -> bool:
        """Whether only a worker with torch can do it."""

    def check(self, params: Params) -> None:
        """Refuse what can be seen to be wrong without loading anything. Raises `MetricError`."""

    def libraries(self, params: Params) -> dict[str, Any]:
        """What can change a figure beside the parameters: versions, hashes of weights; JSON. Raises `MetricError`."""

    def load(self, params: Params) -> Scorer:
        """Raises `MetricError`."""
