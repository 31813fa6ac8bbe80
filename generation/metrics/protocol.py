"""The interface of metrics, and the encoder folder and rescaling baseline of BERTScore."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from api.parameters import Parameter, Takes
from measures.clustered import Bounds
from measures.means import UNBOUNDED
from measures.references import MAXIMUM, ONE_BY_ONE

from ..backends import weights
from ..backends.protocol import BackendError
from ..sources import Material

Params = Mapping[str, Any]


class MetricError(Exception):
    """A metric cannot be computed, for a reason that a lead can fix, such as a missing folder or baseline."""


@dataclass(frozen=True)
class Judged:
    """One summary, with its id, text and material."""

    summary: int
    text: str
    material: Material


@dataclass(frozen=True)
class Row:
    """The figures of one summary, against one reference (the id of its unit) or none.

    ``undefined`` gives the reason for each missing value. Raise `ValueError` if a reason is missing, or if a value is
    not finite.
    """

    reference: int | None
    values: Mapping[str, float | None]
    undefined: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if (value is None) != (name in self.undefined) or (value is not None and not math.isfinite(value)):
                raise ValueError(f"{name}: expected a finite number, or None with a reason; got {value!r}.")


@dataclass(frozen=True)
class Figure:
    """One figure of a row.

    ``scale`` is a factor for display (ROUGE in per cent). ``against`` is what the summary is compared with: references,
    inputs or nothing. ``bounds`` is the range of possible values before scaling. ``better`` is "higher", "lower" or "".
    ``headline`` marks the main figures of a metric.
    """

    key: str
    label: str
    against: str = "reference"
    scale: float = 1.0
    decimals: int = 2
    bounds: Bounds = UNBOUNDED
    better: str = ""
    headline: bool = False


class Scorer(Protocol):
    """A loaded metric with its parameters."""

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        """Return the rows of each summary, in batch order."""

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """Return the corpus figures by name. Called if the metric ``has_corpus``.

        ``everything`` yields every summary once, with its stored rows.
        """


class Metric(Protocol):
    """A metric. Stateless; registered in `metrics/__init__.py`."""

    key: str
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    figures: tuple[Figure, ...]
    has_corpus: bool

    def needs_torch(self, params: Params) -> bool:
        """Return whether the metric requires a worker with torch."""

    def check(self, params: Params) -> None:
        """Raise `MetricError` for parameters that are invalid without loading anything."""

    def libraries(self, params: Params) -> dict[str, Any]:
        """Return what can change a figure besides the parameters, as JSON: versions and hashes of weights.

        Raise `MetricError` if it is not available.
        """

    def load(self, params: Params) -> Scorer:
        """Load the metric. Raise `MetricError` on failure."""


REFERENCES = Parameter(
    "references",
    Takes.CHOICE,
    "Written references",
    ONE_BY_ONE,
    choices=(ONE_BY_ONE, MAXIMUM),
    help="Levels answer and question: each reference by name, or the largest value of each figure over the references "
    "of a unit.",
)
LANGUAGE = "en"


def folder(params: Params) -> Path:
    """Return the folder of the weights. Raise `MetricError` if there is none."""
    try:
        return weights.find(params["model"], params["revision"]).path
    except BackendError as error:
        raise MetricError(str(error)) from None


def baseline(model: str) -> Path:
    """Return the baseline file for rescaling scores of this encoder. Raise `MetricError` if there is none."""
    spec = find_spec("bert_score")
    if spec is None or spec.origin is None:
        raise MetricError("bert-score is not installed on this worker: see requirements/gpu.txt.")
    root = Path(spec.origin).parent / "rescale_baseline" / LANGUAGE
    for name in (model, model.rsplit("/", 1)[-1]):
        path = (root / f"{name}.tsv").resolve()
        if path.is_relative_to(root.resolve()) and path.is_file():
            return path
    raise MetricError(
        f"bert-score has no baseline for the encoder {model!r}, so its scores cannot be rescaled: switch it off."
    )


class CpuMetric:
    """A metric that any worker can compute."""

    parameters: tuple[Parameter, ...] = ()
    figures: tuple[Figure, ...] = ()
    has_corpus = False

    def needs_torch(self, params: Params) -> bool:
        return False

    def check(self, params: Params) -> None:
        """Accept all values that the parameters allow."""


class PerSummaryScorer(ABC):
    """Base class of scorers that process one summary at a time. Subclasses override `rows`."""

    @abstractmethod
    def rows(self, judged: Judged) -> list[Row]:
        """Return the rows of one summary: one per reference, or one if it is not compared with references."""

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        return [self.rows(judged) for judged in batch]

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        raise MetricError("This metric has no corpus figures.")
