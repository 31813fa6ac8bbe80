"""Confusion of classes between texts and references that were judged separately.

This is MS^2's evaluation of direction (DeYoung et al. 2021, *MS^2*, EMNLP): the table, accuracy, Cohen's kappa, and
precision and recall of each class.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from measures import former
from measures.agreement.clusters import over_tables
from measures.agreement.gold import class_scores, wilson_interval
from measures.agreement.pairs import cohen_kappa
from measures.clustered import Estimate, FloatArray, estimate
from measures.means import FROM_0_TO_1
from measures.ratings.judgements import Judgement

from ..agreement.basis import Coefficient, OverReviews

Json = dict[str, Any]
#: (class of the reference, class of the text, weight).
Pair = tuple[str, str, float]
#: Standard name of criteria that ask for the direction.
STANDARD = "direction of effect"
#: MS^2's class of references without a direction.
SKIP = "skip"
NONE_COMMON = "no source whose reference and text were both judged"


def confusion(
    pairs: Iterable[Pair], classes: Sequence[str], excluded: Iterable[str] = (), sources: Sequence[Hashable] = ()
) -> Json:
    """Return the confusion of (gold, given, weight) pairs, with gold in the rows of the table.

    The result has ``n``, ``correct``, ``accuracy``, ``kappa`` (over all classes) and scores by class. Intervals are
    over ``sources``, one per pair. Without sources, each pair is its own source. Pairs whose gold is ``excluded`` are
    left out and counted. An excluded class as given value stays, as an error. Raise `ValueError` for a class that is
    not one of ``classes``.
    """
    place = {name: i for i, name in enumerate(classes)}
    all_pairs = list(pairs)
    if unknown := sorted({each for gold, answer, _ in all_pairs for each in (gold, answer)} - set(place)):
        raise ValueError(f"not among the classes: {', '.join(unknown)}")
    without = set(excluded)
    q, numbers = len(classes), dict[Hashable, int]()
    cells = [
        (numbers.setdefault(source, len(numbers)), place[gold], place[answer], weight)
        for (gold, answer, weight), source in zip(all_pairs, sources or range(len(all_pairs)), strict=True)
        if gold not in without
    ]
    tables = np.zeros((len(numbers), q, q))
    for source_at, gold_at, given_at, weight in cells:
        tables[source_at, gold_at, given_at] += weight
    table = tables.sum(axis=0)
    n, correct = _count(table.sum()), _count(np.trace(table))
    left_out = _count(sum(weight for gold, _, weight in all_pairs if gold in without))
    kappa = cohen_kappa(table)
    return {
        "classes": list(classes),
        "table": [[_count(v) for v in row] for row in table],
        "n": n,
        "correct": correct,
        "excluded": left_out,
        "accuracy": correct / n if n else None,
        "kappa": kappa.value,
        **_intervals(tables, n, correct, kappa),
        "no_kappa": kappa.undefined or "",
        "scores": [
            {
                "class": each.label,
                "gold": each.n_gold,
                "given": each.n_given,
                "precision": each.precision,
                "recall": each.recall,
                "f1": each.f1,
            }
            for each in class_scores(table, tuple(classes))
        ],
        "undefined": "" if n else NONE_COMMON,
    }


def _intervals(tables: FloatArray, n: float, correct: float, kappa: Coefficient) -> Json:
    """Return the intervals of accuracy and kappa over sources. ``tables`` has one table per source.

    The former rule assumes independent pairs.
    """
    if former.is_on():
        wilson = wilson_interval(correct, n) if n >= 1 else None
        return {"wilson": list(wilson) if wilson else None, "kappa_ci": list(kappa.ci) if kappa.ci else None}
    share, over = Estimate(None, None), OverReviews(None, None)
    if n:
        right, sizes = tables.trace(axis1=1, axis2=2), tables.sum(axis=(1, 2))
        rest = n - sizes
        without = np.divide(correct - right, rest, out=np.full(len(rest), np.nan), where=rest > 1e-9)
        share = estimate(correct / n, without, sizes, FROM_0_TO_1)
    if kappa.value is not None:
        over = over_tables(kappa, tables.reshape(len(tables), -1), np.eye(tables.shape[1]))
    return {
        "ci": list(share.ci) if share.ci else None,
        "ci_reason": share.reason,
        "kappa_ci": list(over.ci) if over.ci else None,
        "kappa_ci_reason": over.undefined or "",
    }


def direction_figures(
    judgements: Iterable[Judgement],
    criterion: str,
    reference: str,
    classes: Sequence[str],
    excluded: Iterable[str] = (),
) -> list[Json]:
    """Return the `confusion` of each system with the ``reference`` by ``criterion``.

    Each item has weight 1, divided equally among its judgements. ``split`` counts items whose text or reference has
    judgements of several classes.
    """
    votes: dict[tuple[str, Hashable, Hashable], Counter[str]] = defaultdict(Counter)
    for each in judgements:
        if each.criterion == criterion and each.repeat == 0 and each.value is not None:
            votes[each.system, each.source, each.item][str(each.value)] += 1
    made = []
    for system in sorted({system for system, *_ in votes} - {reference}):
        both = [
            (votes[reference, source, item], answers, source)
            for (name, source, item), answers in votes.items()
            if name == system and (reference, source, item) in votes
        ]
        pairs = [
            ((gold, answers, n * k / (of_gold.total() * of_text.total())), source)
            for of_gold, of_text, source in both
            for gold, n in of_gold.items()
            for answers, k in of_text.items()
        ]
        split = sum(len(of_gold) > 1 or len(of_text) > 1 for of_gold, of_text, _ in both)
        figures = confusion([pair for pair, _ in pairs], classes, excluded, [source for _, source in pairs])
        made.append({"system": system, "split": split, **figures})
    return made


def _count(value: float) -> int | float:
    """Return a sum of weights. It is a whole number unless raters differ."""
    return round(value) if abs(value - round(value)) < 1e-9 else round(float(value), 6)
