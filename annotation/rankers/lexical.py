"""Lexical ranker: BM25 over the words that a sentence shares with the target. It needs no model."""

from collections.abc import Sequence

from measures.evidence import lexical_similarities

from .protocol import BY_WORDS, Comparer, Ranker


class LexicalRanker(Ranker):
    key = "words"
    title = "Shared words (BM25)"

    def name(self, model: str) -> str:
        return BY_WORDS

    def open(self, model: str) -> Comparer:
        return _Words()


class _Words:
    def similarities(self, targets: Sequence[str], sentences: Sequence[str]) -> list[list[float]]:
        return [lexical_similarities(target, sentences) for target in targets]
