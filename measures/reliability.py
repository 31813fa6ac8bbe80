"""What a reliability study prints of one field: how often all agree, and pairs, the coefficients of its round's report,
and how often people are right, beside chance and a ranker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from measures.agreement import Scale
from measures.matching import CHANCE
from measures.means import Mean, clustered_share

#: (item, value) of every answer.
Said = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Coefficient:
    """``value`` is None exactly where ``undefined`` says why. ``ci``: over reviews, where some have several items."""

    value: float | None
    ci: tuple[float, float] | None = None
    undefined: str = ""

    def as_json(self) -> dict[str, object]:
        return {"value": self.value, "ci": list(self.ci) if self.ci else None, "undefined": self.undefined}


@dataclass(frozen=True)
class Field:
    """One field of a study. ``items``: that two people or more rated; ``ranker``: None where there is none."""

    name: str
    items: int
    raters: int
    all_agree: Mean
    pairwise: Mean
    ac1: Coefficient
    fleiss: Coefficient
    accuracy: Mean
    chance: float
    ranker: Mean | None

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name, "items": self.items, "raters": self.raters, "all_agree": self.all_agree.as_json(),
            "pairwise": self.pairwise.as_json(), "ac1": self.ac1.as_json(), "fleiss": self.fleiss.as_json(),
            "accuracy": self.accuracy.as_json(), "chance": self.chance,
            "ranker": self.ranker.as_json() if self.ranker else None,
        }  # fmt: skip


def clusters(review_of: Mapping[str, str]) -> dict[str, int]:
    """Items that are alike: item -> the number of its review."""
    places = {review: n for n, review in enumerate(sorted(set(review_of.values())))}
    return {item: places[review] for item, review in review_of.items()}


def field(
    scale: Scale,
    measure: Mapping[str, Any],
    said: Said,
    gold: Mapping[str, str],
    cluster_of: Mapping[str, int],
    ranks: Mapping[str, int] | None,
) -> Field:
    """``measure``: the scale's in the report of its round, whose coefficients these are. ``ranks``: the place at which
    a ranker has the gold sentence of an item, from 1; None where people were asked something else."""
    said = list(said)
    agreeing = all_agree(said, cluster_of)
    return Field(
        scale.name, agreeing.n, measure["raters"], agreeing, pairwise(said, cluster_of), _coefficient(measure, "ac1"),
        _coefficient(measure, "fleiss"), accuracy(said, gold, cluster_of),
        1 / len(scale.categories) if ranks is None else CHANCE, None if ranks is None else _first(ranks, cluster_of),
    )  # fmt: skip


def _first(ranks: Mapping[str, int], cluster_of: Mapping[str, int]) -> Mean:
    """How often the ranker has the gold sentence first, on the items that people answered."""
    items = [item for item in ranks if item in cluster_of]
    return clustered_share([float(ranks[item] == 1) for item in items], [cluster_of[item] for item in items])


def _coefficient(measure: Mapping[str, Any], name: str) -> Coefficient:
    found = measure["coefficients"].get(name)
    if found is None:
        return Coefficient(None, undefined=measure["undefined"].get(name, "not enough ratings"))
    over = found["reviews"] if measure["cite"] == "reviews" else found
    ci = over["ci"] if over else None
    # Without a width it is none: all items are alike in what it rests on.
    return Coefficient(found["value"], (ci[0], ci[1]) if ci and ci[0] < ci[1] else None)


def all_agree(said: Said, cluster_of: Mapping[str, int]) -> Mean:
    """The share of items, of those with two ratings or more, to which all gave one value; ``said``: (item, value).

    The interval is over clusters (reviews), whose items are alike.
    """
    values = _by_item(said)
    items = [item for item, given in values.items() if len(given) > 1]
    hits = [float(len(set(values[item])) == 1) for item in items]
    return clustered_share(hits, [cluster_of[item] for item in items])


def pairwise(said: Said, cluster_of: Mapping[str, int]) -> Mean:
    """The share of pairs of ratings that are one value, an item counting once: percent agreement as AC1 and kappa take
    it."""
    values = {item: given for item, given in _by_item(said).items() if len(given) > 1}
    shares = []
    for given in values.values():
        same = sum(n * (n - 1) for n in Counter(given).values())
        shares.append(same / (len(given) * (len(given) - 1)))
    return clustered_share(shares, [cluster_of[item] for item in values])


def accuracy(said: Said, gold: Mapping[str, str], cluster_of: Mapping[str, int]) -> Mean:
    """The share of ratings that are the gold value, an item counting once as the mean of its ratings; items without
    gold are left out."""
    values = _by_item(said)
    items = [item for item in values if item in gold]
    hits = [sum(value == gold[item] for value in values[item]) / len(values[item]) for item in items]
    ratings = sum(len(values[item]) for item in items)
    return clustered_share(hits, [cluster_of[item] for item in items], ratings=ratings)


def _by_item(said: Said) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for item, value in said:
        found[item].append(value)
    return found
