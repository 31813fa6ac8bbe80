"""Compute ROUGE-1, -2, -3, -L and -Lsum, identical to google's rouge-score 0.1.2 and much faster on long texts.

Source: C.-Y. Lin, ROUGE (2004), as implemented by rouge-score. Tokens are runs of a-z and 0-9 of the lower-case text:
Greek letters and signs such as "<" are dropped, and "0.05" becomes two tokens. With ``stemmer`` tokens of more than
three characters are stemmed by NLTK's Porter stemmer. Lsum uses the sentences of ``measures.sentences``, like
rouge-score for texts with one sentence per line; rouge-score's own ``split_summaries`` needs a download. Precision is
the share of the output that is in the reference, recall the share of the reference that is in the output. MS^2's and
MSLR's scripts swap the two arguments, so their precision is this module's recall; F1 is the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Literal, get_args

from .sentences import SPLITTER, sentences

Places = Mapping[Hashable, int]


def places_of(tokens: Sequence[Hashable]) -> Places:
    """Return for each token an integer whose bits mark the token's positions."""
    places: dict[Hashable, int] = {}
    for i, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << i
    return places


def lcs_length(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return the length of a longest common subsequence in O(len(a) len(b) / word size)."""
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    places = places_of(short)
    row = full = (1 << len(short)) - 1
    for row in _rows((places[token] for token in long if token in places), full):  # noqa: B007
        pass
    return len(short) - row.bit_count()


def lcs_indices(a: Sequence[Hashable], b: Sequence[Hashable], places: Places | None = None) -> list[int]:
    """Return indices in ``a``, descending, of the longest common subsequence that rouge-score's backtracking finds.

    From the last cell, equal tokens are taken. Otherwise the path moves left if that cell is larger, else up.
    ``places`` may pass a precomputed ``places_of(b)``. Rows of tokens that are not in ``b`` equal the row above, so the
    path always leaves them upwards. They are therefore left out.
    """
    places = places_of(b) if places is None else places
    candidates = [i for i, token in enumerate(a) if token in places]
    if not candidates:
        return []
    full = (1 << len(b)) - 1
    rows = [full, *_rows((places[a[i]] for i in candidates), full)]
    indices = []
    i, j = len(candidates), len(b)
    below = (1 << j) - 1
    while i and j:
        # The value of a cell is the number of zeros among the first j bits of its row. Cells: t[i][j], t[i - 1][j],
        # t[i][j - 1].
        if places[a[candidates[i - 1]]] >> (j - 1) & 1:
            indices.append(candidates[i - 1])
            i, j, below = i - 1, j - 1, below >> 1
            continue
        here = j - (rows[i] & below).bit_count()
        if not here:
            break
        up = j - (rows[i - 1] & below).bit_count()
        left = here - 1 + (rows[i] >> (j - 1) & 1)
        if left > up:
            j, below = j - 1, below >> 1
        else:
            i -= 1
    return indices


def _rows(matches: Iterator[int], full: int) -> Iterator[int]:
    row = full
    for match in matches:
        common = row & match
        row = (row + common | row - common) & full
        yield row


RougeKind = Literal["rouge1", "rouge2", "rougeL", "rougeLsum", "rouge3"]
EVERY_ROUGE_KIND: tuple[RougeKind, ...] = get_args(RougeKind)
#: The kinds at all levels. ROUGE-3 is computed against written summaries only (MEDIQA-AnS).
ROUGE_KINDS: tuple[RougeKind, ...] = EVERY_ROUGE_KIND[:-1]
ROUGE_LIBRARY = "rouge-score 0.1.2"

EMPTY_OUTPUT = "the output has nothing to compare: 0 by rouge-score"
EMPTY_REFERENCE = "the reference has nothing to compare"
NO_REFERENCE = "no reference"
TOO_LONG = "too long to compare: every {what} with every {what} are more than {most:,} pairs"
#: Limits for comparisons of each token or sentence with each other. They far exceed the length of real summaries.
MOST_TOKEN_PAIRS = 400_000_000
MOST_SENTENCE_PAIRS = 1_000_000

_TOKEN = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Prf:
    """Precision, recall and F1, each 0..1. All are None exactly when ``undefined`` gives the reason.

    ``note`` qualifies a defined figure, for example a 0 because the output has no token.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    undefined: str | None = None
    note: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "undefined": self.undefined,
            "note": self.note,
        }


Rouge = Mapping[RougeKind, Prf]


def rouge_parameters(*, stemmer: bool) -> dict[str, object]:
    """Return the parameters that are stored with the figures."""
    stems = {"stems": f"nltk {version('nltk')}, Porter"} if stemmer else {}
    return {"library": ROUGE_LIBRARY, "stemmer": stemmer, **stems, "tokenizer": "rouge-score default", "lsum": SPLITTER}


def rouge_tokens(text: str, *, stemmer: bool = False) -> list[str]:
    """Return the tokens of rouge-score's default tokenizer, in order."""
    tokens = _TOKEN.findall(text.lower())
    if not stemmer:
        return tokens
    stems = (_stem(token) if len(token) > 3 else token for token in tokens)
    return [stem for stem in stems if _TOKEN.fullmatch(stem)]


class RougeText:
    """A text prepared once for comparison with many others. Counts are computed at first use.

    Texts that are compared must have the same ``stemmer``.
    """

    def __init__(self, text: str, *, stemmer: bool = False) -> None:
        self.text = text
        self.stemmer = stemmer

    @cached_property
    def tokens(self) -> list[str]:
        return rouge_tokens(self.text, stemmer=self.stemmer)

    @cached_property
    def unigrams(self) -> Counter[Hashable]:
        return Counter(self.tokens)

    @cached_property
    def bigrams(self) -> Counter[Hashable]:
        return Counter(zip(self.tokens, self.tokens[1:], strict=False))

    @cached_property
    def trigrams(self) -> Counter[Hashable]:
        return Counter(zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False))

    @cached_property
    def sentences(self) -> list[list[str]]:
        return [rouge_tokens(sentence, stemmer=self.stemmer) for sentence in sentences(self.text)]


def rouge(
    output: str | RougeText,
    reference: str | RougeText,
    *,
    stemmer: bool = False,
    kinds: Sequence[RougeKind] = ROUGE_KINDS,
) -> dict[RougeKind, Prf]:
    """Return ROUGE of an output against one reference, by kind.

    An output without a token (or a bigram or trigram, for ROUGE-2 or -3) gets 0 as in rouge-score, with a note. For a
    reference without one the kind is undefined; rouge-score returns 0. For ``RougeText`` arguments their own
    ``stemmer`` is used. Raise ValueError if the two differ, and for an unknown kind.
    """
    stemmers = [text.stemmer for text in (output, reference) if isinstance(text, RougeText)]
    if len(set(stemmers)) > 1:
        raise ValueError("one text is stemmed, the other is not")
    stemmer = stemmers[0] if stemmers else stemmer
    left = output if isinstance(output, RougeText) else RougeText(output, stemmer=stemmer)
    right = reference if isinstance(reference, RougeText) else RougeText(reference, stemmer=stemmer)
    if unknown := set(kinds) - set(EVERY_ROUGE_KIND):
        raise ValueError(f"no kind of ROUGE: {', '.join(sorted(unknown))}")
    return {kind: _HITS[kind](left, right) for kind in kinds}


def rouge_best(
    output: str | RougeText,
    references: Sequence[str | RougeText],
    *,
    stemmer: bool = False,
    kinds: Sequence[RougeKind] = ROUGE_KINDS,
) -> dict[RougeKind, Prf]:
    """Return ROUGE against the reference with the largest F1, by kind (rouge-score's ``score_multi``).

    Ties go to the first reference. A kind is undefined if there is no reference, or none with tokens.
    """
    ready = output if isinstance(output, RougeText) else RougeText(output, stemmer=stemmer)
    every = [rouge(ready, reference, stemmer=stemmer, kinds=kinds) for reference in references]
    best: dict[RougeKind, Prf] = {}
    for kind in kinds:
        defined = [scores[kind] for scores in every if scores[kind].f1 is not None]
        why = EMPTY_REFERENCE if every else NO_REFERENCE
        best[kind] = max(defined, key=lambda s: s.f1 or 0.0) if defined else Prf(None, None, None, why)
    return best


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # takes over a second, so it is not imported at startup

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@lru_cache(maxsize=1 << 16)
def _stem(token: str) -> str:
    return _stemmer()(token)


def _prf(hits: int, n_output: int, n_reference: int) -> Prf:
    if not n_reference:
        return Prf(None, None, None, EMPTY_REFERENCE)
    precision, recall = hits / max(n_output, 1), hits / n_reference
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return Prf(precision, recall, f1, note="" if n_output else EMPTY_OUTPUT)


def _of_counts(output: Counter[Hashable], reference: Counter[Hashable]) -> Prf:
    few, many = (output, reference) if len(output) <= len(reference) else (reference, output)
    hits = sum(min(n, many[gram]) for gram, n in few.items() if gram in many)
    return _prf(hits, output.total(), reference.total())


def _too_long(what: str, pairs: int, most: int) -> Prf | None:
    return Prf(None, None, None, TOO_LONG.format(what=what, most=most)) if pairs > most else None


def _of_lcs(output: RougeText, reference: RougeText) -> Prf:
    if refused := _too_long("token", len(output.tokens) * len(reference.tokens), MOST_TOKEN_PAIRS):
        return refused
    return _prf(lcs_length(output.tokens, reference.tokens), len(output.tokens), len(reference.tokens))


def _of_union_lcs(output: RougeText, reference: RougeText) -> Prf:
    """Return summary-level LCS: each reference sentence against all output sentences, each token counted once."""
    if refused := _too_long("token", len(output.tokens) * len(reference.tokens), MOST_TOKEN_PAIRS):
        return refused
    if refused := _too_long("sentence", len(output.sentences) * len(reference.sentences), MOST_SENTENCE_PAIRS):
        return refused
    n_output, n_reference = sum(map(len, output.sentences)), sum(map(len, reference.sentences))
    placed = [(sentence, places_of(sentence)) for sentence in output.sentences]
    left: Counter[Hashable] = Counter(token for sentence in output.sentences for token in sentence)
    wanted: Counter[Hashable] = Counter(token for sentence in reference.sentences for token in sentence)
    hits = 0
    for sentence in reference.sentences:
        union: set[int] = set()
        for other, places in placed:
            union.update(lcs_indices(sentence, other, places))
        for i in sorted(union):
            token = sentence[i]
            if left[token] > 0 and wanted[token] > 0:
                hits += 1
                left[token] -= 1
                wanted[token] -= 1
    return _prf(hits, n_output, n_reference)


_HITS: Mapping[RougeKind, Callable[[RougeText, RougeText], Prf]] = {
    "rouge1": lambda output, reference: _of_counts(output.unigrams, reference.unigrams),
    "rouge2": lambda output, reference: _of_counts(output.bigrams, reference.bigrams),
    "rougeL": _of_lcs,
    "rougeLsum": _of_union_lcs,
    "rouge3": lambda output, reference: _of_counts(output.trigrams, reference.trigrams),
}
