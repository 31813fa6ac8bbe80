"""Compare rankers of evidence side by side, on the pairs of a target and a study that all of them have ranked.

Accuracy is recall at 1: the share of pairs in which an annotated sentence is ranked first. Recall at 3 is the share in
which one is among the first three. A pair may have several annotated sentences; one of them is enough. M3 compared 15
encoders in this way; the best had an accuracy of .522.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .comparison import Comparison, compared, holm
from .evidence import FIRST, Pair, Report, report
from .means import FROM_0_TO_1, Mean

Key = TypeVar("Key", bound=Hashable)
#: Numbers of first sentences at which recall is computed.
AT = (1, FIRST)


@dataclass(frozen=True, slots=True)
class Difference:
    """Recall of a ranker minus that of the reference, on the same pairs. ``p`` is adjusted by Holm over the rankers."""

    comparison: Comparison
    p: float | None

    def as_json(self) -> dict[str, object]:
        return {**self.comparison.difference.as_json(), "p": self.p}


@dataclass(frozen=True, slots=True)
class RankerRow:
    """One ranker. ``differences``: at 1 and at 3; empty for the reference. ``ranked``: its own pairs with gold."""

    name: str
    ranked: int
    report: Report
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All rankers on ``common`` pairs, in the order of their names. ``against``: the reference; "" without rankers."""

    against: str
    common: frozenset[Hashable]
    rows: tuple[RankerRow, ...]


def side_by_side(by_ranker: Mapping[str, Mapping[Key, Pair]], against: str = "") -> SideBySide:
    """Compare rankers on the pairs with gold that all of them have ranked.

    A ranker without any such pair does not restrict the others. ``against`` names the reference; by default it is the
    ranker with the highest recall at 1, then at 3, then the first by name. Raise `KeyError` if it is unknown.
    """
    ranked = {name: {key: p for key, p in pairs.items() if p.order and p.gold} for name, pairs in by_ranker.items()}
    sets = [frozenset[Key](pairs) for pairs in ranked.values() if pairs]
    common: frozenset[Key] = frozenset.intersection(*sets) if sets else frozenset()
    reports = {name: report(pairs[key] for key in common if key in pairs) for name, pairs in ranked.items()}
    if not against and reports:
        against = min(reports, key=lambda name: (*(-(mean.value or 0) for mean in _recalls(reports[name])), name))
    differences = _differences(ranked, common, against) if reports else {}
    rows = (RankerRow(name, len(ranked[name]), reports[name], differences.get(name, ())) for name in sorted(reports))
    return SideBySide(against, common, tuple(rows))


def figures(
    people: Mapping[Key, Pair], by_ranker: Mapping[str, Mapping[Key, Pair]], against: str = ""
) -> dict[str, Any]:
    """Return the comparison of rankers as plain values, with the position baseline and chance on the same pairs.

    ``people``: the pairs with gold. The baseline is computed on all of them if the rankers have none in common.
    ``against``: see `side_by_side`.
    """
    beside = side_by_side(by_ranker, against)
    # In the order of the abstract, for figures that do not depend on a ranking.
    unranked = (
        replace(pair, order=tuple(range(pair.sentences)))
        for key, pair in people.items()
        if not beside.common or key in beside.common
    )
    return {
        "against": beside.against,
        "baseline": _as_json(report(unranked)),
        "rankings": [
            {
                "ranker": row.name,
                "mapped": row.ranked,
                "report": _as_json(row.report),
                "differences": [difference.as_json() for difference in row.differences],
            }
            for row in beside.rows
        ],
    }


def _as_json(accuracy: Report) -> dict[str, Any]:
    shares = {name: getattr(accuracy, name).as_json() for name in ("top_1", "top_3", "position")}
    return {**shares, "chance_1": accuracy.chance_1, "chance_3": accuracy.chance_3, "sentences": accuracy.sentences}


def _recalls(one: Report) -> tuple[Mean, Mean]:
    return one.top_1, one.top_3


def _differences(
    ranked: Mapping[str, Mapping[Key, Pair]], common: frozenset[Key], against: str
) -> dict[str, tuple[Difference, ...]]:
    """Return the differences of each other ranker from the reference, at each of `AT`."""
    clusters = {key: ranked[against][key].review for key in common if key in ranked[against]}
    others = [name for name in sorted(ranked) if name != against]
    columns = []
    for first in AT:
        hits = {
            name: {key: float(not p.gold.isdisjoint(p.order[:first])) for key, p in pairs.items() if key in clusters}
            for name, pairs in ranked.items()
        }
        comparisons = [compared(hits[name], hits[against], clusters, FROM_0_TO_1) for name in others]
        adjusted = holm([comparison.p for comparison in comparisons])
        columns.append([Difference(*each) for each in zip(comparisons, adjusted, strict=True)])
    return dict(zip(others, zip(*columns, strict=True), strict=True))
