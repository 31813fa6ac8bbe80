"""Evaluate evidence rankings: whether a ranking of an abstract's sentences finds the annotated evidence of a target.

A *pair* is a target and one study. Its sentences are numbered from 0. Its *gold* is the set of annotated sentences.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .means import Mean, clustered_share

#: Number of candidates that are shown first. Accuracy is computed at 1 and at this number.
FIRST = 3
_WORD = re.compile(r"\w+(?:[-'\u2019.]\w+)*")
#: The two constants of Okapi BM25, at their usual values.
_K1, _B = 1.2, 0.75
#: Similarities are rounded to this number of digits, so that rounding errors do not decide an order.
_DIGITS = 9
#: Minimum length of a text to be matched inside another one. Shorter texts may match by chance.
_LEAST = 20
#: NLM's category, or a word in the heading, of sections that report findings.
_FINDINGS = re.compile(r"result|outcome|finding", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Return words and numbers, casefolded."""
    return [match.group().casefold() for match in _WORD.finditer(text)]


def lexical_similarities(target: str, sentences: Sequence[str]) -> list[float]:
    """Return BM25 similarities (n,) of n sentences to the target (the query); >= 0.

    The n sentences are the collection. Source: S. Robertson and H. Zaragoza, *The Probabilistic Relevance Framework:
    BM25 and Beyond* (2009), with the idf log(1 + (n - df + 0.5) / (df + 0.5)), which is never negative. A repeated word
    of the target counts once.
    """
    word_counts = [Counter(words(sentence)) for sentence in sentences]
    lengths = [sum(counts.values()) for counts in word_counts]
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    target_words = sorted(set(words(target)))
    df = {word: sum(word in counts for counts in word_counts) for word in target_words}
    idf = {word: math.log(1 + (len(word_counts) - n + 0.5) / (n + 0.5)) for word, n in df.items()}
    return [
        math.fsum(
            idf[word] * counts[word] * (_K1 + 1) / (counts[word] + _K1 * (1 - _B + _B * length / mean))
            for word in target_words
            if word in counts
        )
        for counts, length in zip(word_counts, lengths, strict=True)
    ]


def ranked(similarities: Sequence[float]) -> list[int]:
    """Return sentence numbers by falling similarity. Ties keep the order of the abstract."""
    return sorted(range(len(similarities)), key=lambda n: (-round(similarities[n], _DIGITS), n))


@dataclass(frozen=True, slots=True)
class Section:
    """The section of a structured abstract that contains a sentence; both fields are empty in an unstructured
    abstract.
    """

    heading: str = ""
    category: str = ""


def by_position(sections: Sequence[Section]) -> tuple[int, ...]:
    """Return the sentences of the position baseline, at most two.

    For a structured abstract this is the first sentence of the results or outcomes section. Otherwise these are the
    last two sentences, the last first.
    """
    for n, section in enumerate(sections):
        if section.category == "RESULTS" or _FINDINGS.search(section.heading):
            return (n,)
    last = len(sections) - 1
    return tuple(n for n in (last, last - 1) if n >= 0)


@dataclass(frozen=True, slots=True)
class Pair:
    """One annotated pair of target and study.

    ``order``: the sentences as ranked, best first; empty if they are not ranked. ``position``: the result of
    `by_position`. ``review``: the id by which intervals are clustered.
    """

    review: int
    sentences: int
    gold: frozenset[int]
    order: tuple[int, ...] = ()
    position: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Accuracy of the ranking. All figures are None without pairs.

    ``top_1``, ``top_3``, ``position``: shares of pairs with a hit, with intervals over reviews. ``chance_1``,
    ``chance_3``: expected shares of a random order. ``sentences``: mean number of sentences per abstract.
    """

    top_1: Mean
    top_3: Mean
    position: Mean
    chance_1: float | None
    chance_3: float | None
    sentences: float | None


def report(pairs: Iterable[Pair]) -> Report:
    """Return how often a gold sentence is ranked first or in the first three.

    Chance and the position baseline are computed on the same pairs. Pairs without a ranking or without gold are left
    out.
    """
    counted = [pair for pair in pairs if pair.order and pair.gold]

    reviews = [pair.review for pair in counted]

    def share(hits: Iterable[bool]) -> Mean:
        return clustered_share([float(hit) for hit in hits], reviews)

    return Report(
        top_1=share(_hits(pair.order[:1], pair.gold) for pair in counted),
        top_3=share(_hits(pair.order[:FIRST], pair.gold) for pair in counted),
        position=share(_hits(pair.position, pair.gold) for pair in counted),
        chance_1=_mean([chance(pair.sentences, len(pair.gold), 1) for pair in counted]),
        chance_3=_mean([chance(pair.sentences, len(pair.gold), FIRST) for pair in counted]),
        sentences=_mean([float(pair.sentences) for pair in counted]),
    )


def chance(sentences: int, gold: int, first: int) -> float:
    """Return the probability that a random order has a gold sentence among the ``first``: hypergeometric."""
    if not 0 <= gold <= sentences:
        raise ValueError("the gold is a part of the sentences")
    first = min(first, sentences)
    return float(1 - Fraction(math.comb(sentences - gold, first), math.comb(sentences, first)))


def located(text: str, sentences: Sequence[str]) -> frozenset[int]:
    """Return the sentences that equal, contain, or are part of a text, ignoring case and white space."""
    return located_plain(plain(text), [plain(sentence) for sentence in sentences])


def located_plain(quote: str, sentences: Sequence[str]) -> frozenset[int]:
    """Return `located` for texts that are already normalised by `plain`."""
    if same := frozenset(n for n, sentence in enumerate(sentences) if sentence == quote):
        return same
    inside = frozenset(n for n, sentence in enumerate(sentences) if len(sentence) >= _LEAST and sentence in quote)
    return inside or frozenset(n for n, sentence in enumerate(sentences) if len(quote) >= _LEAST and quote in sentence)


def plain(text: str) -> str:
    """Normalise case and white space, for comparison."""
    return " ".join(text.split()).casefold()


def _hits(selected: Collection[int], gold: frozenset[int]) -> bool:
    return not gold.isdisjoint(selected)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


#: Number of candidates of an item: the gold sentence and three others.
CANDIDATES = 4
#: Expected accuracy of random answers.
CHANCE = 1 / CANDIDATES


def as_evidence(texts: Iterable[str], sentences: Sequence[str]) -> frozenset[int]:
    """Return the sentences that equal, contain, or are part of a text that is evidence for the target in any study."""
    return plain_as_evidence(map(plain, texts), [plain(sentence) for sentence in sentences])


def plain_as_evidence(texts: Iterable[str], sentences: Sequence[str]) -> frozenset[int]:
    """Return `as_evidence` for texts that are already normalised by `plain`."""
    return frozenset[int]().union(*(located_plain(text, sentences) for text in texts))


def has_others(sentences: Sequence[str], evidence: Collection[int], gold: int) -> bool:
    """Whether `nearest_others` finds three sentences, in any order. ``sentences`` are normalised by `plain`."""
    others = {text for n, text in enumerate(sentences) if n not in evidence} - {"", sentences[gold]}
    return len(others) >= CANDIDATES - 1


def nearest_others(
    sentences: Sequence[str], evidence: Collection[int], order: Sequence[int], gold: int
) -> tuple[int, ...]:
    """Return at most three distractors, the nearest to the target first.

    Distractors are not evidence, and differ in text from one another and from the gold sentence. ``order`` holds all n
    sentence numbers from 0, the nearest to the target first. With fewer than three distractors, no valid item can be
    created.
    """
    if sorted(order) != list(range(len(sentences))):
        raise ValueError("an order has each sentence once")
    seen = {plain(sentences[gold])}
    numbers: list[int] = []
    for n in order:
        text = plain(sentences[n])
        if n in evidence or not text or text in seen:
            continue
        numbers.append(n)
        seen.add(text)
        if len(numbers) == CANDIDATES - 1:
            break
    return tuple(numbers)
