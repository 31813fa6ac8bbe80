"""By the words that a sentence shares with the target: wherever there is no model."""

from collections.abc import Sequence

from measures.evidence import lexical_similarities

from ..values.evidence import BY_WORDS
from .protocol import Comparer, Ranker


class LexicalRanker(Ranker):
    """BM25 within the abstract."""

    key = "words"
    title = "Shared words (BM25)"

    def name(self, model: str) -> str:
        return BY_WORDS

    def open(self, model: str) -> Comparer:
        return _Words()


class _Words:
    def similarities(self, targets: Sequence[str], sentences: Sequence[str]) -> list[list[float]]:
        return [lexical_similarities(target, sentences) for target in targets]
