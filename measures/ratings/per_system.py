"""What each system came to by a criterion: mean or share, with n, its own denominator, and intervals.

A text counts once however many rated it: its figure is the mean of its raters. The interval that is cited is that of
`measures.means`, over sources, for the raters who took part, and of a share Wilson's on the effective number of texts
(`measures.clustered`): the exact one holds more than it says of the few texts of a round. The bootstrap over sources
stands beside it, and of a share Wilson's of the texts as if they were independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from measures.agreement.gold import wilson_interval
from measures.clustered import FloatArray, wilson_over_clusters
from measures.means import Mean, clustered_mean, clustered_share
from measures.ratings.resampling import percentiles, resampled_means
from measures.ratings.rows import Said

Json = dict[str, Any]
NOT_RATED = "nobody rated it"
ALL_NA = "every rating is N/A"
NO_FIGURE = "its values have no order and none is called good: only counts"


def system_figures(every: Sequence[Said], replicates: int) -> list[list[Json]]:
    """For each criterion, a row for each system of the round: ``value`` (None exactly where ``undefined`` says why),
    ``n`` texts, ``sources``, ``judgements``, ``na``, ``sd``, ``ci`` (else ``no_interval``), ``bootstrap``; of a share
    ``count`` of the n texts (a part of one where its raters differ) and ``wilson``; ``counts`` of what was said."""
    boot = _bootstrapped(every, replicates)
    return [
        [_row(said, system, boot[k][:, system] if replicates else None) for system in range(len(said.rows.systems))]
        for k, said in enumerate(every)
    ]


def _row(said: Said, system: int, boot: FloatArray | None) -> Json:
    cells = said.cells[:, system]
    there = np.flatnonzero(~np.isnan(cells))
    values, clusters = cells[there].tolist(), said.rows.source_of[there].tolist()
    share = said.criterion.kind == "share"
    if share:
        mean = clustered_share(
            values, clusters, ratings=int(said.sums[1][:, system].sum()), interval=wilson_over_clusters
        )
    else:
        mean = clustered_mean(values, clusters, bounds=said.criterion.bounds)
    mine = said.first & (said.rows.system[said.at] == system)
    na = int((mine & said.missing).sum())
    row: Json = {
        "system": said.rows.systems[system], "value": mean.value, "n": mean.n, "sources": mean.clusters,
        "judgements": int(mine.sum()) - na, "na": na, "sd": mean.sd, "ci": list(mean.ci) if mean.ci else None,
        "no_interval": mean.no_interval, "bootstrap": None, "undefined": _why(said, mean, int(mine.sum()), na),
        "counts": said.values_of(system),
    }  # fmt: skip
    if mean.value is not None and boot is not None and mean.clusters > 1:
        found = percentiles(boot)
        row["bootstrap"] = list(found) if found else None
    if share:
        row["count"] = math.fsum(values)
        row["wilson"] = list(wilson_interval(min(row["count"], mean.n), mean.n)) if mean.n else None
    return row


def _why(said: Said, mean: Mean, judgements: int, na: int) -> str:
    if mean.value is not None:
        return ""
    if judgements == 0:
        return NOT_RATED
    return ALL_NA if na == judgements else NO_FIGURE


def _bootstrapped(every: Sequence[Said], replicates: int) -> list[FloatArray]:
    """For each criterion (replicates, systems): means of rounds whose sources were drawn; the same for all criteria."""
    if not every or not replicates:
        return []
    rows = every[0].rows
    shape = len(rows.sources), len(rows.systems)
    sums: list[FloatArray] = []
    counts: list[FloatArray] = []
    for said in every:
        cells = said.cells
        for into, values in ((sums, np.nan_to_num(cells)), (counts, (~np.isnan(cells)).astype(np.float64))):
            total = np.zeros(shape)
            np.add.at(total, rows.source_of, values)
            into.append(total)
    found = resampled_means(np.hstack(sums), np.hstack(counts), replicates)
    return np.split(found, len(every), axis=1)
