"""The raters themselves: how severe, how fast, and whether they say the same again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, TypeVar

import numpy as np

from measures.agreement.pairs import cohen_kappa
from measures.agreement.weights import weight_matrix
from measures.means import clustered_mean
from measures.ratings.rows import Rows, Said

Json = dict[str, Any]
P = TypeVar("P", bound=Hashable)
LEAST_MS = 300
"""Nobody reads and answers in less active time a rating."""
OF_MEDIAN = 0.2
"""A page that took less than so much of the round's median time a rating is too fast,"""
ENOUGH_PAGES = 10
"""where there are so many pages to take a median of."""
FAST = (
    f"less active time than {LEAST_MS} ms a rating, or than {OF_MEDIAN:g} of the median time a rating of all pages of"
    f" the round (of {ENOUGH_PAGES} pages or more)"
)
NOTHING_SHARED = "no text that others rated too"
NO_REPEATS = "no page was given again"
NO_TIMES = "no times"
#: (rater, source, item, repeat)
Page = tuple[str, Hashable, Hashable, int]


def pages(rows: Rows) -> dict[Page, tuple[int, int, int]]:
    """page -> (active ms, 0 where not measured; ratings that were asked for; texts)."""
    at = rows.asked
    base = int(rows.repeat.max(initial=0)) + 1
    key = ((rows.rater * len(rows.items) + rows.item) * base + rows.repeat)[at]
    keys, first, place = np.unique(key, return_index=True, return_inverse=True)
    ms = np.zeros(len(keys), dtype=np.intp)
    np.maximum.at(ms, place, rows.ms[at])
    ratings = np.bincount(place, minlength=len(keys))
    texts = np.bincount(np.unique(place * len(rows.systems) + rows.system[at]) // max(len(rows.systems), 1))
    found: dict[Page, tuple[int, int, int]] = {}
    for i, k in enumerate(at[first].tolist()):
        source, item = rows.items[rows.item[k]]
        found[rows.raters[rows.rater[k]], source, item, int(rows.repeat[k])] = (
            int(ms[i]), int(ratings[i]), int(texts[i]),
        )  # fmt: skip
    return found


def fast_pages(rows: Rows) -> set[Page]:
    """Pages implausibly fast by the rule `FAST`: they are flagged, and left out only by a declared rule."""
    return too_fast({page: ms / ratings for page, (ms, ratings, _) in pages(rows).items() if ms > 0})


def too_fast(timed: Mapping[P, float]) -> set[P]:
    """Of pages with their active ms a rating, those that the rule `FAST` flags."""
    bound = float(LEAST_MS)
    if len(timed) >= ENOUGH_PAGES:
        bound = max(bound, OF_MEDIAN * median(timed.values()))
    return {page for page, each in timed.items() if each < bound}


def rater_figures(rows: Rows, every: Sequence[Said]) -> list[Json]:
    """A row for each rater: ``judgements``, ``pages``, ``median_ms`` of a page, ``median_ms_of_text``, ``fast`` pages,
    and ``severity`` by criterion (own less the others' mean on the same texts, over sources, as `Mean.as_json`)."""
    fast, timed = fast_pages(rows), defaultdict(list)
    for (rater, *_), (ms, _, texts) in pages(rows).items():
        timed[rater].append((ms, ms / texts))
    quick: dict[str, int] = defaultdict(int)
    for rater, *_ in fast:
        quick[rater] += 1
    severity = {said.criterion.key: _severity(said) for said in every if said.criterion.kind != "counts"}
    made = []
    for r, rater in enumerate(rows.raters):
        known = [(page, text) for page, text in timed[rater] if page > 0]
        made.append({
            "rater": rater, "judgements": int((rows.rater[rows.asked] == r).sum()), "pages": len(timed[rater]),
            "median_ms": median(page for page, _ in known) if known else None,
            "median_ms_of_text": median(text for _, text in known) if known else None,
            "no_pace": "" if known else NO_TIMES, "fast": quick[rater],
            "severity": {key: rows_of[r] for key, rows_of in severity.items()},
        })  # fmt: skip
    return made


def _severity(said: Said) -> list[Json]:
    totals, counts = said.sums
    use = np.flatnonzero(said.first & ~np.isnan(said.number))
    cell, own, rater = said.cell[use], said.number[use], said.rows.rater[said.at[use]]
    others = counts.ravel()[cell] - 1
    deviation = own - (totals.ravel()[cell] - own) / np.where(others > 0, others, 1)
    source = said.rows.source_of[said.rows.item[said.at[use]]]
    made = []
    for r in range(len(said.rows.raters)):
        mine = (rater == r) & (others > 0)
        mean = clustered_mean(deviation[mine].tolist(), source[mine].tolist()).as_json()
        made.append(mean if mean["value"] is not None else {**mean, "undefined": NOTHING_SHARED})
    return made


def said_again(said: Said) -> Json:
    """What raters said of the pages they were given again: ``n`` pairs of values, ``same`` of them (N/A is a value),
    ``share``; Cohen's kappa over the declared values (quadratic weights of an ordered scale), and of numbers the mean
    absolute ``difference``; ``raters``: n and same of each."""
    rows = said.rows
    turns: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    again = set(said.cell[~said.first].tolist())
    for k, cell in zip(said.at.tolist(), said.cell.tolist(), strict=True):
        if cell in again:
            turns[int(rows.rater[k]), cell].append((int(rows.repeat[k]), k))
    pairs = [(a, b) for each in turns.values() for (_, a), (_, b) in pairwise(sorted(each))]
    found: Json = {"n": len(pairs), "same": 0, "share": None, "kappa": None, "difference": None, "raters": {},
                   "undefined": "" if pairs else NO_REPEATS, "no_kappa": ""}  # fmt: skip
    if not pairs:
        return found
    values = [(_name(rows.value[a]), _name(rows.value[b])) for a, b in pairs]
    found["same"] = sum(a == b for a, b in values)
    found["share"] = found["same"] / len(pairs)
    for (a, _), (one, other) in zip(pairs, values, strict=True):
        mine = found["raters"].setdefault(rows.raters[rows.rater[a]], {"n": 0, "same": 0})
        mine["n"] += 1
        mine["same"] += one == other
    found |= _kappa(said, values)
    if said.criterion.kind == "mean":
        both = [(float(a), float(b)) for a, b in values if a and b]
        found["difference"] = sum(abs(a - b) for a, b in both) / len(both) if both else None
    return found


def _kappa(said: Said, values: list[tuple[str, str]]) -> Json:
    scale = {_name(value): i for i, value in enumerate(said.criterion.values)}
    if len(scale) < 2 or any(value and value not in scale for pair in values for value in pair):
        return {"kappa": None, "no_kappa": "not a scale of declared values"}
    table = np.zeros((len(scale), len(scale)))
    for one, other in values:
        if one and other:
            table[scale[one], scale[other]] += 1
    weights = None
    if said.criterion.kind == "mean":
        weights = weight_matrix("quadratic", [float(value) for value in said.criterion.values])
    kappa = cohen_kappa(table, weights)
    return {"kappa": kappa.value, "no_kappa": kappa.undefined or ""}


def _name(value: float | str | None) -> str:
    """A value as text: "4" of 4.0 and of "4"; "" of N/A."""
    if value is None:
        return ""
    try:
        return f"{float(value):g}"
    except ValueError:
        return str(value)
