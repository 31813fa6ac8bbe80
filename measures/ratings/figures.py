"""Everything of one round at once, as plain data: what a worker stores and a page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from measures.comparison import METHOD as SWAPS
from measures.means import METHOD, WILSON_METHOD, Bounds
from measures.ratings import correlation, resampling
from measures.ratings.between import cochran, pair_figures, system_letters
from measures.ratings.correlation import Scores, correlations
from measures.ratings.exclusions import Exclusions, excluded
from measures.ratings.judgements import Criterion, Judgement, Preference
from measures.ratings.metrics import metric_cells, metric_figures, points
from measures.ratings.per_system import system_figures
from measures.ratings.preferences import preference_figures
from measures.ratings.raters import FAST, rater_figures, said_again
from measures.ratings.rows import Rows

Json = dict[str, Any]
Progress = Callable[[str], object]
RULE = (
    f"concord-ratings 4; means: {METHOD}; shares: {WILSON_METHOD}; beside: percentiles of {resampling.REPLICATES}"
    f" rounds of sources drawn anew (seed {resampling.SEED}); p {SWAPS}, Holm over the pairs of a criterion;"
    f" correlations: percentiles of {correlation.REPLICATES} rounds, sources and systems drawn; too fast: {FAST}"
)
"""How figures are taken. What was stored by another rule is reckoned anew."""


def figures(
    judgements: Iterable[Judgement],
    criteria: Sequence[Criterion],
    *,
    preferences: Iterable[Preference] = (),
    scores: Mapping[str, Scores] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    progress: Progress = lambda step: None,
    replicates: int = resampling.REPLICATES,
) -> Json:
    """All figures of a round, JSON throughout, the same whatever the order of the judgements. What was said of degraded
    texts is not handed over: it is a check of raters (`check_failed`), no figure of a system.

    ``criteria``: a row for each (`system_figures`, `pair_figures`, letters, Cochran's Q of shares, what was said
    again); ``raters`` (`rater_figures`); ``preferences`` (`preference_figures`); ``correlations`` of every metric of
    ``scores`` with every criterion that has figures; ``metrics``, their means of the texts that were rated, within
    ``bounds`` (`metric_figures`); ``points`` for pictures. ``progress`` is told each step before it is taken.
    Judgements by criteria that are not given are left out of all.
    """
    keys = {criterion.key for criterion in criteria}
    progress("reading")
    rows = Rows.of(each for each in judgements if each.criterion in keys)
    every = [rows.said(criterion) for criterion in criteria]
    progress("means")
    of_systems = system_figures(every, replicates)
    made = []
    for said, systems in zip(every, of_systems, strict=True):
        criterion = said.criterion
        progress(f"comparisons: {criterion.key}")
        counted = criterion.kind != "counts"
        pairs = pair_figures(said) if counted else []
        made.append({
            "criterion": criterion.key, "kind": criterion.kind, "better": criterion.better,
            "good": list(criterion.good), "values": list(criterion.values), "systems": systems,
            "bounds": list(criterion.bounds) if np.isfinite(criterion.bounds).all() else None, "pairs": pairs,
            "letters": system_letters(said, systems, pairs),
            "cochran": cochran(said) if criterion.kind == "share" else None, "again": said_again(said),
        })  # fmt: skip
    progress("raters")
    raters = rater_figures(rows, every)
    progress("preferences")
    preferred = preference_figures(preferences, replicates=replicates)
    cells = {metric: metric_cells(rows, known) for metric, known in sorted((scores or {}).items())}
    correlated = []
    for metric, known in sorted((scores or {}).items()):
        progress(f"correlations: {metric}")
        correlated += [
            {"metric": metric, "criterion": said.criterion.key, **row}
            for said in every if said.criterion.kind != "counts"
            for row in correlations(said, known, replicates=min(replicates, correlation.REPLICATES))
        ]  # fmt: skip
    return {
        "rule": RULE, "judgements": len(rows.value), "sources": len(rows.sources), "items": len(rows.items),
        "systems": list(rows.systems), "criteria": made, "raters": raters, "preferences": preferred,
        "correlations": correlated, "metrics": metric_figures(every, cells, bounds), "points": points(every, cells),
    }  # fmt: skip


def with_and_without(
    judgements: Sequence[Judgement],
    criteria: Sequence[Criterion],
    rules: Exclusions,
    checks: Mapping[str, tuple[int, int]] | None = None,
    *,
    preferences: Sequence[Preference] = (),
    **others: Any,
) -> Json:
    """``all``: figures of everything; where there are rules, ``kept``: without what they leave out, and ``left_out``:
    what that is (`excluded`). ``others`` as `figures` takes them."""
    everything = figures(judgements, criteria, preferences=preferences, **others)
    found: Json = {"all": everything, "kept": None, "left_out": []}
    if rules.any:
        kept, chosen, found["left_out"] = excluded(judgements, preferences, rules, checks or {})
        found["kept"] = figures(kept, criteria, preferences=chosen, **others)
    return found
