"""Compute the parts and the report of a split."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from api.problems import Refused
from measures.splits.allotting import MOST_PARTS, Part, SplitRefused, allot, count_strata, table_of
from measures.splits.leaking import leakage, random_leakage
from measures.splits.units import Ints, bridges
from projects.jobs.batches import Progress
from projects.models import Project

from .parameters import PART, SplitParameters
from .reading import Corpus, choose_strata, read

#: Number of units, titles and sizes that the report names of the largest component.
NAMED = 50
SIZES = 5
#: Number of random splits that the split is compared with.
REPEATS = 200


@dataclass(frozen=True)
class Computed:
    """A split that is not stored yet. ``part_of``: the part of each unit, -1 for none."""

    corpus: Corpus
    parts: Sequence[Part]
    part_of: Sequence[int]
    components: Ints
    report: dict[str, Any]


def compute(
    project: Project, asked: SplitParameters, progress: Progress, *, assigned: Mapping[str, str] | None = None
) -> Computed:
    """Return a split. Raise `Refused` with ways out if the units cannot be divided as asked.

    ``assigned``: the part of each unit by its key, for a split from a file.
    """
    asked.check()
    corpus = read(project, asked, progress)
    progress(0, None, "finding components")
    found = corpus.components
    if asked.is_by_component:
        parts = asked.parts
        choose_strata(corpus, asked, found, len(parts))
        part_of = _allotted(corpus, asked, found)
    else:
        names = corpus.given if assigned is None else [assigned.get(key, "") for key in corpus.units.keys]
        parts, part_of = _as_named(names)
        choose_strata(corpus, asked, found, 1)
    progress(0, None, "measuring leakage")
    return Computed(corpus, parts, part_of, found, _report(corpus, asked, parts, part_of, found))


def _allotted(corpus: Corpus, asked: SplitParameters, found: Ints) -> list[int]:
    units = corpus.units
    _, first = np.unique(found, return_index=True)
    tables = [table_of(found, values)[1] for values in units.strata.values()]
    try:
        chosen = allot(
            np.bincount(found)[1:].tolist(),
            [units.keys[n] for n in first],
            asked.parts,
            asked.seed,
            np.hstack(tables) if tables else None,
        )
    except SplitRefused as refused:
        raise Refused(
            " ".join([refused.reason, *refused.ways, *_ways(corpus)]),
            errors=[{"field": "parts", "message": refused.reason}],
        ) from None
    part_of = [chosen[component - 1] for component in found]
    if asked.strata is not None and not asked.allow_empty:
        _refuse_empty(corpus, asked, part_of)
    return part_of


def _ways(corpus: Corpus) -> list[str]:
    ways = []
    if connecting := bridges(corpus.units, corpus.near_pairs)[:3]:
        named = ", ".join(f"{review} (then the largest has {left:,})" for review, left in connecting)
        ways.append(f"Or let a review that connects many leave (--mode drop --drop REVIEW): {named}.")
    if corpus.near:
        ways.append("Or search near-equal texts with a higher similarity, or not at all.")
    return [*ways, "Or import your own split from a file (--mode imported); its leakage is reported."]


def _refuse_empty(corpus: Corpus, asked: SplitParameters, part_of: Sequence[int]) -> None:
    for row in count_strata(corpus.units, part_of, len(asked.parts)):
        for part, count in zip(asked.parts, row.counts, strict=True):
            if not count:
                raise Refused.field(
                    "strata",
                    f"{part.name} would have no unit with {row.name} {row.value}, of {sum(row.counts)}. Leave the "
                    "stratum out, give the part a larger share, use another seed, or allow it (--allow-empty).",
                )


def _as_named(names: Sequence[str]) -> tuple[list[Part], list[int]]:
    """Return the named parts in the order of their first units, with their shares, and the part of each unit."""
    counts = Counter(name for name in names if name)
    if not counts:
        raise Refused.field("mode", "The imported data states no split. Use the mode strict, or import a file.")
    if len(counts) > MOST_PARTS or not all(PART.fullmatch(name) for name in counts):
        raise Refused.field(
            "mode", f"Its parts cannot be used: {', '.join(sorted(counts)[:5])}. Use letters, digits and _."
        )
    numbers = {name: n for n, name in enumerate(counts)}
    parts = [Part(name, count / counts.total()) for name, count in counts.items()]
    return parts, [numbers.get(name, -1) for name in names]


def _report(
    corpus: Corpus, asked: SplitParameters, parts: Sequence[Part], part_of: Sequence[int], found: Ints
) -> dict[str, Any]:
    units, names = corpus.units, [part.name for part in parts]
    in_parts = np.array(part_of)
    rows = count_strata(units, part_of, len(parts))
    shares = [part.share for part in parts]
    reviews = [len(set(units.review_of[in_parts == n].tolist())) for n in range(len(parts))]
    return {
        "units": int((in_parts >= 0).sum()),
        "reviews": len(units.reviews),
        "in_no_part": int((in_parts < 0).sum()),
        "dropped": sorted(asked.drop),
        "parts": [
            {"part": name, "units": count, "reviews": n}
            for name, count, n in zip(names, rows[0].counts, reviews, strict=True)
        ],
        "components": _components(corpus, parts, in_parts, found),
        "strata": [
            {"name": row.name, "value": row.value, "counts": list(row.counts), "deviations": row.deviations(shares)}
            for row in rows
        ],
        "left_out_strata": corpus.left_out,
        "topics": corpus.topics if "topic" in units.strata else "",
        "near": None if corpus.near is None else {"threshold": asked.near, "pairs": len(corpus.near)},
        "leakage": leakage(units, part_of, names, corpus.near),
        "random": random_leakage(units, parts, asked.seed, REPEATS),
    }


def _components(corpus: Corpus, parts: Sequence[Part], part_of: Ints, found: Ints) -> dict[str, Any]:
    sizes = np.bincount(found)[1:]
    members = np.flatnonzero(found == 1)
    reviews = corpus.units.review_keys(members)
    unit, value = corpus.units.pmids.arrays
    total, size = len(found), int(sizes[0])
    # The parts of the units of each component: more than one if it is divided.
    order = np.lexsort((part_of, found))
    divided = {int(found[b]) for a, b in pairwise(order) if found[a] == found[b] and part_of[a] != part_of[b]}
    return {
        "count": len(sizes),
        "divided": len(divided),
        "sizes": [int(n) for n in sizes[:SIZES]],
        "largest": {
            "units": size,
            "of": total,
            "reviews": len(reviews),
            "pmids": len(set(value[np.isin(unit, members)].tolist())),
            "parts": [parts[n].name for n in sorted(set(part_of[members].tolist())) if n >= 0],
            "larger_than": [part.name for part in parts if size > np.ceil(part.share * total)],
            "keys": [corpus.units.keys[n] for n in members[:NAMED]],
            "titles": [{"review": review, "title": corpus.titles[review][:300]} for review in reviews[:NAMED]],
        },
    }
