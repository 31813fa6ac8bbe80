"""What a judge is worth beside the raters of a round: all figures as plain data."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from ..ratings.correlation import correlations
from ..ratings.judgements import Criterion, Judgement, Preference
from ..ratings.rows import Rows
from . import biases
from .agreement import agreement_figures
from .alternative import EPSILON, alternative_test
from .biases import Key
from .compared import Instances, Judged, JudgedChoice, of_pairs, of_texts
from .decision import decide
from .powered import Totals, powered_mean

Json = dict[str, Any]
RULE = (
    "concord-judges 2; alternative annotator test (Calderon et al. 2025) with jackknife over sources; PPI++ by source"
)
NO_ORDER = "its values have no order and none is called good"
NO_JUDGE_VALUE = "the judge has no value for this system"


@dataclass(frozen=True)
class JudgedRound:
    """Ratings of people and of a judge, and what figures need beside them.

    ``asked`` are the texts that the judge was asked about, as (source, item, system). ``lengths`` are their numbers of
    words, ``own`` the systems of the judge's family. ``points`` are the numbers of each ordered scale. ``sampled`` says
    why the sources that people rated are no random sample of those that the judge rated, "" if they are one.
    """

    people: Sequence[Judgement]
    judged: Sequence[Judged]
    criteria: Sequence[Criterion]
    preferences: Sequence[Preference] = ()
    choices: Sequence[JudgedChoice] = ()
    asked: Collection[Key] = ()
    lengths: Mapping[Key, int] = field(default_factory=dict)
    own: Collection[str] = ()
    points: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    sampled: str = ""


def judge_figures(
    data: JudgedRound, *, group: str, judge: str, names: Mapping[str, str], facts: Json, epsilon: float | None = None
) -> Json:
    """Return all figures by criterion, each with its decision.

    ``group`` of raters sets epsilon (`EPSILON`). ``facts`` of the run have ``answers``, ``failed`` and ``followed``.
    """
    benefit = EPSILON.get(group, EPSILON["skilled"]) if epsilon is None else epsilon
    rows = [_of_texts(data, each, benefit) for each in data.criteria]
    keys = sorted({each.criterion for each in data.preferences})
    rows += [_of_pairs(data, key, benefit) for key in keys]
    for row in rows:
        row |= decide(row, facts, judge=judge, criterion=names.get(row["criterion"], row["criterion"]))
    return {"rule": RULE, "judge": judge, "group": group, "epsilon": benefit, "facts": facts, "criteria": rows}


def _of_texts(data: JudgedRound, criterion: Criterion, epsilon: float) -> Json:
    texts = of_texts(data.people, data.judged, criterion)
    people = [each for each in data.people if each.criterion == criterion.key and each.repeat == 0]
    judged = [each.rating for each in data.judged if each.rating.criterion == criterion.key]
    row = _compared(criterion.key, criterion.kind, criterion.better, texts, data.points.get(criterion.key, ()), epsilon)
    return row | {
        "position": biases.position_of_texts(data.judged, criterion.key),
        **_valued(data, criterion, people, judged, biases.consistency(data.judged, criterion.key)),
    }


def _of_pairs(data: JudgedRound, key: str, epsilon: float) -> Json:
    """Return the row of a comparison. Systems are valued by the share of their pairs that they win, ties as halves."""
    pairs = of_pairs(data.preferences, data.choices, key)
    criterion = Criterion(key, "mean", (), (), "higher", (0.0, 1.0))
    people = [won for each in data.preferences if each.criterion == key and each.repeat == 0 for won in wins(each)]
    judged = [won for each in data.choices if each.choice.criterion == key for won in wins(each.choice)]
    row = _compared(key, "preference", "higher", pairs, (), epsilon)
    consistent = biases.consistency((), key)
    return row | {
        "position": biases.position_of_pairs(data.choices, key),
        **_valued(data, criterion, people, judged, consistent),
    }


def wins(each: Preference) -> tuple[Judgement, Judgement]:
    """Return the choice as one value for each of its systems: 1 if it was preferred, .5 without preference."""
    left = {"left": 1.0, "right": 0.0}.get(each.choice, 0.5)
    return (
        Judgement(each.source, each.left, each.rater, each.criterion, left, item=each.item),
        Judgement(each.source, each.right, each.rater, each.criterion, 1 - left, item=each.item),
    )


def _compared(key: str, kind: str, better: str, texts: Instances, points: tuple[float, ...], epsilon: float) -> Json:
    test = alternative_test(
        texts.people, texts.judge, texts.source, texts.names, ordered=texts.ordered, epsilon=epsilon
    )
    return {
        "criterion": key,
        "kind": kind,
        "better": better,
        "n": texts.n,
        "sources": texts.sources,
        "agreement": agreement_figures(texts, points),
        "alternative": test.as_json(),
    }


def _valued(
    data: JudgedRound, criterion: Criterion, people: list[Judgement], judged: list[Judgement], consistent: Json
) -> Json:
    """Return the figures that need numbers: correlations, biases, calibration, and means of systems."""
    if criterion.kind == "counts":
        empty: Json = dict.fromkeys(("correlations", "order", "length", "family", "calibration"))
        return empty | {"undefined": NO_ORDER, "systems": [], "pairs": [], "imputed": 0}
    human, judge = means(people, criterion), means(judged, criterion)
    known = {key: value for key, value in human.items() if not math.isnan(value)}
    own = {key: value for key, value in judge.items() if not math.isnan(value)}
    ratings = Rows.of(people).of_criterion(criterion)
    systems, pairs, imputed = _powered(data, criterion, human, own)
    return {
        "undefined": "",
        "correlations": correlations(ratings, own),
        "order": _order(known, own),
        "length": biases.length_figure(known, own, data.lengths),
        "family": biases.family_figure(known, own, data.own),
        "calibration": biases.calibration(known, own, consistent),
        "systems": systems,
        "pairs": pairs,
        "imputed": imputed,
    }


def means(judgements: Sequence[Judgement], criterion: Criterion) -> dict[Key, float]:
    """Return the mean value of each text as (source, item, system); NaN if every rating is N/A."""
    values: dict[Key, list[float]] = defaultdict(list)
    for each in judgements:
        number = criterion.number(each.value)
        values[each.source, each.item, each.system] += [] if number is None else [number]
    return {key: math.fsum(each) / len(each) if each else math.nan for key, each in values.items()}


def _order(human: Mapping[Key, float], judge: Mapping[Key, float]) -> Json:
    """Return the share of pairs of systems that the judge orders as people do. Pairs with equal means are left out."""
    by_system: dict[str, list[Key]] = defaultdict(list)
    for key in human:
        if key in judge:
            by_system[key[2]].append(key)
    means_of = {
        name: [math.fsum(side[key] for key in keys) / len(keys) for side in (human, judge)]
        for name, keys in by_system.items()
    }
    pairs = [
        (means_of[one][0] - means_of[other][0], means_of[one][1] - means_of[other][1])
        for one, other in combinations(sorted(means_of), 2)
    ]
    decided = [(a, b) for a, b in pairs if abs(a) > 1e-12]
    right = sum(a * b > 0 for a, b in decided)
    n = len(decided)
    return {
        "value": right / n if n else None,
        "right": right,
        "n": n,
        "systems": len(means_of),
        "undefined": "" if n else "fewer than two systems with different means",
    }


def _powered(
    data: JudgedRound, criterion: Criterion, human: Mapping[Key, float], judge: Mapping[Key, float]
) -> tuple[list[Json], list[Json], int]:
    """Return the means of systems and their differences, and how many missing values of the judge were replaced.

    A text without a valid value of the judge gets the judge's mean for its system. The interval stays valid, because
    it is valid for any values of the judge.
    """
    asked = set(data.asked) | set(judge)
    by_system: dict[str, list[float]] = defaultdict(list)
    for key, value in judge.items():
        by_system[key[2]].append(value)
    centre = {system: math.fsum(values) / len(values) for system, values in by_system.items()}
    names = sorted({key[2] for key in human})
    filled = {key: judge.get(key, centre.get(key[2], math.nan)) for key in asked}
    missing = sum(key not in judge and key[2] in centre for key in asked)
    systems: list[Json] = []
    for name in names:
        if name not in centre:
            systems.append({"system": name, "undefined": NO_JUDGE_VALUE})
            continue
        one = {key: value for key, value in filled.items() if key[2] == name}
        figure = powered_mean(
            *_totals(human, one, {name: 1.0}), criterion.bounds, share=criterion.kind == "share", sampled=data.sampled
        )
        systems.append({"system": name} | figure.as_json())
    low, high = criterion.bounds
    pairs: list[Json] = []
    for first, second in combinations([name for name in names if name in centre], 2):
        both = {key: value for key, value in filled.items() if key[2] in (first, second)}
        figure = powered_mean(
            *_totals(human, both, {first: 1.0, second: -1.0}), (low - high, high - low), sampled=data.sampled
        )
        pairs.append({"first": first, "second": second} | figure.as_json())
    return systems, pairs, missing


def _totals(
    human: Mapping[Key, float], judge: Mapping[Key, float], signs: Mapping[str, float]
) -> tuple[Totals, Totals, Totals]:
    """Return the totals by source of people, of the judge on the same sources, and of the judge on all others.

    A value is that of a system, or the difference of two on the items that have both. Other items of a source that
    people rated are left out.
    """
    values: dict[tuple[Hashable, Hashable], list[dict[str, float]]] = defaultdict(lambda: [{}, {}])
    for side, known in enumerate((human, judge)):
        for key, value in known.items():
            if key[2] in signs:
                values[key[:2]][side][key[2]] = value
    mine: dict[Hashable, list[list[float]]] = defaultdict(list)
    rest: dict[Hashable, list[float]] = defaultdict(list)
    rated = {item[0] for item, (people, _) in values.items() if people}
    for item, (people, model) in sorted(values.items(), key=lambda each: str(each[0])):
        if len(model) < len(signs):
            continue
        own = math.fsum(sign * model[name] for name, sign in signs.items())
        if len(people) == len(signs):
            mine[item[0]].append([math.fsum(sign * people[name] for name, sign in signs.items()), own])
        elif item[0] not in rated:
            rest[item[0]].append(own)
    pairs = [np.asarray(mine[source]) for source in sorted(mine, key=str)]
    has_value = [~np.isnan(each[:, 0]) for each in pairs]
    return (
        Totals(
            np.array([each[has, 0].sum() for each, has in zip(pairs, has_value, strict=True)]),
            np.array([float(has.sum()) for has in has_value]),
        ),
        Totals(np.array([each[:, 1].sum() for each in pairs]), np.array([float(len(each)) for each in pairs])),
        Totals(
            np.array([math.fsum(rest[source]) for source in sorted(rest, key=str)]),
            np.array([float(len(rest[source])) for source in sorted(rest, key=str)]),
        ),
    )
