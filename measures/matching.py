"""Items for a matching task: which sentence of an abstract is most relevant to a target, the gold one among three
others that are near to it and evidence for it nowhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from measures.evidence import located, plain

#: Candidates of an item: the gold sentence and three others.
CANDIDATES = 4
#: Accuracy of guessing.
CHANCE = 1 / CANDIDATES


def as_evidence(texts: Iterable[str], sentences: Sequence[str]) -> frozenset[int]:
    """Which of n sentences are, have, or are a part of a text that is evidence for the target, of whatever study."""
    return frozenset[int]().union(*(located(text, sentences) for text in texts))


def nearest_others(
    sentences: Sequence[str], evidence: Collection[int], order: Sequence[int], gold: int
) -> tuple[int, ...]:
    """The nearest sentences, three at most, that are no evidence and say something else than one another and the gold
    one, nearest first. ``order``: all n sentences from 0, the nearest to the target first.

    Fewer than three: no honest item can be made.
    """
    if sorted(order) != list(range(len(sentences))):
        raise ValueError("an order has each sentence once")
    said = {plain(sentences[gold])}
    found: list[int] = []
    for n in order:
        text = plain(sentences[n])
        if n in evidence or not text or text in said:
            continue
        found.append(n)
        said.add(text)
        if len(found) == CANDIDATES - 1:
            break
    return tuple(found)
