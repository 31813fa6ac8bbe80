"""Systems beside one another on what they have in common: two by two, and Table 7 on the pairs that all have judged.

Of the runs of ``systems/runs.jsonl`` and no others, so that a run that is sealed from anybody changes no figure here:
p is adjusted over these pairs, and common is what these probes have. (On the Results page a sealed probe narrows
Table 7 on common pairs, too.) All follows from ``systems/scores/`` and ``systems/likelihoods.csv``.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

from generation.scoring.comparing import common_rows
from generation.scoring.printed import COMPARED
from generation.scoring.reckoning import KINDS, results_of
from generation.tables.families import Family, probed_families, probed_pairs, scored_families, scored_pairs
from generation.tables.probed import Probed
from generation.tables.scored import RunAtHand, Scores
from measures.comparison import RULE
from measures.probe import BASES, OVERALL
from measures.two_systems import PROBED
from projects.models import Project

from .notes import Notes

PAIRS, PROBE_PAIRS, COMMON = "systems/pairs.jsonl", "systems/probe_pairs.jsonl", "systems/common.jsonl"
Json = dict[str, Any]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    scores = Scores(project, published=True)
    if any(any(scored_pairs(scores, metric)) for metric in COMPARED):
        yield PAIRS, _pairs(scores)
    if any(probed_pairs(scores)):
        yield PROBE_PAIRS, _probe_pairs(scores)
        yield COMMON, _common(scores)


def _line(row: Json) -> bytes:
    return json.dumps(row | {"numpy": version("numpy")}, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _pairs(scores: Scores) -> Iterator[bytes]:
    """``rows`` is null where two were not compared by the rule of today."""
    for metric, figures in COMPARED.items():
        rows = _rows((family for figure in figures for family in scored_families(scores, metric, figure)), "side")
        for one, other in scored_pairs(scores, metric):
            there = scores.is_compared(metric, one.run, other.run)
            found = rows[one.run.pk, other.run.pk] if there else None
            yield _line({"metric": metric, "first": one.run.pk, "second": other.run.pk, "rule": RULE, "rows": found})


def _probe_pairs(scores: Scores) -> Iterator[bytes]:
    """``rows`` is null also where a probe of the level did more since: what is stored is not of these likelihoods, and
    p is adjusted over all of them."""
    of_each = ((figure, kind) for figure in PROBED for kind in (*KINDS, OVERALL))
    rows = _rows((family for each in of_each for family in probed_families(scores, *each)), "kind")
    for one, other in probed_pairs(scores):
        there = scores.are_compared(one, other) and _are_whole(scores.alike(one.level))
        found = rows[one.run.pk, other.run.pk] if there else None
        yield _line({"first": one.run.pk, "second": other.run.pk, "rule": RULE, "rows": found})


def _are_whole(alike: Sequence[Probed]) -> bool:
    return all(probed.is_whole for probed in alike)


def _rows(families: Iterable[Family[RunAtHand] | Family[Probed]], against: str) -> dict[tuple[int, int], list[Json]]:
    """Of every two runs what they come to, a row a family: ``against`` is what these call the kind of reference."""
    made: dict[tuple[int, int], list[Json]] = defaultdict(list)
    for family in families:
        for pair in family.pairs:
            row = {"figure": family.figure, against: family.against, "p_holm": pair.adjusted}
            made[pair.first.run.pk, pair.second.run.pk].append(row | pair.comparison.as_json())
    return made


def _common(scores: Scores) -> Iterator[bytes]:
    for level in dict.fromkeys(probed.level for probed in scores.probed):
        alike = scores.alike(level)
        if len(alike) > 1:
            rows = _common_rows(scores, alike) if _are_whole(alike) else {}
            of = [probed.run.pk for probed in alike]
            for run in of:
                yield _line({"run": run, "of": of, "rows": rows.get(run)})


def _common_rows(scores: Scores, alike: Sequence[Probed]) -> dict[int, list[Json]]:
    """As they are stored; taken here where what is stored is narrowed by a sealed probe, or is not there."""
    stored = scores.stored_common(alike[0].level) or common_rows([probed.run for probed in alike])
    return {
        probed.run.pk: [row.as_json() for basis in BASES for row in results_of(stored[str(probed.run.pk)], basis)]
        for probed in alike
    }
