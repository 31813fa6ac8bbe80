"""Sentences that say almost the same, and are labelled with opposite polarity.

Two sentences are near when their sets of words share nine tenths (Jaccard). Pairs are found by prefix filtering
(Chaudhuri, Ganti and Kaushik 2006; Xiao et al. 2008): of two such sets the rarest words of one must meet those of the
other, so that only sentences with a rare word in common are compared.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from measures.tokens import tokens_of

from .claims import NEGATIVE, POSITIVE, Claim, Cluster, Finding

NEAR = 0.9
#: Sentences of fewer words are alike by chance.
LEAST_WORDS = 6


def opposite(clusters: Iterable[Cluster]) -> Iterator[Finding]:
    """Pairs of near sentences of which one is labelled positive and the other negative; the nearest first by weight."""
    claims: dict[tuple[str, str], Claim] = {}
    for claim in chain.from_iterable(cluster.claims for cluster in clusters):
        if claim.polarity in (POSITIVE, NEGATIVE):
            # The very same sentence is the matter of another rule.
            claims.setdefault((claim.text, claim.polarity), claim)
    for one, other, share in pairs(list(claims.values())):
        yield Finding(
            "near duplicate", (one.unit, other.unit),
            f"Two sentences share {share:.0%} of their words; one is {one.polarity}, the other {other.polarity}.",
            (one.polarity, other.polarity), weight=share,
        )  # fmt: skip


def pairs(claims: list[Claim]) -> Iterator[tuple[Claim, Claim, float]]:
    """Near pairs of opposite polarity, with the share of words they have in common, in 0..1."""
    sets = [frozenset(key for key in tokens_of(claim.text).keys if key[0].isalnum()) for claim in claims]
    frequency = Counter(chain.from_iterable(sets))
    order = sorted((i for i, words in enumerate(sets) if len(words) >= LEAST_WORDS), key=lambda i: (len(sets[i]), i))
    holding: dict[str, list[int]] = defaultdict(list)
    for i in order:
        words = sorted(sets[i], key=lambda word: (frequency[word], word))
        prefix = words[: len(words) - math.ceil(NEAR * len(words)) + 1]
        for j in sorted({j for word in prefix for j in holding[word]}):
            if claims[i].polarity != claims[j].polarity and claims[i].text != claims[j].text:
                share = len(sets[i] & sets[j]) / len(sets[i] | sets[j])
                if share >= NEAR:
                    yield (*((claims[j], claims[i]) if j < i else (claims[i], claims[j])), share)
        for word in prefix:
            holding[word].append(i)
