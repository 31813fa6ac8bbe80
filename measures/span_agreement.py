"""How far two people marked the same: exact, by overlap, by word, by character; for one cue and for sets of spans.

F1 of two sets is symmetric, 2 |both| / (|a| + |b|). Where neither marked anything there is nothing to compare: the
result is None, not 1, and counts apart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Literal, TypeVar

from measures.spans import Range, Ranges, merged, words

Unit = Literal["character", "token", "exact", "overlap"]
Item = TypeVar("Item", bound=Hashable)
Rater = TypeVar("Rater", bound=Hashable)
_start: Callable[[Range], int] = itemgetter(0)
_end: Callable[[Range], int] = itemgetter(1)


def exact(a: Ranges, b: Ranges) -> bool:
    """Whether two spans show the same characters (however they are cut into fragments)."""
    return merged(a) == merged(b)


def overlap(a: Ranges, b: Ranges) -> bool:
    """Whether two spans share at least one character."""
    return shared_characters(a, b) > 0


def shared_characters(a: Ranges, b: Ranges) -> int:
    """How many characters lie in both."""
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
    """F1 over characters; None when both are empty."""
    return _f1(shared_characters(a, b), _length(a), _length(b))


def token_f1(text: str, a: Ranges, b: Ranges) -> float | None:
    """F1 over the words that a span touches; None when neither touches a word."""
    tokens = words(text)
    return _sets_f1(tokens_touched(tokens, a), tokens_touched(tokens, b))


def tokens_touched(tokens: Sequence[Range], ranges: Ranges) -> frozenset[int]:
    """The indices of the words that share a character with the ranges."""
    touched: list[int] = []
    behind = 0
    for start, end in merged(ranges):
        # The words from the first that ends behind the part's beginning to the last that begins before its end.
        behind = bisect_right(tokens, start, lo=behind, key=_end)
        touched.extend(range(behind, bisect_left(tokens, end, lo=behind, key=_start)))
    return frozenset(touched)


def span_set_f1(a: Sequence[Ranges], b: Sequence[Ranges], match: Literal["exact", "overlap"] = "exact") -> float | None:
    """F1 over whole spans, matched one to one (as many as possible); None when there is no span on either side.

    ``exact``: the same characters; ``overlap``: at least one in common. Spans may overlap and cross.
    """
    same = exact if match == "exact" else overlap
    edges = [[j for j, other in enumerate(b) if same(span, other)] for span in a]
    return _f1(_largest_matching(edges, len(b)), len(a), len(b))


@dataclass(frozen=True, slots=True)
class CueAgreement:
    """Mean pairwise agreement on cues.

    ``value``: the mean over items of the mean over rater pairs of which at least one marked something; None when
    ``undefined`` says why. ``n_items`` and ``n_pairs`` were compared; ``n_both_empty`` pairs marked nothing, alike.
    """

    value: float | None
    unit: Unit
    n_items: int
    n_pairs: int
    n_both_empty: int
    undefined: str | None = None


def cue_f1(
    texts: Mapping[Item, str],
    cues: Mapping[Item, Mapping[Rater, Ranges]],
    unit: Unit = "token",
) -> CueAgreement:
    """Agreement over raters on the cue of each item.

    ``cues[item][rater]`` are the fragments that a rater marked in ``texts[item]``, () for "no cue"; a rater who did
    not do the item is left out of it. ``unit``: token or character F1, or exact or overlap (1 or 0 a pair).
    """
    means: list[float] = []
    n_pairs = both_empty = compared = 0
    for item, by_rater in cues.items():
        pairs = len(by_rater) * (len(by_rater) - 1) // 2
        compared += pairs
        scores = _pair_scores(texts[item], [merged(cue) for cue in by_rater.values()], unit) if pairs else []
        both_empty += pairs - len(scores)
        if scores:
            means.append(sum(scores) / len(scores))
            n_pairs += len(scores)
    if not means:
        why = "no cue marked" if compared else "not enough ratings"
        return CueAgreement(None, unit, 0, 0, both_empty, why)
    return CueAgreement(sum(means) / len(means), unit, len(means), n_pairs, both_empty)


def _pair_scores(text: str, cues: Sequence[Ranges], unit: Unit) -> list[float]:
    """The score of every pair of these merged cues of one text of which at least one is not empty. The text is cut into
    words once, and what each cue touches is looked up once."""
    if not any(cues):
        return []
    pairs = [(i, j) for i, j in combinations(range(len(cues)), 2) if cues[i] or cues[j]]
    if unit != "token":
        return [_score(cues[i], cues[j], unit) for i, j in pairs]
    tokens = words(text)
    touched = [tokens_touched(tokens, cue) if cue else frozenset() for cue in cues]
    found = ((_sets_f1(touched[i], touched[j]), i, j) for i, j in pairs)
    # Only punctuation marked: there is no word to compare.
    return [_score(cues[i], cues[j], "character") if score is None else score for score, i, j in found]


def _score(a: Ranges, b: Ranges, unit: Unit) -> float:
    """Of two cues of which one marks something."""
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
    """The size of a largest one-to-one matching (augmenting paths): greedy choice would depend on the order."""
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
