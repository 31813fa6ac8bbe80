"""Words for a coefficient, given with their probability (Gwet 2014, ch. 6).

A point label ("substantial") hides how little 40 items say. The cumulative label is the highest level that the true
value reaches with a probability of more than .95, the coefficient taken as normal and truncated to -1..1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from scipy import special  # type: ignore[import-untyped]

from measures.agreement.errors import RatingsError

BenchmarkScale = Literal["landis-koch", "fleiss", "altman"]
BENCHMARK_SCALES: tuple[BenchmarkScale, ...] = get_args(BenchmarkScale)

_LEVELS: dict[BenchmarkScale, tuple[tuple[float, str], ...]] = {
    "landis-koch": (
        (0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (0.0, "slight"),
        (-1.0, "poor"),
    ),
    "fleiss": ((0.75, "excellent"), (0.4, "intermediate to good"), (-1.0, "poor")),
    "altman": ((0.8, "very good"), (0.6, "good"), (0.4, "moderate"), (0.2, "fair"), (-1.0, "poor")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BenchmarkLevel:
    """A level from ``low`` to ``high``: its probability, and that of this level or a better one."""

    label: str
    low: float
    high: float
    probability: float
    cumulative: float


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``label`` is the cumulative label to show; ``point_label`` the level that the value alone falls in."""

    scale: BenchmarkScale
    label: str
    point_label: str
    levels: tuple[BenchmarkLevel, ...]


def benchmark(value: float, se: float, scale: BenchmarkScale = "landis-koch", certainty: float = 0.95) -> Benchmark:
    """The levels of ``scale`` for a coefficient; with se = 0 all probability lies on the level of the value."""
    if scale not in _LEVELS:
        raise RatingsError(f"unknown benchmark scale {scale!r}: choose one of {', '.join(BENCHMARK_SCALES)}")
    bounds = _LEVELS[scale]
    highs = (1.0, *(low for low, _ in bounds[:-1]))
    inside = _below(1.0, value, se) - _below(-1.0, value, se)
    levels: list[BenchmarkLevel] = []
    cumulative = 0.0
    for (low, label), high in zip(bounds, highs, strict=True):
        holds_point = low < value <= high or (value <= -1 and low == -1.0)
        mass = (_below(high, value, se) - _below(low, value, se)) / inside if se > 0 else float(holds_point)
        cumulative += mass
        levels.append(BenchmarkLevel(label, low, high, mass, min(cumulative, 1.0)))
    reached = next((lv.label for lv in levels if lv.cumulative > certainty), levels[-1].label)
    point = next((lv.label for lv in levels if value > lv.low), levels[-1].label)
    return Benchmark(scale, reached, point, tuple(levels))


def _below(x: float, value: float, se: float) -> float:
    return float(special.ndtr((x - value) / se)) if se > 0 else float(x >= value)
