"""Agreement on marked spans: exact, by overlap, by word and by character, for one span and for sets of spans.

F1 of two sets is symmetric, 2 |both| / (|a| + |b|). If neither rater marked anything, the result is None, not 1, and
the pair is counted separately.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Literal, TypeVar

from .spans import Range, Ranges, merged, words

Unit = Literal["character", "token", "exact", "overlap"]
Item = TypeVar("Item", bound=Hashable)
Rater = TypeVar("Rater", bound=Hashable)
_start: Callable[[Range], int] = itemgetter(0)
_end: Callable[[Range], int] = itemgetter(1)


def exact(a: Ranges, b: Ranges) -> bool:
    """Whether two spans cover the same characters, even if split into different fragments."""
    return merged(a) == merged(b)


def overlap(a: Ranges, b: Ranges) -> bool:
    """Whether two spans share at least one character."""
    return shared_characters(a, b) > 0


def shared_characters(a: Ranges, b: Ranges) -> int:
    """Return the number of characters in both spans."""
    left, right = merged(a), merged(b)
    i = j = total = 0
    while i < len(left) and j < len(right):
        total += max(0, min(left[i][1], right[j][1]) - max(left[i][0], right[j][0]))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return total


def character_f1(a: Ranges, b: Ranges) -> float | None:
    """Return F1 over characters, or None if both spans are empty."""
    return _f1(shared_characters(a, b), _length(a), _length(b))


def token_f1(text: str, a: Ranges, b: Ranges) -> float | None:
    """Return F1 over the words that a span touches, or None if neither touches a word."""
    tokens = words(text)
    return _sets_f1(tokens_touched(tokens, a), tokens_touched(tokens, b))


def tokens_touched(tokens: Sequence[Range], ranges: Ranges) -> frozenset[int]:
    """Return the indices of the words that share a character with the ranges."""
    touched: list[int] = []
    behind = 0
    for start, end in merged(ranges):
        # The words from the first that ends after the range's start to the last that starts before the range's end.
        behind = bisect_right(tokens, start, lo=behind, key=_end)
        touched.extend(range(behind, bisect_left(tokens, end, lo=behind, key=_start)))
    return frozenset(touched)


def binary_kappa(n: int, a: frozenset[int], b: frozenset[int]) -> float:
    """Return Cohen's kappa (1960) of two raters who marked ``a`` and ``b`` of ``n`` words, of which one is marked.

    It is 1 if both marked all words, where the coefficient itself is undefined.
    """
    both, neither = len(a & b), n - len(a | b)
    observed = (both + neither) / n
    expected = (len(a) * len(b) + (n - len(a)) * (n - len(b))) / n**2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def span_set_f1(a: Sequence[Ranges], b: Sequence[Ranges], match: Literal["exact", "overlap"] = "exact") -> float | None:
    """Return F1 over whole spans with a maximum one-to-one matching, or None without spans on either side.

    ``exact``: spans match if they cover the same characters. ``overlap``: they match if they share a character. Spans
    may overlap and cross.
    """
    same = exact if match == "exact" else overlap
    edges = [[j for j, other in enumerate(b) if same(span, other)] for span in a]
    return _f1(_largest_matching(edges, len(b)), len(a), len(b))


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Mean pairwise agreement on spans.

    ``value`` is the mean over items of the mean over rater pairs in which at least one rater marked something. It is
    None when ``undefined`` gives the reason. ``n_items`` and ``n_pairs`` were compared. In ``n_both_empty`` further
    pairs neither rater marked anything.
    """

    value: float | None
    unit: Unit
    n_items: int
    n_pairs: int
    n_both_empty: int
    undefined: str | None = None


def span_f1(
    texts: Mapping[Item, str], spans: Mapping[Item, Mapping[Rater, Ranges]], unit: Unit = "token"
) -> SpanAgreement:
    """Return the agreement of raters on the span of each item.

    ``spans[item][rater]`` are the fragments that a rater marked in ``texts[item]``, () for "no span". A rater without
    an entry did not rate the item. ``unit`` is token or character F1, or exact or overlap (1 or 0 per pair).
    """
    means: list[float] = []
    n_pairs = both_empty = compared = 0
    for item, by_rater in spans.items():
        pairs = len(by_rater) * (len(by_rater) - 1) // 2
        compared += pairs
        scores = _pair_scores(texts[item], [merged(span) for span in by_rater.values()], unit) if pairs else []
        both_empty += pairs - len(scores)
        if scores:
            means.append(sum(scores) / len(scores))
            n_pairs += len(scores)
    if not means:
        why = "no span marked" if compared else "not enough ratings"
        return SpanAgreement(None, unit, 0, 0, both_empty, why)
    return SpanAgreement(sum(means) / len(means), unit, len(means), n_pairs, both_empty)


def _pair_scores(text: str, spans: Sequence[Ranges], unit: Unit) -> list[float]:
    """Return the scores of all pairs of merged spans of one text in which at least one is not empty.

    The text is tokenized once, and the words of each span are determined once.
    """
    if not any(spans):
        return []
    pairs = [(i, j) for i, j in combinations(range(len(spans)), 2) if spans[i] or spans[j]]
    if unit != "token":
        return [_score(spans[i], spans[j], unit) for i, j in pairs]
    tokens = words(text)
    touched = [tokens_touched(tokens, span) if span else frozenset() for span in spans]
    scores = ((_sets_f1(touched[i], touched[j]), i, j) for i, j in pairs)
    # If only punctuation is marked, there are no words, so characters are compared.
    return [_score(spans[i], spans[j], "character") if score is None else score for score, i, j in scores]


def _score(a: Ranges, b: Ranges, unit: Unit) -> float:
    """Return the score of two spans, of which at least one is not empty."""
    if unit == "character":
        return character_f1(a, b) or 0.0
    return float(a == b if unit == "exact" else overlap(a, b))


def _sets_f1(a: frozenset[int], b: frozenset[int]) -> float | None:
    return _f1(len(a & b), len(a), len(b))


def _length(ranges: Ranges) -> int:
    return sum(end - start for start, end in merged(ranges))


def _f1(both: int, a: int, b: int) -> float | None:
    return 2 * both / (a + b) if a + b else None


def _largest_matching(edges: Sequence[Sequence[int]], n_right: int) -> int:
    """Return the size of a maximum one-to-one matching by augmenting paths.

    A greedy matching would depend on the order.
    """
    partner: list[int | None] = [None] * n_right

    def place(left: int, tried: set[int]) -> bool:
        for right in edges[left]:
            if right in tried:
                continue
            tried.add(right)
            holder = partner[right]
            if holder is None or place(holder, tried):
                partner[right] = left
                return True
        return False

    return sum(place(left, set()) for left in range(len(edges)))


BETWEEN = ";"


def as_cell(codes: Iterable[str]) -> str:
    """Return a set of codes as one cell, sorted. Raise ValueError for a code that a cell cannot hold."""
    sorted_codes = sorted(set(codes))
    for code in sorted_codes:
        if BETWEEN in code or code != code.strip() or not code:
            raise ValueError(f"a set in a cell cannot hold {code!r}: it is empty, or has a {BETWEEN!r} or outer spaces")
    return f"{BETWEEN} ".join(sorted_codes)


def codes_of_cell(cell: str) -> frozenset[str]:
    """Return the set of codes of a cell made by `as_cell`; an empty cell is the empty set."""
    return frozenset(code for part in cell.split(BETWEEN) if (code := part.strip()))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float | None:
    """Return the Jaccard index (1912) of two sets, 0..1, or None if both are empty."""
    return len(one & other) / len(one | other) if one or other else None


def f1(one: frozenset[str], other: frozenset[str]) -> float | None:
    """Return F1 (Dice 1945) of two sets, 0..1, or None if both are empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else None
