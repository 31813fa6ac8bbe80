"""All results of one round as plain data, for storage and display."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from measures import former
from measures.clustered import METHOD, Bounds
from measures.comparison import METHOD as SWAPS
from measures.means import FORMER_METHOD, FORMER_WILSON_METHOD
from measures.ratings import correlation, resampling
from measures.ratings.best_worst import best_worst_figures
from measures.ratings.between import cochran, pair_figures, system_letters
from measures.ratings.correlation import Scores, correlations
from measures.ratings.judgements import BestWorst, Criterion, Judgement, Preference
from measures.ratings.per_system import system_figures
from measures.ratings.preferences import preference_figures
from measures.ratings.raters import FAST, chooser_figures, rater_figures, said_again
from measures.ratings.rows import Rows
from measures.ratings.standardised import standardised_figures

from .correlation import metric_cells, metric_figures, points
from .raters import Exclusions, excluded

Json = dict[str, Any]
Progress = Callable[[str], object]
_METHODS = f"intervals: {METHOD}; p {SWAPS}, Holm over the pairs of a criterion; too fast: {FAST}"
RULE = f"concord-ratings 7; {_METHODS}"
"""The rule by which results are computed. Results stored by another rule are outdated."""
RULE_6 = f"concord-ratings 6; {_METHODS}"
"""The rule before, which has the same figures except `ADDED`."""
ADDED = ("best_worst", "standardised")
FORMER_RULE = (
    f"concord-ratings 4; means: {FORMER_METHOD}; shares: {FORMER_WILSON_METHOD}; beside: percentiles of"
    f" {resampling.REPLICATES} rounds of sources drawn anew (seed {resampling.SEED}); p {SWAPS}, Holm over the"
    f" pairs of a criterion; correlations: percentiles of {correlation.REPLICATES} rounds, sources"
    f" and systems drawn; too fast: {FAST}"
)


def figures(
    judgements: Iterable[Judgement],
    criteria: Sequence[Criterion],
    *,
    preferences: Iterable[Preference] = (),
    best_worst: Iterable[BestWorst] = (),
    scores: Mapping[str, Scores] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    progress: Progress = lambda step: None,
    replicates: int = resampling.REPLICATES,
) -> Json:
    """Return all results of a round as JSON values. They do not depend on the order of the judgements.

    Exclude judgements of degraded texts: they check raters (`check_failed`), not systems. Judgements by other criteria
    than ``criteria`` are ignored. ``progress`` is called before each step.

    The result has one row per criterion (`system_figures`, `pair_figures`, letters, Cochran's Q of shares,
    consistency), ``raters`` (`rater_figures`), ``preferences`` (`preference_figures`), ``best_worst``
    (`best_worst_figures`) and ``standardised`` (`standardised_figures`). ``correlations`` relate every metric of
    ``scores`` to every criterion with figures. ``metrics`` are means over the rated texts, within ``bounds``
    (`metric_figures`). ``points`` are for plots.
    """
    keys = {criterion.key for criterion in criteria}
    progress("reading")
    used = [each for each in judgements if each.criterion in keys]
    rows = Rows.of(used)
    every = [rows.of_criterion(criterion) for criterion in criteria]
    progress("means")
    of_systems = system_figures(every, replicates)
    rows_made = []
    for ratings, systems in zip(every, of_systems, strict=True):
        criterion = ratings.criterion
        progress(f"comparisons: {criterion.key}")
        counted = criterion.kind != "counts"
        pairs = pair_figures(ratings) if counted else []
        rows_made.append(
            {
                "criterion": criterion.key,
                "kind": criterion.kind,
                "better": criterion.better,
                "good": list(criterion.good),
                "values": list(criterion.values),
                "systems": systems,
                "bounds": list(criterion.bounds) if np.isfinite(criterion.bounds).all() else None,
                "pairs": pairs,
                "letters": system_letters(ratings, systems, pairs),
                "cochran": cochran(ratings) if criterion.kind == "share" else None,
                "again": said_again(ratings),
            }
        )
    progress("raters")
    chosen = list(preferences)
    # The former rule did not list raters of pairs.
    raters = rater_figures(rows, every) + ([] if former.is_on() else chooser_figures(chosen))
    progress("preferences")
    preferred = preference_figures(chosen, replicates=replicates)
    strengths = best_worst_figures(best_worst)
    standardised = [] if former.is_on() else standardised_figures(used, criteria)
    cells = {metric: metric_cells(rows, known) for metric, known in sorted((scores or {}).items())}
    correlated = []
    for metric, known in sorted((scores or {}).items()):
        progress(f"correlations: {metric}")
        correlated += [
            {"metric": metric, "criterion": ratings.criterion.key, **row}
            for ratings in every
            if ratings.criterion.kind != "counts"
            for row in correlations(ratings, known, replicates=min(replicates, correlation.REPLICATES))
        ]
    return {
        "rule": FORMER_RULE if former.is_on() else RULE,
        "judgements": len(rows.value),
        "sources": len(rows.sources),
        "items": len(rows.items),
        "systems": list(rows.systems),
        "criteria": rows_made,
        "raters": raters,
        "preferences": preferred,
        "best_worst": strengths,
        "standardised": standardised,
        "correlations": correlated,
        "metrics": metric_figures(every, cells, bounds),
        "points": points(every, cells),
    }


def with_and_without(
    judgements: Sequence[Judgement],
    criteria: Sequence[Criterion],
    rules: Exclusions,
    checks: Mapping[str, tuple[int, int]] | None = None,
    *,
    preferences: Sequence[Preference] = (),
    best_worst: Sequence[BestWorst] = (),
    **others: Any,
) -> Json:
    """Return the results of all judgements as ``all``, and after exclusions as ``kept``.

    ``left_out`` states what is excluded (`excluded`). ``kept`` is None without exclusion rules. ``others`` are
    arguments of `figures`.
    """
    everything = figures(judgements, criteria, preferences=preferences, best_worst=best_worst, **others)
    result: Json = {"all": everything, "kept": None, "left_out": []}
    if rules.any:
        kept_judgements, chosen, result["left_out"] = excluded(judgements, preferences, rules, checks or {})
        pages = {(each.rater, each.source, each.item, each.repeat) for each in kept_judgements}
        tuples = [each for each in best_worst if (each.rater, each.source, each.item, each.repeat) in pages]
        result["kept"] = figures(kept_judgements, criteria, preferences=chosen, best_worst=tuples, **others)
    return result
