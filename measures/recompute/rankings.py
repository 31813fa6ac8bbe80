"""Recompute the comparison of rankers of a release from the mapped pairs and the order of each ranker."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from ..evidence import Pair
from ..rankers import figures
from .files import Findings, Folder, InvalidRelease

MAPPED, RANKINGS, FIGURES = "rankings/mapped.csv", "rankings/rankings.csv", "rankings/figures.json"


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute every figure. Raise `InvalidRelease` for invalid files."""
    if not folder.has(FIGURES):
        return
    by_ranker: dict[str, dict[tuple[str, str], Pair]] = defaultdict(dict)
    #: Number of each review.
    reviews: dict[str, int] = {}
    try:
        people = {
            (row["target"], row["study"]): Pair(
                reviews.setdefault(row["review"], len(reviews)),
                int(row["sentences"]),
                frozenset(_indices(row["evidence"])),
                position=_indices(row["position"]),
            )
            for row in folder.rows(MAPPED)
        }
        for row in folder.rows(RANKINGS):
            key = row["target"], row["study"]
            by_ranker[row["ranker"]][key] = replace(people[key], order=_indices(row["order"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRelease(f"rankings: a row lacks a field, or a pair that people mapped ({error!r})") from None
    printed = {name: value for name, value in folder.json(FIGURES).items() if name != "numpy"}
    findings.compare(FIGURES, "rankers", printed, figures(people, by_ranker))


def _indices(cell: str) -> tuple[int, ...]:
    return tuple(int(number) - 1 for number in cell.split())
