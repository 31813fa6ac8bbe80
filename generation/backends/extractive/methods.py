"""Extraction methods. Each ranks the sentences of a unit, best first; ties keep document order."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from generation.backends.assembly import SLOTS, chance
from generation.backends.extractive.pieces import Sentence, Undefined
from generation.backends.protocol import Source
from measures.rouge import RougeText, rouge, rouge_tokens

Matrix = npt.NDArray[np.float64]
#: Number of decimals to which scores are compared. Smaller differences are ties on every machine, and the earlier
#: sentence wins.
DIGITS = 9


def counts(texts: Sequence[str]) -> Any:
    """Return the (n, words) counts of each word in each text. A word is a run of a-z and 0-9, in lower case."""
    columns: dict[str, int] = {}
    rows, cols = [], []
    for row, text in enumerate(texts):
        for token in rouge_tokens(text):
            rows.append(row)
            cols.append(columns.setdefault(token, len(columns)))
    shape = (len(texts), max(len(columns), 1))
    return sparse.coo_array((np.ones(len(rows)), (rows, cols)), shape=shape).tocsr()


def tf_idf(texts: Sequence[str], *, among: int | None = None) -> Any:
    """Return the (n, words) tf-idf vectors, of length 1, or 0 for a text without words.

    tf is the count. idf is ln((1 + N) / (1 + df)) + 1 over the first ``among`` texts (all if None), the smoothed form
    that scikit-learn uses.
    """
    table = counts(texts)
    base = table[:among]
    document_counts = np.bincount(base.indices, minlength=table.shape[1])
    weighted = (table * (np.log((1 + base.shape[0]) / (1 + document_counts)) + 1)).tocsr()
    lengths = np.sqrt((weighted * weighted).sum(axis=1))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.csr_array(weighted * scale[:, None])


def cosines(texts: Sequence[str]) -> Matrix:
    """Return the (n, n) cosines of the tf-idf vectors."""
    vectors = tf_idf(texts)
    return np.asarray((vectors @ vectors.T).todense(), dtype=np.float64)


def overlap_similarities(texts: Sequence[str]) -> Matrix:
    """Return the (n, n) TextRank similarities: the number of shared words, divided by the sum of the log lengths in
    words.

    Source: R. Mihalcea and P. Tarau, TextRank: Bringing Order into Texts (EMNLP 2004), section 4.1. Words are as in
    `counts`; none are left out. The similarity is 0 if both sentences have at most one word, where the quotient of the
    paper is undefined.
    """
    table = counts(texts)
    lengths = np.asarray(table.sum(axis=1), dtype=np.float64)
    # ln 1 = 0 for one word. A text without words shares none, so it gets 0 as well.
    logs = np.log(np.maximum(lengths, 1.0))
    present = table.sign()
    shared = np.asarray((present @ present.T).todense(), dtype=np.float64)
    denominator = logs[:, None] + logs[None, :]
    similar: Matrix = np.divide(shared, denominator, out=np.zeros_like(shared), where=denominator > 0)
    return similar


def text_rank(similarities: Matrix, *, damping: float, tolerance: float) -> Matrix:
    """Return the (n,) TextRank scores of the nodes of a weighted graph. The diagonal is ignored.

    score_i = (1 - damping) + damping * sum_j w_ij / sum_k w_jk * score_j. Power iteration starts from 1 and ends when
    no score moves by ``tolerance`` or more. The iteration is a contraction, so it converges.
    """
    weights = similarities.copy()
    np.fill_diagonal(weights, 0.0)
    sums = weights.sum(axis=1)
    # Index (j, i). A node without edges passes no score on.
    transitions = np.divide(weights, sums[:, None], out=np.zeros_like(weights), where=sums[:, None] > 0)
    scores: Matrix = np.ones(len(weights))
    for _ in range(_max_iterations(len(weights), damping, tolerance)):
        updated: Matrix = (1 - damping) + damping * (scores @ transitions)
        change = float(np.abs(updated - scores).max())
        scores = updated
        if change < tolerance:
            break
    return scores


def _max_iterations(nodes: int, damping: float, tolerance: float) -> int:
    """Return a sufficient number of iterations.

    The sum of all moves starts at most at ``nodes`` and shrinks by the damping.
    """
    if damping == 0:
        return 1
    return math.ceil(math.log(tolerance / (2 * nodes)) / math.log(damping)) + 1


#: Maximum number of sentences of the methods that hold a graph or vectors in memory.
MAX_SENTENCES = 5000


Figures = npt.NDArray[np.float64]


class Encoder(Protocol):
    """Encoder of texts as vectors of length 1, with shape (n, size)."""

    def encode(self, texts: Sequence[str]) -> Figures: ...


@dataclass(frozen=True)
class Task:
    """One unit to rank: its sentences, its source, the decoding parameters and the encoder, if any."""

    found: Sequence[Sentence]
    source: Source
    decoding: Mapping[str, Any]
    seed: int
    encoder: Encoder | None = None

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.found]

    def compared_with(self, field: str) -> str:
        """Return the text of a field of the unit (question, background or pico). Raise `Undefined` if it is blank."""
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


def rank_lead(task: Task) -> Iterable[int]:
    return range(len(task.found))


def rank_first_of_each(task: Task) -> Iterable[int]:
    return (index for index, sentence in enumerate(task.found) if sentence.opens)


def rank_at_random(task: Task) -> Iterable[int]:
    """Rank at random. The order depends on the seed and the key of the unit only, not on the batch."""
    return chance(task.source, task.seed).sample(range(len(task.found)), len(task.found))


def rank_by_rouge(task: Task) -> Iterable[int]:
    """Rank by ROUGE-L F1 (rouge-score tokens, no stemmer) against a field of the unit."""
    reference = RougeText(task.compared_with(task.decoding["against"]))
    if not reference.tokens:
        raise Undefined(f"The unit's {task.decoding['against']} contains no words to compare with.")
    return sort_by_score([rouge(text, reference, kinds=("rougeL",))["rougeL"].f1 or 0.0 for text in task.texts])


def rank_by_text_rank(task: Task) -> Iterable[int]:
    """Rank by TextRank."""
    texts = _check_size(task.texts)
    similar = overlap_similarities(texts) if task.decoding["similarity"] == "word overlap" else cosines(texts)
    scores = text_rank(similar, damping=task.decoding["damping"], tolerance=task.decoding["tolerance"])
    return sort_by_score(np.round(scores, DIGITS))


def rank_by_mmr(task: Task) -> Iterable[int]:
    """Rank by maximal marginal relevance (MMR).

    Source: J. Carbonell and J. Goldstein, The Use of MMR, Diversity-Based Reranking (SIGIR 1998). The next sentence
    maximises lambda * cos(sentence, query) - (1 - lambda) * max cos(sentence, selected). The query is a field of the
    unit, or the mean of all sentences.
    """
    vectors, query = _vectors(task)

    def similarities(index: int) -> Figures:
        return np.asarray(vectors @ _row(vectors, index))

    return marginal(similarities, np.asarray(vectors @ query), task.decoding["trade_off"])


def marginal(similarities: Callable[[int], Figures], relevance: Figures, trade_off: float) -> Iterator[int]:
    """Yield the indices of n sentences in MMR order, computed lazily.

    ``near(i)`` returns the (n,) similarities to sentence i and is called once sentence i is selected. ``relevance``
    holds the (n,) similarities to the query.
    """
    nearest = np.zeros(len(relevance))
    is_available = np.ones(len(relevance), dtype=bool)
    for count in range(len(relevance)):
        scores = np.round(trade_off * relevance - (1 - trade_off) * nearest, DIGITS)
        best = int(np.argmax(np.where(is_available, scores, -np.inf)))
        yield best
        is_available[best] = False
        # The initial zeros are no similarities, so the first selection replaces them. Negative cosines then keep their
        # value.
        nearest = np.maximum(nearest, similarities(best)) if count else similarities(best)


def _vectors(task: Task) -> tuple[Any, Figures]:
    """Return the (n, size) sentence vectors, sparse or dense, and the (size,) query vector.

    Vectors have length 1, or length 0 for a text without words.
    """
    texts = _check_size(task.texts)
    field = task.decoding["relevance"]
    query_texts = [] if field == "inputs" else [task.compared_with(field)]
    vectors = (
        task.encoder.encode([*texts, *query_texts])
        if task.encoder
        else tf_idf([*texts, *query_texts], among=len(texts))
    )
    if query_texts:
        return vectors[:-1], _row(vectors, len(texts))
    mean = np.asarray(vectors.mean(axis=0), dtype=np.float64).ravel()
    length = float(np.linalg.norm(mean))
    return vectors, mean / length if length > 0 else mean


def _row(vectors: Any, index: int) -> Figures:
    row = vectors[[index]]
    return np.asarray(row.todense() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def _check_size(texts: list[str]) -> list[str]:
    if len(texts) > MAX_SENTENCES:
        raise Undefined(f"The inputs have {len(texts)} sentences; this method supports at most {MAX_SENTENCES}.")
    return texts


def sort_by_score(scores: Sequence[float] | Figures) -> list[int]:
    """Return the indices by descending score; ties keep their order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])


METHODS: Mapping[str, Callable[[Task], Iterable[int]]] = {
    "lead": rank_lead,
    "lead of each": rank_first_of_each,
    "random": rank_at_random,
    "best ROUGE-L": rank_by_rouge,
    "TextRank": rank_by_text_rank,
    "MMR": rank_by_mmr,
}
