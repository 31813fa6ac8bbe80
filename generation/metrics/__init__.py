"""The metrics, registered by key."""

from .bertscore import BertScoreMetric
from .bleu import BleuMetric, ChrfMetric
from .copying import CopyingMetric
from .direction import DirectionMetric
from .length import LengthMetric
from .protocol import Metric
from .repetition import RepetitionMetric
from .rouge import RougeMetric
from .stated_direction import StatedDirectionMetric

_EVERY: tuple[Metric, ...] = (
    RougeMetric(),
    BleuMetric(),
    ChrfMetric(),
    BertScoreMetric(),
    CopyingMetric(),
    LengthMetric(),
    RepetitionMetric(),
    DirectionMetric(),
    StatedDirectionMetric(),
)
_METRICS: dict[str, Metric] = {metric.key: metric for metric in _EVERY}


def get(key: str) -> Metric:
    """Return the metric with this key. Raise KeyError if there is none."""
    return _METRICS[key]


def every() -> tuple[Metric, ...]:
    return _EVERY
