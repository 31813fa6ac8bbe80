"""Compute the figures of a reliability study: agreement, coefficients and accuracy of one field.

Accuracy is compared with chance and with a ranker.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from measures import former
from measures.agreement import Scale
from measures.means import Mean, clustered_share

from .evidence import CHANCE

#: (item, value) of every answer.
Ratings = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement.

    ``value`` is None exactly when ``undefined`` gives the reason, ``ci`` (over reviews) when ``ci_reason`` does.
    """

    value: float | None
    ci: tuple[float, float] | None = None
    undefined: str = ""
    ci_reason: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "value": self.value,
            "ci": list(self.ci) if self.ci else None,
            "ci_reason": self.ci_reason,
            "undefined": self.undefined,
        }


@dataclass(frozen=True)
class Field:
    """Figures of one field. ``items`` have at least two ratings. ``ranker`` is None if there is no ranker."""

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
            "name": self.name,
            "items": self.items,
            "raters": self.raters,
            "all_agree": self.all_agree.as_json(),
            "pairwise": self.pairwise.as_json(),
            "ac1": self.ac1.as_json(),
            "fleiss": self.fleiss.as_json(),
            "accuracy": self.accuracy.as_json(),
            "chance": self.chance,
            "ranker": self.ranker.as_json() if self.ranker else None,
        }


def clusters(review_of: Mapping[str, str]) -> dict[str, int]:
    """Return item -> the number of its review, by which items are clustered."""
    places = {review: n for n, review in enumerate(sorted(set(review_of.values())))}
    return {item: places[review] for item, review in review_of.items()}


def field(
    scale: Scale,
    measure: Mapping[str, Any],
    ratings: Ratings,
    gold: Mapping[str, str],
    cluster_of: Mapping[str, int],
    ranks: Mapping[str, int] | None,
) -> Field:
    """Compute the figures of one field.

    ``measure`` is the entry of the scale in the agreement report of its round, which has the coefficients. ``ranks``
    holds the rank (from 1) that a ranker gives to the gold sentence of each item. It is None if the answers are not
    candidate sentences.
    """
    ratings = list(ratings)
    agreeing = all_agree(ratings, cluster_of)
    return Field(
        scale.name,
        agreeing.n,
        measure["raters"],
        agreeing,
        pairwise(ratings, cluster_of),
        _coefficient(measure, "ac1"),
        _coefficient(measure, "fleiss"),
        accuracy(ratings, gold, cluster_of),
        1 / len(scale.categories) if ranks is None else CHANCE,
        None if ranks is None else _first(ranks, cluster_of),
    )


def _first(ranks: Mapping[str, int], cluster_of: Mapping[str, int]) -> Mean:
    """Return how often the ranker ranks the gold sentence first, on the items that people answered."""
    items = [item for item in ranks if item in cluster_of]
    return clustered_share([float(ranks[item] == 1) for item in items], [cluster_of[item] for item in items])


def _coefficient(measure: Mapping[str, Any], name: str) -> Coefficient:
    coefficient = measure["coefficients"].get(name)
    if coefficient is None:
        return Coefficient(None, undefined=measure["undefined"].get(name, "not enough ratings"))
    over = coefficient["reviews"] if former.is_on() and measure["cite"] == "reviews" else coefficient
    ci = over["ci"] if over else None
    reason = coefficient.get("ci_reason") or ""
    return Coefficient(coefficient["value"], (ci[0], ci[1]) if ci and ci[0] < ci[1] else None, ci_reason=reason)


def all_agree(ratings: Ratings, cluster_of: Mapping[str, int]) -> Mean:
    """Return the share of items with at least two ratings on which all ratings are equal.

    ``ratings`` holds (item, value). The interval is over clusters (reviews).
    """
    values = _by_item(ratings)
    items = [item for item, answers in values.items() if len(answers) > 1]
    hits = [float(len(set(values[item])) == 1) for item in items]
    return clustered_share(hits, [cluster_of[item] for item in items])


def pairwise(ratings: Ratings, cluster_of: Mapping[str, int]) -> Mean:
    """Return the share of equal pairs of ratings, each item with weight 1: percent agreement as in AC1 and kappa."""
    values = {item: answers for item, answers in _by_item(ratings).items() if len(answers) > 1}
    shares = []
    for answers in values.values():
        same = sum(n * (n - 1) for n in Counter(answers).values())
        shares.append(same / (len(answers) * (len(answers) - 1)))
    return clustered_share(shares, [cluster_of[item] for item in values])


def accuracy(answers: Ratings, gold: Mapping[str, str], cluster_of: Mapping[str, int]) -> Mean:
    """Return the share of ratings that equal the gold value, each item with weight 1.

    Items without gold are left out.
    """
    values = _by_item(answers)
    items = [item for item in values if item in gold]
    hits = [sum(value == gold[item] for value in values[item]) / len(values[item]) for item in items]
    ratings = sum(len(values[item]) for item in items)
    return clustered_share(hits, [cluster_of[item] for item in items], ratings=ratings)


def _by_item(ratings: Ratings) -> dict[str, list[str]]:
    values_of: dict[str, list[str]] = defaultdict(list)
    for item, value in ratings:
        values_of[item].append(value)
    return values_of
