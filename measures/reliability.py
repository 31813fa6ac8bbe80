"""What a reliability study prints of one field beside its coefficients: how often all agree, and pairs, and how often
people are right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from measures.means import Mean, clustered_share


def all_agree(said: Iterable[tuple[str, str]], cluster_of: Mapping[str, int]) -> Mean:
    """The share of items, of those with two ratings or more, to which all gave one value; ``said``: (item, value).

    The interval is over clusters (reviews), whose items are alike.
    """
    values = _by_item(said)
    items = [item for item, given in values.items() if len(given) > 1]
    hits = [float(len(set(values[item])) == 1) for item in items]
    return clustered_share(hits, [cluster_of[item] for item in items])


def pairwise(said: Iterable[tuple[str, str]], cluster_of: Mapping[str, int]) -> Mean:
    """The share of pairs of ratings that are one value, an item counting once: percent agreement as AC1 and kappa take
    it."""
    values = {item: given for item, given in _by_item(said).items() if len(given) > 1}
    shares = []
    for given in values.values():
        same = sum(n * (n - 1) for n in Counter(given).values())
        shares.append(same / (len(given) * (len(given) - 1)))
    return clustered_share(shares, [cluster_of[item] for item in values])


def accuracy(said: Iterable[tuple[str, str]], gold: Mapping[str, str], cluster_of: Mapping[str, int]) -> Mean:
    """The share of ratings that are the gold value, an item counting once as the mean of its ratings; items without
    gold are left out."""
    values = _by_item(said)
    items = [item for item in values if item in gold]
    hits = [sum(value == gold[item] for value in values[item]) / len(values[item]) for item in items]
    ratings = sum(len(values[item]) for item in items)
    return clustered_share(hits, [cluster_of[item] for item in items], ratings=ratings)


def _by_item(said: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for item, value in said:
        found[item].append(value)
    return found
