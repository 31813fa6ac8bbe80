"""The methods: each ranks a unit's sentences, best first. What is equal is ranked in the order of the document."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from measures.rouge import RougeText, rouge

from ..assembly import SLOTS, chance
from ..protocol import Source
from .pieces import Sentence, Undefined
from .vectors import DIGITS, cosines, overlaps, text_rank, tf_idf

#: Graphs and vectors hold so many sentences in memory at most.
MOST_SENTENCES = 5000


Figures = npt.NDArray[np.float64]


class Encoder(Protocol):
    """What turns texts into vectors of length 1: (n, size)."""

    def encode(self, texts: Sequence[str]) -> Figures: ...


@dataclass(frozen=True)
class Task:
    """One unit to rank: its sentences, where they come from, what is configured, and the encoder where one is."""

    found: Sequence[Sentence]
    source: Source
    decoding: Mapping[str, Any]
    seed: int
    encoder: Encoder | None = None

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.found]

    def compared_with(self, field: str) -> str:
        """The text of a field of the unit (question, background, pico); `Undefined` where it has none."""
        match field:
            case "question":
                text = self.source.question
            case "background":
                text = self.source.background
            case _:
                text = " ".join(words for slot in SLOTS if (words := self.source.pico.get(slot, "")))
        if not text.strip():
            raise Undefined(f"The unit has no {'PICO tuple' if field == 'pico' else field} to compare with.")
        return text


def lead(task: Task) -> Iterable[int]:
    return range(len(task.found))


def lead_of_each(task: Task) -> Iterable[int]:
    return (index for index, sentence in enumerate(task.found) if sentence.opens)


def at_random(task: Task) -> Iterable[int]:
    """By the seed and the unit's key alone: the same whatever else is in the batch."""
    return chance(task.source, task.seed).sample(range(len(task.found)), len(task.found))


def best_rouge(task: Task) -> Iterable[int]:
    """By F1 of ROUGE-L (rouge-score's tokens, no stemmer) against a field of the unit."""
    reference = RougeText(task.compared_with(task.decoding["against"]))
    if not reference.tokens:
        raise Undefined(f"The unit's {task.decoding['against']} has no word to compare with.")
    return by_score([rouge(text, reference, kinds=("rougeL",))["rougeL"].f1 or 0.0 for text in task.texts])


def central(task: Task) -> Iterable[int]:
    """TextRank."""
    texts = _few(task.texts)
    similar = overlaps(texts) if task.decoding["similarity"] == "word overlap" else cosines(texts)
    scores = text_rank(similar, damping=task.decoding["damping"], tolerance=task.decoding["tolerance"])
    return by_score(np.round(scores, DIGITS))


def diverse(task: Task) -> Iterable[int]:
    """Maximal marginal relevance.

    Source: J. Carbonell and J. Goldstein, The Use of MMR, Diversity-Based Reranking (SIGIR 1998): the next sentence is
    the one with the largest lambda * cos(sentence, query) - (1 - lambda) * max cos(sentence, taken). The query is a
    field of the unit, or the mean of all sentences.
    """
    vectors, query = _vectors(task)

    def near(index: int) -> Figures:
        return np.asarray(vectors @ _row(vectors, index))

    return marginal(near, np.asarray(vectors @ query), task.decoding["trade_off"])


def marginal(near: Callable[[int], Figures], relevance: Figures, trade_off: float) -> Iterator[int]:
    """MMR's order of n sentences, found one by one, as asked for: ``near(i)`` are the (n,) similarities to sentence i,
    asked for once it is taken, and ``relevance`` the (n,) ones to the query."""
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    for taken in range(len(relevance)):
        scores = np.round(trade_off * relevance - (1 - trade_off) * nearest, DIGITS)
        best = int(np.argmax(np.where(left, scores, -np.inf)))
        yield best
        left[best] = False
        # Before anything is taken nothing is near; from then on a negative cosine counts as what it is.
        nearest = np.maximum(nearest, near(best)) if taken else near(best)


def _vectors(task: Task) -> tuple[Any, Figures]:
    """(n, size) vectors of the sentences, sparse or not, and (size,) the query's; all of length 1, or 0 for no word."""
    texts = _few(task.texts)
    field = task.decoding["relevance"]
    given = [] if field == "inputs" else [task.compared_with(field)]
    every = task.encoder.encode([*texts, *given]) if task.encoder else tf_idf([*texts, *given], among=len(texts))
    if given:
        return every[:-1], _row(every, len(texts))
    mean = np.asarray(every.mean(axis=0), dtype=np.float64).ravel()
    length = float(np.linalg.norm(mean))
    return every, mean / length if length > 0 else mean


def _row(vectors: Any, index: int) -> Figures:
    row = vectors[[index]]
    return np.asarray(row.todense() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def _few(texts: list[str]) -> list[str]:
    if len(texts) > MOST_SENTENCES:
        raise Undefined(f"The inputs have {len(texts)} sentences; this method takes {MOST_SENTENCES} at most.")
    return texts


def by_score(scores: Sequence[float] | Figures) -> list[int]:
    """Indices by falling score, equal ones in their order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])


METHODS: Mapping[str, Callable[[Task], Iterable[int]]] = {
    "lead": lead,
    "lead of each": lead_of_each,
    "random": at_random,
    "best ROUGE-L": best_rouge,
    "TextRank": central,
    "MMR": diverse,
}
