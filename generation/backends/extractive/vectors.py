"""Sentences as vectors of their words, by numpy and scipy alone."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from measures.rouge import rouge_tokens

Matrix = npt.NDArray[np.float64]
#: Figures are compared to so many digits: what differs by less is a tie, on every machine, and the earlier one wins.
DIGITS = 9


def counts(texts: Sequence[str]) -> Any:
    """(n, words) how often each word (a run of a-z and 0-9, in lower case) stands in each text."""
    columns: dict[str, int] = {}
    rows, places = [], []
    for row, text in enumerate(texts):
        for token in rouge_tokens(text):
            rows.append(row)
            places.append(columns.setdefault(token, len(columns)))
    shape = (len(texts), max(len(columns), 1))
    return sparse.coo_array((np.ones(len(rows)), (rows, places)), shape=shape).tocsr()


def tf_idf(texts: Sequence[str], *, among: int | None = None) -> Any:
    """(n, words) tf-idf vectors of length 1, or 0 where a text has no word.

    tf is the count; idf is ln((1 + N) / (1 + df)) + 1 over the first ``among`` texts (all of them where None), the
    smoothed form that scikit-learn uses.
    """
    table = counts(texts)
    base = table[:among]
    seen = np.bincount(base.indices, minlength=table.shape[1])
    weighted = (table * (np.log((1 + base.shape[0]) / (1 + seen)) + 1)).tocsr()
    lengths = np.sqrt((weighted * weighted).sum(axis=1))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.csr_array(weighted * scale[:, None])


def cosines(texts: Sequence[str]) -> Matrix:
    """(n, n) cosines of tf-idf vectors."""
    vectors = tf_idf(texts)
    return np.asarray((vectors @ vectors.T).todense(), dtype=np.float64)


def overlaps(texts: Sequence[str]) -> Matrix:
    """(n, n) TextRank's similarity: words that both have / (ln of one's length + ln of the other's), in words.

    Source: R. Mihalcea and P. Tarau, TextRank: Bringing Order into Texts (EMNLP 2004), section 4.1; words as in
    `counts`, none left out. 0 where both sentences are of one word at most: the paper's quotient has no value there.
    """
    table = counts(texts)
    lengths = np.asarray(table.sum(axis=1), dtype=np.float64)
    # ln 1 = 0 for one word; for none, where nothing is shared either, 0 as well.
    logs = np.log(np.maximum(lengths, 1.0))
    present = table.sign()
    shared = np.asarray((present @ present.T).todense(), dtype=np.float64)
    below = logs[:, None] + logs[None, :]
    similar: Matrix = np.divide(shared, below, out=np.zeros_like(shared), where=below > 0)
    return similar


def text_rank(similarities: Matrix, *, damping: float, tolerance: float) -> Matrix:
    """(n,) TextRank's scores of the nodes of a weighted graph; the diagonal is not looked at.

    score_i = (1 - damping) + damping * sum_j w_ij / sum_k w_jk * score_j, by power iteration from 1 until no score
    moves by ``tolerance`` or more. It is a contraction, so it ends.
    """
    weights = similarities.copy()
    np.fill_diagonal(weights, 0.0)
    sums = weights.sum(axis=1)
    # (j, i): a node without an edge hands nothing on.
    step = np.divide(weights, sums[:, None], out=np.zeros_like(weights), where=sums[:, None] > 0)
    scores: Matrix = np.ones(len(weights))
    for _ in range(_rounds(len(weights), damping, tolerance)):
        moved: Matrix = (1 - damping) + damping * (scores @ step)
        last = float(np.abs(moved - scores).max())
        scores = moved
        if last < tolerance:
            break
    return scores


def _rounds(nodes: int, damping: float, tolerance: float) -> int:
    """How many rounds are enough: the sum of all moves is at most ``nodes`` at first, and shrinks by the damping."""
    if damping == 0:
        return 1
    return math.ceil(math.log(tolerance / (2 * nodes)) / math.log(damping)) + 1
