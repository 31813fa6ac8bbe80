"""What automatic metrics gave the texts that people rated: means of systems on just those, and the points of a picture.

Means of whole runs stand in other tables. Beside ratings a metric has to be of the texts that were rated: else two
columns of one row would be of different summaries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from measures.clustered import FloatArray
from measures.means import UNBOUNDED, Bounds, clustered_mean
from measures.ratings.correlation import Scores
from measures.ratings.rows import Rows, Said

Json = dict[str, Any]
MOST_POINTS = 600
"""So many texts are drawn in one picture, of items evenly from first to last: more are a cloud that shows no more."""
NOT_SCORED = "not scored"


def metric_cells(rows: Rows, scores: Scores) -> FloatArray:
    """(items, systems): what a metric gave each text, nan where it gave nothing."""
    found = np.full((len(rows.items), len(rows.systems)), np.nan)
    for i, (source, item) in enumerate(rows.items):
        for j, system in enumerate(rows.systems):
            value = scores.get((source, item, system))
            if value is not None:
                found[i, j] = value
    return found


def metric_figures(
    every: Sequence[Said], cells: Mapping[str, FloatArray], bounds: Mapping[str, Bounds] | None = None
) -> list[Json]:
    """A row for each metric: of each system ``value``, ``n`` rated texts, ``sources``, ``ci`` over sources, else why
    there is none. ``bounds``: what a metric's mean cannot leave."""
    if not every:
        return []
    rows, rated = every[0].rows, _rated(every)
    limits = bounds or {}
    return [
        {
            "metric": metric,
            "systems": [
                _row(rows, j, np.where(rated[:, j], found[:, j], np.nan), limits.get(metric, UNBOUNDED))
                for j in range(len(rows.systems))
            ],
        }
        for metric, found in cells.items()
    ]


def points(every: Sequence[Said], cells: Mapping[str, FloatArray]) -> Json:
    """Texts as points: ``system`` (n,) as places in the systems, and by criterion and by metric a number each or None;
    of ``items`` of the ``of`` items, those that `MOST_POINTS` leaves."""
    if not every:
        return {"items": 0, "of": 0, "system": [], "criteria": {}, "metrics": {}}
    rated = _rated(every)
    there = np.flatnonzero(rated.any(axis=1))
    most = max(1, MOST_POINTS // max(len(every[0].rows.systems), 1))
    chosen = there[np.arange(most) * len(there) // most] if len(there) > most else there
    item, system = np.nonzero(rated[chosen])
    at = chosen[item], system
    return {
        "items": len(chosen), "of": len(there), "system": [int(j) for j in system],
        "criteria": {
            said.criterion.key: _numbers(said.cells[at]) for said in every if said.criterion.kind != "counts"
        },
        "metrics": {metric: _numbers(found[at]) for metric, found in cells.items()},
    }  # fmt: skip


def _rated(every: Sequence[Said]) -> Any:
    """(items, systems): whether anything that counts was said of a text."""
    found = np.zeros_like(every[0].cells, dtype=np.bool_)
    for said in every:
        found |= ~np.isnan(said.cells)
    return found


def _row(rows: Rows, system: int, values: FloatArray, bounds: Bounds) -> Json:
    there = np.flatnonzero(~np.isnan(values))
    mean = clustered_mean(values[there].tolist(), rows.source_of[there].tolist(), bounds=bounds)
    return {
        "system": rows.systems[system], "value": mean.value, "n": mean.n, "sources": mean.clusters,
        "ci": list(mean.ci) if mean.ci else None, "no_interval": mean.no_interval,
        "undefined": "" if mean.value is not None else NOT_SCORED,
    }  # fmt: skip


def _numbers(values: FloatArray) -> list[float | None]:
    """To six digits: more are not seen."""
    return [None if np.isnan(value) else float(f"{value:.6g}") for value in values.tolist()]
