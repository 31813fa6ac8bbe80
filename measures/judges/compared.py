"""People's ratings and those of a judge on the same texts, as arrays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..clustered import FloatArray
from ..ratings.judgements import Criterion, Judgement, Preference
from ..ratings.rows import Ints

NOT_APPLICABLE = "n/a"
INCONSISTENT = "inconsistent"
"""Value of a pair for which the judge chose differently in the two orders."""
FIRST, SECOND = "first", "second"


@dataclass(frozen=True, slots=True)
class Judged:
    """A rating of a judge. ``order`` is 0 or 1 (texts of the page reversed); ``sample`` counts answers to one page."""

    rating: Judgement
    order: int = 0
    sample: int = 0


@dataclass(frozen=True, slots=True)
class JudgedChoice:
    """A choice of a judge between two texts; ``choice.left`` is the text that it read first."""

    choice: Preference
    order: int = 0
    sample: int = 0


@dataclass(frozen=True)
class Instances:
    """The texts (or pairs) that the judge and a person rated, by one criterion.

    ``people`` (r, n) and ``judge`` (n,) hold numbers if ``ordered``, else codes of ``values``; NaN for missing values.
    ``source`` (n,) is the number of each instance's source, and ``sources`` is their count.
    """

    names: tuple[str, ...]
    people: FloatArray
    judge: FloatArray
    source: Ints
    sources: int
    values: tuple[str, ...]
    ordered: bool

    @property
    def n(self) -> int:
        return len(self.judge)


def of_texts(people: Iterable[Judgement], judged: Iterable[Judged], criterion: Criterion) -> Instances:
    """Return the texts by one criterion. A text that several systems wrote is one instance. Repeats are left out.

    Several answers of the judge become their mean, or the commonest value (the first of equally common ones).
    """
    ordered = criterion.kind == "mean"
    own: dict[Hashable, dict[str, str | float | None]] = defaultdict(dict)
    sources: dict[Hashable, Hashable] = {}
    for each in people:
        if each.criterion == criterion.key and each.repeat == 0:
            key = (each.source, each.item, each.system if each.text is None else each.text)
            own[key][each.rater] = each.value
            sources[key] = each.source
    answers: dict[Hashable, dict[tuple[int, int], str | float | None]] = defaultdict(dict)
    for one in judged:
        each = one.rating
        if each.criterion == criterion.key:
            key = (each.source, each.item, each.system if each.text is None else each.text)
            answers[key][one.order, one.sample] = each.value
    return _instances(
        own, {k: [v for _, v in sorted(a.items())] for k, a in answers.items()}, sources, criterion, ordered
    )


def of_pairs(people: Iterable[Preference], judged: Iterable[JudgedChoice], key: str) -> Instances:
    """Return the pairs by one criterion, with values relative to the systems in alphabetical order."""
    own: dict[Hashable, dict[str, str | float | None]] = defaultdict(dict)
    sources: dict[Hashable, Hashable] = {}
    for each in people:
        if each.criterion == key and each.repeat == 0:
            own[pair_of(each)][each.rater] = sided(each)
            sources[pair_of(each)] = each.source
    chosen = choices_of(judged, key)
    answers: dict[Hashable, list[str | float | None]] = {}
    for pair, by_order in chosen.items():
        values = [commonest(each) for _, each in sorted(by_order.items())]
        answers[pair] = [values[0] if len(set(values)) == 1 else INCONSISTENT]
    sides = (FIRST, SECOND, "tie", "neither", INCONSISTENT)
    return _instances(own, answers, sources, Criterion(key, "counts", (), sides), False)


def pair_of(each: Preference) -> Hashable:
    return each.source, each.item, *sorted((each.left, each.right))


def sided(each: Preference) -> str:
    """Return the choice relative to the systems in alphabetical order."""
    if each.choice not in ("left", "right"):
        return each.choice
    return FIRST if (each.choice == "left") == (each.left <= each.right) else SECOND


def choices_of(judged: Iterable[JudgedChoice], key: str) -> dict[Hashable, dict[int, list[str]]]:
    """Return the judge's choices by pair and order."""
    chosen: dict[Hashable, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in judged:
        if one.choice.criterion == key:
            chosen[pair_of(one.choice)][one.order].append(sided(one.choice))
    return chosen


def commonest(values: Sequence[str]) -> str:
    """Return the commonest value, the first of equally common ones."""
    return Counter(values).most_common(1)[0][0]


def _instances(
    own: dict[Hashable, dict[str, str | float | None]],
    answers: dict[Hashable, list[str | float | None]],
    sources: dict[Hashable, Hashable],
    criterion: Criterion,
    ordered: bool,
) -> Instances:
    keys = sorted((key for key in own if key in answers), key=str)
    names = tuple(sorted({rater for key in keys for rater in own[key]}))
    values = criterion.values if ordered else tuple(dict.fromkeys((*criterion.values, NOT_APPLICABLE)))
    codes = {value: float(code) for code, value in enumerate(values)}

    def number(value: str | float | None) -> float:
        if ordered:
            known = criterion.number(value)
            return np.nan if known is None else known
        return codes.setdefault(NOT_APPLICABLE if value is None else str(value), float(len(codes)))

    people = np.full((len(names), len(keys)), np.nan)
    judge = np.full(len(keys), np.nan)
    place = {name: i for i, name in enumerate(names)}
    for k, key in enumerate(keys):
        for rater, value in own[key].items():
            people[place[rater], k] = number(value)
        if ordered:
            numbers = [each for each in map(number, answers[key]) if not np.isnan(each)]
            judge[k] = float(np.mean(numbers)) if numbers else np.nan
        else:
            judge[k] = number(commonest([NOT_APPLICABLE if v is None else str(v) for v in answers[key]]))
    known = {source: i for i, source in enumerate(sorted({sources[key] for key in keys}, key=str))}
    return Instances(
        names,
        people,
        judge,
        np.array([known[sources[key]] for key in keys], dtype=np.intp),
        len(known),
        tuple(codes) if not ordered else values,
        ordered,
    )
