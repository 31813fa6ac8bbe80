"""Known biases of judges: position, length, own family, and the calibration of their values.

Each figure is over texts or pairs that people rated too, and its interval leaves out one source at a time
(`measures.clustered`). Sources: Zheng et al. 2023, *Judging LLM-as-a-judge with MT-Bench and Chatbot Arena*, NeurIPS
(position, length, own family); Panickssery, Bowman and Feng 2024, *LLM evaluators recognize and favor their own
generations*, NeurIPS.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..clustered import (
    ENOUGH_ITEMS,
    FEW_REVIEWS,
    FEW_UNITS,
    FloatArray,
    degrees_of_freedom,
    estimate,
    jackknife_se,
    t_quantile,
    withheld,
)
from ..means import UNBOUNDED, Mean, clustered_mean, clustered_share
from .compared import Judged, JudgedChoice, choices_of, commonest

Json = dict[str, Any]
Key = tuple[Hashable, Hashable, str]
ONE_ORDER = "the judge read each page in one order only"
NO_FAMILY = "no compared system is of the judge's family"
ALL_FAMILY = "all compared systems are of the judge's family"
NO_LENGTHS = "all texts of a source are equally long, or the judge differs from people by a constant"
ONE_SAMPLE = "one answer per page"
MOST_BINS = 10
ENOUGH_SOURCES, LEAST_STRONG = 10, 20
"""Minimum number of sources for an interval of length bias; below `LEAST_STRONG`, only strong ones are found
(benchmarks/judges.py)."""


def position_of_pairs(judged: Iterable[JudgedChoice], criterion: str) -> Json:
    """Return ``flips``, the share of pairs whose choice changes with the order, and ``first``.

    ``first`` is the share of choices for the text that was read first, without ties. It is .5 without position bias.
    """
    rows = list(judged)
    changed, clusters = [], []
    for pair, by_order in choices_of(rows, criterion).items():
        if len(by_order) > 1:
            changed.append(float(len({commonest(each) for each in by_order.values()}) > 1))
            clusters.append(pair[0])  # type: ignore[index]
    both = {pair for pair, by_order in choices_of(rows, criterion).items() if len(by_order) > 1}
    first, of = [], []
    for one in rows:
        each = one.choice
        pair = (each.source, each.item, *sorted((each.left, each.right)))
        if each.criterion == criterion and each.choice in ("left", "right") and pair in both:
            first.append(float(each.choice == "left"))
            of.append(each.source)
    return {"flips": _share(changed, clusters, ONE_ORDER), "first": _share(first, of, ONE_ORDER)}


def position_of_texts(judged: Iterable[Judged], criterion: str) -> Json:
    """Return ``flips``, the share of texts whose first answers differ between the two orders of their page."""
    values: dict[Hashable, dict[int, Any]] = defaultdict(dict)
    for one in judged:
        each = one.rating
        if each.criterion == criterion and one.sample == 0:
            values[each.source, each.item, each.system][one.order] = each.value
    both = {key: by_order for key, by_order in values.items() if len(by_order) > 1}
    changed = [float(len({str(value) for value in by_order.values()}) > 1) for by_order in both.values()]
    sources = [key[0] for key in both]  # type: ignore[index]
    return {"flips": _share(changed, sources, ONE_ORDER), "first": None}


def length_figure(human: Mapping[Key, float], judge: Mapping[Key, float], lengths: Mapping[Key, int]) -> Json:
    """Return the correlation of (judge - people) with the number of words, within items.

    The interval is of Fisher's z, with the jackknife over sources.
    """
    keys = [key for key in sorted(human, key=str) if key in judge and key in lengths]
    items = _codes([key[:2] for key in keys])
    source = _codes([key[0] for key in keys])
    x = _within([judge[key] - human[key] for key in keys], items)
    y = _within([float(lengths[key]) for key in keys], items)
    g = int(source.max()) + 1 if len(keys) else 0
    sums = [np.bincount(source, weights=each, minlength=g) for each in (x * y, x * x, y * y)] if g else []
    figure: Json = {"value": None, "n": len(keys), "sources": g, "ci": None, "ci_reason": "", "undefined": NO_LENGTHS}
    if not g or sums[1].sum() <= 1e-9 or sums[2].sum() <= 1e-9:
        return figure
    value = float(sums[0].sum() / math.sqrt(sums[1].sum() * sums[2].sum()))
    figure |= {"value": value, "undefined": ""}
    if g < ENOUGH_SOURCES or len(keys) < ENOUGH_ITEMS:
        return figure | {"ci_reason": withheld([FEW_REVIEWS if g < ENOUGH_SOURCES else FEW_UNITS], g)}
    rest = [each.sum() - each for each in sums]
    if min(rest[1].min(), rest[2].min()) <= 1e-9 or abs(value) > 1 - 1e-9:
        return figure | {"ci_reason": withheld(["undefined without one of the reviews"], g)}
    z, without = math.atanh(value), np.arctanh(np.clip(rest[0] / np.sqrt(rest[1] * rest[2]), -1 + 1e-12, 1 - 1e-12))
    half = t_quantile(0.95, degrees_of_freedom(np.bincount(source).astype(float))) * jackknife_se(z, without)
    return figure | {"ci": [math.tanh(z - half), math.tanh(z + half)]}


def family_figure(human: Mapping[Key, float], judge: Mapping[Key, float], own: Collection[str]) -> Json:
    """Return (judge - people) on texts of the systems ``own`` minus the same on other systems, within items."""
    sides: dict[Hashable, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    systems = {key[2] for key in human if key in judge}
    for key, value in human.items():
        if key in judge:
            sides[key[:2]][key[2] not in own].append(judge[key] - value)
    both = {item: pair for item, pair in sides.items() if pair[0] and pair[1]}
    undefined = NO_FAMILY if not systems & set(own) else ALL_FAMILY
    differences = [float(np.mean(mine) - np.mean(others)) for mine, others in both.values()]
    mean = _mean(differences, [item[0] for item in both], undefined)  # type: ignore[index]
    return mean | {"systems": sorted(systems & set(own))}


def calibration(human: Mapping[Key, float], judge: Mapping[Key, float], consistent: Json) -> Json:
    """Return ``bias`` (judge minus people), ``slope`` of people on the judge, and ``points``.

    A point is the mean human value of the n texts with one value of the judge; more than `MOST_BINS` values are joined
    into equally large groups. ``consistent`` is `consistency`.
    """
    keys = [key for key in sorted(human, key=str) if key in judge]
    x, y = (np.array([side[key] for key in keys]) for side in (judge, human))
    source = _codes([key[0] for key in keys])
    return {
        "bias": _mean([float(each) for each in x - y], [key[0] for key in keys], "no common text"),
        "slope": _slope(x, y, source),
        "points": _points(x, y),
        "consistency": consistent,
    }


def consistency(judged: Iterable[Judged], criterion: str) -> Json:
    """Return the share of texts whose samples (answers to the same page) all have one value."""
    values: dict[Hashable, list[str]] = defaultdict(list)
    for one in judged:
        each = one.rating
        if each.criterion == criterion:
            values[each.source, each.item, each.system, one.order].append(str(each.value))
    several = {key: found for key, found in values.items() if len(found) > 1}
    same = [float(len(set(found)) == 1) for found in several.values()]
    return _share(same, [key[0] for key in several], ONE_SAMPLE)  # type: ignore[index]


def _slope(x: FloatArray, y: FloatArray, source: Any) -> Json:
    n, g = len(x), int(source.max()) + 1 if len(x) else 0
    figure: Json = {"value": None, "n": n, "sources": g, "ci": None, "ci_reason": ""}
    columns = [np.ones(n), x, y, x * x, x * y]
    sums = [np.bincount(source, weights=each, minlength=g).astype(np.float64) for each in columns] if g else []

    def slope(k: Any, sx: Any, sy: Any, sxx: Any, sxy: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            below = sxx - sx * sx / k
            return np.where(below > 1e-9, (sxy - sx * sy / k) / below, np.nan)

    value = float(slope(*(each.sum() for each in sums))) if g else math.nan
    if math.isnan(value):
        return figure | {"undefined": "the judge gave one value only"}
    without = slope(*(each.sum() - each for each in sums))
    found = estimate(value, without, sums[0], UNBOUNDED)
    return (
        figure
        | {"value": value, "ci": list(found.ci) if found.ci else None, "ci_reason": found.reason}
        | {"undefined": ""}
    )


def _points(x: FloatArray, y: FloatArray) -> list[Json]:
    if not len(x):
        return []
    order = np.argsort(x, kind="stable")
    values = np.unique(np.round(x, 9))
    if len(values) <= MOST_BINS:
        groups = [np.flatnonzero(np.abs(x - value) < 1e-8) for value in values]
    else:
        groups = [each for each in np.array_split(order, MOST_BINS) if len(each)]
    return [{"judge": float(x[g].mean()), "human": float(y[g].mean()), "n": len(g)} for g in groups]


def _within(values: list[float], items: Any) -> FloatArray:
    """Return the deviations of ``values`` from the means of their items."""
    x = np.asarray(values, dtype=np.float64)
    if not len(x):
        return x
    return np.asarray(x - (np.bincount(items, weights=x) / np.bincount(items))[items], dtype=np.float64)


def _codes(names: list[Any]) -> Any:
    known = {name: i for i, name in enumerate(sorted(set(names), key=str))}
    return np.array([known[name] for name in names], dtype=np.intp)


def _mean(values: list[float], clusters: list[Any], undefined: str) -> Json:
    mean = clustered_mean(values, _codes(clusters).tolist(), bounds=UNBOUNDED)
    return _json(mean, undefined)


def _share(values: list[float], clusters: list[Any], undefined: str) -> Json:
    return _json(clustered_share(values, _codes(clusters).tolist()), undefined)


def _json(mean: Mean, undefined: str) -> Json:
    return {
        "value": mean.value,
        "n": mean.n,
        "sources": mean.clusters,
        "ci": list(mean.ci) if mean.ci else None,
        "ci_reason": mean.ci_reason,
        "undefined": "" if mean.value is not None else undefined,
    }
