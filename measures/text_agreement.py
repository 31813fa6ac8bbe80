"""How well marked and written texts, sets and numbers agree, column by column of a table of answers, where a
coefficient does not fit, or not alone.

Every figure is a mean over items of the mean over rater pairs. Pairs with nothing to compare (neither marked or wrote
anything) agree, and are counted apart. Cells are those of a release's ``answers/*.csv``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

from measures.sets import codes_of_cell, f1, jaccard
from measures.span_agreement import cue_f1
from measures.spans import Ranges, ranges_of_cell, words

#: token, exact: of marked spans. same, words: of written texts. whole: of all columns together. shared, f1:
#: of sets of codes (`measures.sets`). difference: of numbers, in their unit, so that less is better.
By = Literal["token", "exact", "same", "words", "whole", "shared", "f1", "difference"]
METHODS: Mapping[By, str] = {
    "token": "mean pairwise F1 of words",
    "exact": "share of identical cues",
    "same": "share of same texts",
    "words": "mean pairwise F1 of words",
    "whole": "share of same tuples",
    "shared": "mean pairwise Jaccard index",
    "f1": "mean pairwise F1 of sets",
    "difference": "mean absolute difference",
}
NOTHING_WRITTEN = "all left it blank"
NOT_ENOUGH = "not enough ratings"
Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What of two answers to one item is compared, and how.

    ``columns`` hold spans (`ranges_of_cell`) or texts, whose case and white space do not count; those of ``exactly``
    have to be the same to the letter beside them.
    """

    name: str
    by: By
    columns: tuple[str, ...]
    exactly: tuple[str, ...] = ()

    @property
    def of_spans(self) -> bool:
        """Whether it needs the texts of the items."""
        return self.by in ("token", "exact")

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "by": self.by, "columns": list(self.columns), "exactly": list(self.exactly)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Comparison:
        return cls(stored["name"], stored["by"], tuple(stored["columns"]), tuple(stored["exactly"]))


@dataclass(frozen=True, slots=True)
class TextAgreement:
    """``value`` is None exactly where ``undefined`` says why. ``pairs`` of ``units`` were compared; in ``both_empty``
    pairs there was nothing to compare."""

    name: str
    method: str
    value: float | None
    pairs: int
    units: int
    both_empty: int = 0
    undefined: str | None = None

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def compared(
    comparisons: Sequence[Comparison],
    said: Iterable[tuple[Hashable, Hashable, Cells]],
    texts: Mapping[Hashable, str],
) -> list[TextAgreement]:
    """Each comparison over all answers, given as (item, rater, cells). ``texts``: of the items, where spans are."""
    by_item: dict[Hashable, dict[Hashable, Cells]] = {}
    for item, rater, cells in said:
        by_item.setdefault(item, {})[rater] = cells
    marked: dict[str, dict[Hashable, dict[Hashable, Ranges]]] = {}
    out = []
    for comparison in comparisons:
        if not comparison.of_spans:
            out.append(_written(comparison, by_item))
            continue
        (column,) = comparison.columns
        if column not in marked:
            marked[column] = {
                item: {rater: ranges_of_cell(cells[column]) for rater, cells in by_rater.items()}
                for item, by_rater in by_item.items()
            }
        found = cue_f1(texts, marked[column], "token" if comparison.by == "token" else "exact")
        method = METHODS[comparison.by]
        out.append(
            TextAgreement(
                comparison.name, method, found.value, found.n_pairs, found.n_items, found.n_both_empty, found.undefined
            )
        )
    return out


def pooled(parts: Sequence[TextAgreement]) -> TextAgreement:
    """The same of all items together, from what it is of some items each: a mean over items is the mean of the parts'
    means by how many items they are of."""
    if len(parts) == 1:
        return parts[0]
    units = sum(part.units for part in parts)
    asked = next((part for part in parts if part.both_empty), parts[0])
    return replace(
        parts[0],
        value=math.fsum(part.value * part.units for part in parts if part.value is not None) / units if units else None,
        pairs=sum(part.pairs for part in parts),
        units=units,
        both_empty=sum(part.both_empty for part in parts),
        undefined=None if units else asked.undefined,
    )


def _written(comparison: Comparison, by_item: Mapping[Hashable, Mapping[Hashable, Cells]]) -> TextAgreement:
    score = _SCORES[comparison.by]
    means: list[float] = []
    n_pairs = asked = 0
    for by_rater in by_item.values():
        scores = [score(comparison, a, b) for a, b in combinations(by_rater.values(), 2)]
        asked += len(scores)
        if found := [one for one in scores if one is not None]:
            means.append(sum(found) / len(found))
            n_pairs += len(found)
    method = METHODS[comparison.by]
    if not means:
        return TextAgreement(comparison.name, method, None, 0, 0, asked, NOTHING_WRITTEN if asked else NOT_ENOUGH)
    return TextAgreement(comparison.name, method, sum(means) / len(means), n_pairs, len(means), asked - n_pairs)


def written(text: str) -> str:
    """A text by which it is the same as another: without its case and its white space."""
    return " ".join(text.split()).casefold()


def _key(comparison: Comparison, cells: Cells) -> tuple[str, ...]:
    return (*(written(cells[name]) for name in comparison.columns), *(cells[name] for name in comparison.exactly))


def _whole(comparison: Comparison, a: Cells, b: Cells) -> float:
    return float(_key(comparison, a) == _key(comparison, b))


def _same(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    """None where both left it blank."""
    there = any(cells[name] for cells in (a, b) for name in comparison.columns)
    return _whole(comparison, a, b) if there else None


def _word_f1(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    left, right = (cells[name] for cells in (a, b) for name in comparison.columns)
    return word_f1(left, right)


def word_f1(a: str, b: str) -> float | None:
    """F1 over the different words of two texts, whatever their case; None where neither has one."""
    left, right = _words_of(a), _words_of(b)
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else None


def _words_of(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[start:end] for start, end in words(folded)}


def _shared(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    (column,) = comparison.columns
    return jaccard(codes_of_cell(a[column]), codes_of_cell(b[column]))


def _set_f1(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    (column,) = comparison.columns
    return f1(codes_of_cell(a[column]), codes_of_cell(b[column]))


def _difference(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    """None where one of them gave no number: that is no distance."""
    (column,) = comparison.columns
    return abs(float(a[column]) - float(b[column])) if a[column] and b[column] else None


_SCORES: Mapping[By, Callable[[Comparison, Cells, Cells], float | None]] = {
    "same": _same, "words": _word_f1, "whole": _whole, "shared": _shared, "f1": _set_f1,
    "difference": _difference,
}  # fmt: skip
