"""Agreement on spans, written texts, sets and numbers, by column of a table of answers.

These figures are used where a coefficient does not apply or is not sufficient. Every figure is a mean over items of the
mean over rater pairs. Pairs in which both values are empty are left out and counted separately. Cells have the format
of a release's ``answers/*.csv``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

from measures.span_agreement import span_f1
from measures.spans import Ranges, blank_separated, ranges_of_cell, spans_of_cell, words

from .span_agreement import binary_kappa, codes_of_cell, f1, jaccard, span_set_f1, tokens_touched

#: token, exact: one marked span. spans, overlap: sets of marked spans, matched one to one. kappa: the words of a set of
#: marked spans. same, words: written texts.
#: whole: all columns together. shared, f1: sets of codes (`measures.span_agreement`). difference: numbers in their
#: unit; smaller is better.
By = Literal["token", "exact", "spans", "overlap", "kappa", "same", "words", "whole", "shared", "f1", "difference"]
METHODS: Mapping[By, str] = {
    "token": "mean pairwise F1 of words",
    "exact": "share of identical spans",
    "spans": "mean pairwise F1 of spans, same characters",
    "overlap": "mean pairwise F1 of spans, shared characters",
    "kappa": "mean pairwise Cohen's kappa of words, marked or not",
    "same": "share of same texts",
    "words": "mean pairwise F1 of words",
    "whole": "share of same tuples",
    "shared": "mean pairwise Jaccard index",
    "f1": "mean pairwise F1 of sets",
    "difference": "mean absolute difference",
}
NOTHING_WRITTEN = "all left it blank"
NOTHING_MARKED = "no span marked"
NOT_ENOUGH = "not enough ratings"
Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two answers to one item.

    ``columns`` hold one span (`ranges_of_cell`), a set of spans (`spans_of_cell`), or texts, compared ignoring case and
    white space. The columns in ``exactly`` must be identical, too.
    """

    name: str
    by: By
    columns: tuple[str, ...]
    exactly: tuple[str, ...] = ()

    @property
    def of_spans(self) -> bool:
        """Whether the texts of the items are needed: the words of a span are those of its text."""
        return self.by in ("token", "exact", "kappa")

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "by": self.by, "columns": list(self.columns), "exactly": list(self.exactly)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Comparison:
        return cls(stored["name"], stored["by"], tuple(stored["columns"]), tuple(stored["exactly"]))


@dataclass(frozen=True, slots=True)
class TextAgreement:
    """Agreement by one comparison. ``value`` is None exactly when ``undefined`` gives the reason.

    ``pairs`` of ``units`` were compared. In ``both_empty`` further pairs there was nothing to compare.
    """

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
    answers: Iterable[tuple[Hashable, Hashable, Cells]],
    texts: Mapping[Hashable, str],
) -> list[TextAgreement]:
    """Return each comparison over all answers (item, rater, cells). ``texts`` holds the texts of items with spans."""
    by_item: dict[Hashable, dict[Hashable, Cells]] = {}
    for item, rater, cells in answers:
        by_item.setdefault(item, {})[rater] = cells
    marked: dict[str, dict[Hashable, dict[Hashable, Ranges]]] = {}
    out = []
    for comparison in comparisons:
        if not comparison.of_spans:
            out.append(_written(comparison, by_item))
            continue
        (column,) = comparison.columns
        if comparison.by == "kappa":
            out.append(_word_kappa(comparison, by_item, texts))
            continue
        if column not in marked:
            marked[column] = {
                item: {rater: ranges_of_cell(cells[column]) for rater, cells in by_rater.items()}
                for item, by_rater in by_item.items()
            }
        f1 = span_f1(texts, marked[column], "token" if comparison.by == "token" else "exact")
        method = METHODS[comparison.by]
        out.append(
            TextAgreement(comparison.name, method, f1.value, f1.n_pairs, f1.n_items, f1.n_both_empty, f1.undefined)
        )
    return out


def pooled(parts: Sequence[TextAgreement]) -> TextAgreement:
    """Combine agreement over disjoint sets of items: the mean of the parts, weighted by their numbers of items."""
    if len(parts) == 1:
        return parts[0]
    units = sum(part.units for part in parts)
    reference = next((part for part in parts if part.both_empty), parts[0])
    return replace(
        parts[0],
        value=math.fsum(part.value * part.units for part in parts if part.value is not None) / units if units else None,
        pairs=sum(part.pairs for part in parts),
        units=units,
        both_empty=sum(part.both_empty for part in parts),
        undefined=None if units else reference.undefined,
    )


def _written(comparison: Comparison, by_item: Mapping[Hashable, Mapping[Hashable, Cells]]) -> TextAgreement:
    score = _SCORES[comparison.by]
    means: list[float] = []
    n_pairs = n_written = 0
    for by_rater in by_item.values():
        scores = [score(comparison, a, b) for a, b in combinations(by_rater.values(), 2)]
        n_written += len(scores)
        if defined := [one for one in scores if one is not None]:
            means.append(sum(defined) / len(defined))
            n_pairs += len(defined)
    method = METHODS[comparison.by]
    if not means:
        nothing = NOTHING_MARKED if comparison.by in ("spans", "overlap") else NOTHING_WRITTEN
        return TextAgreement(comparison.name, method, None, 0, 0, n_written, nothing if n_written else NOT_ENOUGH)
    return TextAgreement(comparison.name, method, sum(means) / len(means), n_pairs, len(means), n_written - n_pairs)


def _word_kappa(
    comparison: Comparison, by_item: Mapping[Hashable, Mapping[Hashable, Cells]], texts: Mapping[Hashable, str]
) -> TextAgreement:
    (column,) = comparison.columns
    means: list[float] = []
    n_pairs = n_both_empty = 0
    for item, by_rater in by_item.items():
        if len(by_rater) < 2:
            continue
        tokens = blank_separated(texts[item])
        touched = [
            tokens_touched(tokens, [each for span in spans_of_cell(cells[column]) for each in span])
            for cells in by_rater.values()
        ]
        kappas = [binary_kappa(len(tokens), a, b) for a, b in combinations(touched, 2) if a or b]
        n_both_empty += sum(1 for a, b in combinations(touched, 2) if not a and not b)
        if kappas:
            means.append(sum(kappas) / len(kappas))
            n_pairs += len(kappas)
    method = METHODS[comparison.by]
    if not means:
        why = NOTHING_MARKED if n_both_empty else NOT_ENOUGH
        return TextAgreement(comparison.name, method, None, 0, 0, n_both_empty, why)
    return TextAgreement(comparison.name, method, sum(means) / len(means), n_pairs, len(means), n_both_empty)


def written(text: str) -> str:
    """Normalise case and white space, for comparison."""
    return " ".join(text.split()).casefold()


def _key(comparison: Comparison, cells: Cells) -> tuple[str, ...]:
    return (*(written(cells[name]) for name in comparison.columns), *(cells[name] for name in comparison.exactly))


def _whole(comparison: Comparison, a: Cells, b: Cells) -> float:
    return float(_key(comparison, a) == _key(comparison, b))


def _same(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    """Return whether two texts are equal, or None if both are blank."""
    has_value = any(cells[name] for cells in (a, b) for name in comparison.columns)
    return _whole(comparison, a, b) if has_value else None


def _word_f1(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    left, right = (cells[name] for cells in (a, b) for name in comparison.columns)
    return word_f1(left, right)


def word_f1(a: str, b: str) -> float | None:
    """Return F1 over the distinct words of two texts ignoring case, or None if neither has a word."""
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
    """Return the distance of two numbers, or None if one is missing."""
    (column,) = comparison.columns
    return abs(float(a[column]) - float(b[column])) if a[column] and b[column] else None


def _same_spans(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    (column,) = comparison.columns
    return span_set_f1(spans_of_cell(a[column]), spans_of_cell(b[column]))


def _overlapping_spans(comparison: Comparison, a: Cells, b: Cells) -> float | None:
    (column,) = comparison.columns
    return span_set_f1(spans_of_cell(a[column]), spans_of_cell(b[column]), "overlap")


_SCORES: Mapping[By, Callable[[Comparison, Cells, Cells], float | None]] = {
    "spans": _same_spans,
    "overlap": _overlapping_spans,
    "same": _same,
    "words": _word_f1,
    "whole": _whole,
    "shared": _shared,
    "f1": _set_f1,
    "difference": _difference,
}
