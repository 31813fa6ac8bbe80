"""Comparisons of systems on common units: pairwise, and Table 7 on the pairs that all probes have judged.

Only the runs of ``systems/runs.jsonl`` are used, so that a run under embargo changes no figure. p is adjusted over
these pairs, and the common pairs are those of these probes. On the Results page, probes under embargo also restrict
Table 7. All figures follow from ``systems/scores/`` and ``systems/likelihoods.csv``.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

from generation.results.tables.pairs import Family, probed_families, probed_pairs, scored_families, scored_pairs
from generation.results.tables.probed import Probed
from generation.results.tables.scored import Scores
from generation.results.tables.scored_run import ScoredRun
from generation.scoring.checking import COMPARED_METRICS, every_compared_figure
from generation.scoring.comparing import common_rows
from generation.scoring.computing import KINDS, results_of
from measures.comparison import PROBED, RULE
from measures.probe import BASES, OVERALL
from projects.models import Project

from .notes import Notes

PAIRS, PROBE_PAIRS, COMMON = "systems/pairs.jsonl", "systems/probe_pairs.jsonl", "systems/common.jsonl"
Json = dict[str, Any]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    scores = Scores(project, published=True)
    if any(any(scored_pairs(scores, metric)) for metric in COMPARED_METRICS):
        yield PAIRS, _pairs(scores)
    if any(probed_pairs(scores)):
        yield PROBE_PAIRS, _probe_pairs(scores)
        yield COMMON, _common(scores)


def _line(row: Json) -> bytes:
    return json.dumps(row | {"numpy": version("numpy")}, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _pairs(scores: Scores) -> Iterator[bytes]:
    """Yield the comparisons of systems. ``rows`` is null for a pair not compared under the current rule."""
    for metric in COMPARED_METRICS:
        figures = every_compared_figure(metric)
        rows = _rows((family for figure in figures for family in scored_families(scores, metric, figure)), "side")
        for one, other in scored_pairs(scores, metric):
            is_compared = scores.is_compared(metric, one.run, other.run)
            rows_of_pair = rows[one.run.pk, other.run.pk] if is_compared else None
            yield _line(
                {"metric": metric, "first": one.run.pk, "second": other.run.pk, "rule": RULE, "rows": rows_of_pair}
            )


def _probe_pairs(scores: Scores) -> Iterator[bytes]:
    """Yield the comparisons of probes.

    ``rows`` is also null if a probe of the level has new results since the comparison. The stored comparison does not
    match the likelihoods then, and p is adjusted over all probes.
    """
    of_each = ((figure, kind) for figure in PROBED for kind in (*KINDS, OVERALL))
    rows = _rows((family for each in of_each for family in probed_families(scores, *each)), "kind")
    for one, other in probed_pairs(scores):
        is_compared = scores.are_compared(one, other) and _are_whole(scores.alike(one.level))
        rows_of_pair = rows[one.run.pk, other.run.pk] if is_compared else None
        yield _line({"first": one.run.pk, "second": other.run.pk, "rule": RULE, "rows": rows_of_pair})


def _are_whole(alike: Sequence[Probed]) -> bool:
    return all(probed.is_whole for probed in alike)


def _rows(families: Iterable[Family[ScoredRun] | Family[Probed]], against: str) -> dict[tuple[int, int], list[Json]]:
    """Return one row per family for every pair of runs. ``against`` is the column name of the kind of reference."""
    rows: dict[tuple[int, int], list[Json]] = defaultdict(list)
    for family in families:
        for pair in family.pairs:
            row = {"figure": family.figure, against: family.against, "p_holm": pair.adjusted}
            rows[pair.first.run.pk, pair.second.run.pk].append(row | pair.comparison.as_json())
    return rows


def _common(scores: Scores) -> Iterator[bytes]:
    for level in dict.fromkeys(probed.level for probed in scores.probed):
        alike = scores.alike(level)
        if len(alike) > 1:
            rows = _common_rows(scores, alike) if _are_whole(alike) else {}
            of = [probed.run.pk for probed in alike]
            for run in of:
                yield _line({"run": run, "of": of, "rows": rows.get(run)})


def _common_rows(scores: Scores, alike: Sequence[Probed]) -> dict[int, list[Json]]:
    """Return the stored rows.

    Compute them if none are stored, or if a probe under embargo restricted the stored ones.
    """
    stored = scores.stored_common(alike[0].level) or common_rows([probed.run for probed in alike])
    return {
        probed.run.pk: [row.as_json() for basis in BASES for row in results_of(stored[str(probed.run.pk)], basis)]
        for probed in alike
    }
