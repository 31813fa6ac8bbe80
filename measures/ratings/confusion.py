"""Classes of generated texts against those of the references, judged apart: MS^2's evaluation of direction (DeYoung et
al. 2021, *MS^2*, EMNLP): the table of both, accuracy, Cohen's kappa, precision and recall of each class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from measures.agreement.gold import class_scores, wilson_interval
from measures.agreement.pairs import cohen_kappa
from measures.ratings.judgements import Judgement

Json = dict[str, Any]
#: What the field calls a criterion that asks for it.
STANDARD = "direction of effect"
#: MS^2's class of references that say nothing of a direction.
SKIP = "skip"
NONE_COMMON = "no source whose reference and text were both judged"


def confusion(pairs: Sequence[tuple[str, str]], classes: Sequence[str], excluded: Iterable[str] = ()) -> Json:
    """Of (gold, given): ``table`` (classes x classes, gold in rows), ``n``, ``correct``, ``accuracy`` with Wilson's
    interval, ``kappa`` (over all classes) and each class. Pairs whose gold is ``excluded`` are left out, and counted;
    an excluded class that was given stays, as an error. ValueError for a class that is not one of ``classes``."""
    place = {name: i for i, name in enumerate(classes)}
    if strange := sorted({each for pair in pairs for each in pair} - set(place)):
        raise ValueError(f"not among the classes: {', '.join(strange)}")
    without = set(excluded)
    table = np.zeros((len(classes), len(classes)))
    for gold, given in pairs:
        if gold not in without:
            table[place[gold], place[given]] += 1
    n, correct = int(table.sum()), int(np.trace(table))
    kappa = cohen_kappa(table)
    return {
        "classes": list(classes), "table": [[int(v) for v in row] for row in table], "n": n, "correct": correct,
        "excluded": len(pairs) - n, "accuracy": correct / n if n else None,
        "wilson": list(wilson_interval(correct, n)) if n else None, "kappa": kappa.value,
        "kappa_ci": list(kappa.ci) if kappa.ci else None, "no_kappa": kappa.undefined or "",
        "scores": [
            {"class": each.label, "gold": each.n_gold, "given": each.n_given, "precision": each.precision,
             "recall": each.recall, "f1": each.f1}
            for each in class_scores(table, tuple(classes))
        ],
        "undefined": "" if n else NONE_COMMON,
    }  # fmt: skip


def direction_figures(
    judgements: Iterable[Judgement],
    criterion: str,
    reference: str,
    classes: Sequence[str],
    excluded: Iterable[str] = (),
) -> list[Json]:
    """For each system but the ``reference``: `confusion` of what was said of both by ``criterion``, item by item.

    Of several raters the class that most gave counts; where two classes are even the text is left out, in ``split``.
    """
    votes: dict[tuple[str, Hashable, Hashable], Counter[str]] = defaultdict(Counter)
    for each in judgements:
        if each.criterion == criterion and each.repeat == 0 and each.value is not None:
            votes[each.system, each.source, each.item][str(each.value)] += 1
    said = {key: _most(counts) for key, counts in votes.items()}
    made = []
    for system in sorted({system for system, *_ in said} - {reference}):
        both = [
            (said.get((reference, source, item)), given)
            for (name, source, item), given in said.items()
            if name == system
        ]
        there = [(gold, given) for gold, given in both if gold is not None]
        pairs = [(gold, given) for gold, given in there if gold and given]
        made.append({"system": system, "split": len(there) - len(pairs), **confusion(pairs, classes, excluded)})
    return made


def _most(counts: Counter[str]) -> str:
    """The class that most gave; "" where two are even."""
    ordered = counts.most_common(2)
    return "" if len(ordered) > 1 and ordered[0][1] == ordered[1][1] else ordered[0][0]
