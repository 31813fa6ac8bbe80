"""Evidence mapping: how well a ranking of an abstract's sentences finds those that people took as a target's evidence.

A *pair* is a target and one study. Its sentences are numbered from 0; its *gold* is the set of those that people took.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from measures.means import Mean, clustered_share

#: A target is shown so many candidates first; accuracy is counted at the first of them and at all.
FIRST = 3
_WORD = re.compile(r"\w+(?:[-'\u2019.]\w+)*")
#: Okapi BM25's two constants, at their usual values.
_K1, _B = 1.2, 0.75
#: Similarities that differ by less are equal: what is left of rounding must not decide an order.
_DIGITS = 9
#: A text so short may stand in a sentence by chance.
_LEAST = 20
#: NLM's category, or a word of the heading, of the sections that give the findings.
_FINDINGS = re.compile(r"result|outcome|finding", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Words and numbers, casefolded."""
    return [found.group().casefold() for found in _WORD.finditer(text)]


def lexical_similarities(target: str, sentences: Sequence[str]) -> list[float]:
    """BM25 of each of n sentences (n,), the target being the query and the n sentences the collection; >= 0.

    Source: S. Robertson and H. Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with the idf
    log(1 + (n - df + 0.5) / (df + 0.5)), which is never negative. A word counts once, however often the target has it.
    """
    told = [Counter(words(sentence)) for sentence in sentences]
    lengths = [sum(counts.values()) for counts in told]
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    asked = sorted(set(words(target)))
    df = {word: sum(word in counts for counts in told) for word in asked}
    idf = {word: math.log(1 + (len(told) - n + 0.5) / (n + 0.5)) for word, n in df.items()}
    return [
        math.fsum(
            idf[word] * counts[word] * (_K1 + 1) / (counts[word] + _K1 * (1 - _B + _B * length / mean))
            for word in asked
            if word in counts
        )
        for counts, length in zip(told, lengths, strict=True)
    ]


def ranked(similarities: Sequence[float]) -> list[int]:
    """The sentences by falling similarity; equal ones in the order of the abstract."""
    return sorted(range(len(similarities)), key=lambda n: (-round(similarities[n], _DIGITS), n))


@dataclass(frozen=True, slots=True)
class Section:
    """Under which heading of a structured abstract a sentence stands; both empty in an unstructured one."""

    heading: str = ""
    category: str = ""


def by_position(sections: Sequence[Section]) -> tuple[int, ...]:
    """The sentences that the position baseline takes, at most two: the first one of the outcomes or results section of
    a structured abstract, the last and the one before it of any other one."""
    for n, section in enumerate(sections):
        if section.category == "RESULTS" or _FINDINGS.search(section.heading):
            return (n,)
    last = len(sections) - 1
    return tuple(n for n in (last, last - 1) if n >= 0)


@dataclass(frozen=True, slots=True)
class Pair:
    """One target and one study that people mapped. ``order``: the sentences as ranked, best first; empty where they
    are not ranked. ``position``: what `by_position` takes. ``review`` (an id) is what intervals draw by."""

    review: int
    sentences: int
    gold: frozenset[int]
    order: tuple[int, ...] = ()
    position: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """``top_1``, ``top_3``, ``position``: shares of pairs with a hit, and their intervals over reviews; ``chance_1``,
    ``chance_3``: expected of a random order; ``sentences``: an abstract's, on average. None without pairs."""

    top_1: Mean
    top_3: Mean
    position: Mean
    chance_1: float | None
    chance_3: float | None
    sentences: float | None


def report(pairs: Iterable[Pair]) -> Report:
    """How often a sentence of the gold is ranked first, or among the first three, beside chance and the position
    baseline on the same pairs. Pairs that are not ranked, and those without gold, are left out."""
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
    """The probability that a random order has one of ``gold`` sentences among its ``first``: hypergeometric."""
    if not 0 <= gold <= sentences:
        raise ValueError("the gold is a part of the sentences")
    first = min(first, sentences)
    return float(1 - Fraction(math.comb(sentences - gold, first), math.comb(sentences, first)))


def located(text: str, sentences: Sequence[str]) -> frozenset[int]:
    """Which of n sentences a text is, or has, or is a part of: case and white space aside. Empty where none is."""
    said = plain(text)
    told = [plain(sentence) for sentence in sentences]
    if same := frozenset(n for n, sentence in enumerate(told) if sentence == said):
        return same
    inside = frozenset(n for n, sentence in enumerate(told) if len(sentence) >= _LEAST and sentence in said)
    return inside or frozenset(n for n, sentence in enumerate(told) if len(said) >= _LEAST and said in sentence)


def plain(text: str) -> str:
    """A text by which two are the same: case and white space aside."""
    return " ".join(text.split()).casefold()


def _hits(taken: Collection[int], gold: frozenset[int]) -> bool:
    return not gold.isdisjoint(taken)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
