"""Measure how much of an output is copied from its inputs, and where.

* Coverage, density and compression: M. Grusky et al., Newsroom (NAACL 2018). Greedy fragments from left to right, each
  the longest run of tokens that begins at the position and occurs in one input. Grusky's pseudo-code skips past a match
  in the input and can miss a longer run inside it. This module takes the longest run, as the paper's text defines it;
  coverage is the same. Tokens are those of ``measures.sentences``, punctuation included, case ignored.
* The figures in brackets of M3's Table 6 (Otmakhova et al. 2022): ROUGE(output, inputs) - ROUGE(output, target). The
  table's caption differs, but this difference reproduces its figures: 74.5 - 20.2 = +54.3 for PRIMERA, 18.7 - 23.8 =
  -5.1 (printed -5.2). A positive value means closer to the inputs than to the target. Precision, recall and F1 are all
  kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

from .rouge import NO_REFERENCE, ROUGE_KINDS, Prf, RougeKind, RougeText, rouge, rouge_best
from .sentences import TOKENIZER, Tokens, tokens_of
from .spans import Range


class Match(NamedTuple):
    """The longest match: ``length`` tokens of sequence number ``source`` from its token ``start``. Length 0 is no
    match.
    """

    length: int
    source: int
    start: int


class SuffixAutomaton:
    """Index of sequences for repeated searches. It uses about half a kilobyte per token."""

    def __init__(self, sequences: Sequence[Sequence[Hashable]]) -> None:
        joined: list[Hashable] = []
        for sequence in sequences:
            joined.extend(sequence)
            joined.append(object())  # separator that equals no token
        self._size = len(joined)
        self._begins = [0, *accumulate(len(sequence) + 1 for sequence in sequences)]
        self._next: list[dict[Hashable, int]] = [{}]
        self._link = [-1]
        self._longest = [0]
        self._last = [-1]
        state = 0
        for position, token in enumerate(reversed(joined)):
            state = self._extend(state, token, position)
        # The last end of a run in the reversed text is its first start in the text. Ends propagate along suffix links.
        for each in sorted(range(1, len(self._link)), key=self._longest.__getitem__, reverse=True):
            above = self._link[each]
            self._last[above] = max(self._last[above], self._last[each])

    def longest_from(self, tokens: Sequence[Hashable]) -> list[Match]:
        """Return for each token the longest run that starts there and occurs in a sequence, at its first occurrence."""
        matches = [Match(0, -1, -1)] * len(tokens)
        state = length = 0
        for i in range(len(tokens) - 1, -1, -1):
            token = tokens[i]
            while state and token not in self._next[state]:
                state = self._link[state]
                length = self._longest[state]
            if token in self._next[state]:
                state = self._next[state][token]
                length += 1
                begin = self._size - 1 - self._last[state]
                source = bisect_right(self._begins, begin) - 1
                matches[i] = Match(length, source, begin - self._begins[source])
        return matches

    def _extend(self, last: int, token: Hashable, position: int) -> int:
        """Append a token to the reversed text and return the state of the whole text."""
        new = self._state({}, self._longest[last] + 1, position)
        at = last
        while at >= 0 and token not in self._next[at]:
            self._next[at][token] = new
            at = self._link[at]
        if at < 0:
            self._link[new] = 0
            return new
        reached = self._next[at][token]
        if self._longest[reached] != self._longest[at] + 1:
            reached = self._split(at, token, reached)
        self._link[new] = reached
        return new

    def _split(self, at: int, token: Hashable, old: int) -> int:
        """Split ``old`` and return the state of its shorter runs, which now have additional end positions."""
        clone = self._state(dict(self._next[old]), self._longest[at] + 1, self._last[old])
        self._link[clone], self._link[old] = self._link[old], clone
        while at >= 0 and self._next[at].get(token) == old:
            self._next[at][token] = clone
            at = self._link[at]
        return clone

    def _state(self, following: dict[Hashable, int], longest: int, last: int) -> int:
        self._next.append(following)
        self._longest.append(longest)
        self._link.append(0)
        self._last.append(last)
        return len(self._next) - 1


NO_INPUTS = "no inputs"
EMPTY_INPUTS = "the inputs are empty"
EMPTY_OUTPUT = "the output is empty"
COPIED_NGRAMS = (1, 2, 3, 4)

Pooling = Literal["joined", "best"]


@dataclass(frozen=True, slots=True)
class CopiedRun:
    """``n_tokens`` copied tokens at ``range`` of the output and ``input_range`` of input number ``input`` (from 0).

    Case is ignored; the first occurrence in the inputs is given. Ranges are half-open, in code points.
    """

    n_tokens: int
    range: Range
    input: int
    input_range: Range

    def as_json(self) -> dict[str, object]:
        return {
            "n_tokens": self.n_tokens,
            "range": list(self.range),
            "input": self.input,
            "input_range": list(self.input_range),
        }


@dataclass(frozen=True, slots=True)
class Copying:
    """Copying of one output. ``coverage``, ``density`` and ``compression`` are None exactly when ``undefined`` is set.

    ``coverage`` 0..1: share of the output's tokens that are in a fragment, that is, occur in the inputs.
    ``density`` 0..n_tokens: mean length of the fragment of each output token.
    ``compression``: tokens of all inputs / tokens of the output.
    ``copied_ngrams``: for n = 1..4 the share of the output's n-grams that occur in an input; None without n-grams.
    ``longest``: the longest run copied from one input, the first of equals; None if no token is copied.
    ``runs``: all maximal runs of at least ``least`` tokens, in order. They may overlap; ``measures.spans.merged`` of
    their ranges gives the ranges to mark.
    """

    coverage: float | None
    density: float | None
    compression: float | None
    copied_ngrams: dict[int, float | None]
    longest: CopiedRun | None
    runs: tuple[CopiedRun, ...]
    least: int
    n_tokens: int
    n_input_tokens: int
    n_inputs: int
    undefined: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "coverage": self.coverage,
            "density": self.density,
            "compression": self.compression,
            "copied_ngrams": {str(n): share for n, share in self.copied_ngrams.items()},
            "longest": self.longest.as_json() if self.longest else None,
            "runs": [run.as_json() for run in self.runs],
            "least": self.least,
            "n_tokens": self.n_tokens,
            "n_input_tokens": self.n_input_tokens,
            "n_inputs": self.n_inputs,
            "undefined": self.undefined,
        }


def copying_parameters(*, least: int) -> dict[str, object]:
    """Return the parameters that are stored with the figures."""
    return {"tokenizer": TOKENIZER, "least": least, "fragments": "longest, greedy from the left, within one input"}


class CopyInputs:
    """The inputs of one item, prepared once for the outputs of many systems."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.texts = tuple(inputs)

    @cached_property
    def tokens(self) -> tuple[Tokens, ...]:
        return tuple(tokens_of(text) for text in self.texts)

    @cached_property
    def haystack(self) -> SuffixAutomaton:
        return SuffixAutomaton([tokens.keys for tokens in self.tokens])

    def rouge_texts(self, pooling: Pooling, *, stemmer: bool) -> list[RougeText]:
        """Return ROUGE references: all inputs as one text (one per line), or each input separately."""
        kept = self._rouge.get((pooling, stemmer))
        if kept is None:
            texts = ["\n".join(self.texts)] if pooling == "joined" and self.texts else self.texts
            kept = self._rouge[pooling, stemmer] = [RougeText(text, stemmer=stemmer) for text in texts]
        return kept

    @cached_property
    def _rouge(self) -> dict[tuple[Pooling, bool], list[RougeText]]:
        return {}


def copying(output: str, inputs: Sequence[str] | CopyInputs, *, least: int = 5) -> Copying:
    """Return all copying figures of one output. Takes O(tokens of output and inputs).

    The figures are undefined for an output without tokens and for missing or empty inputs. Raise ValueError for
    ``least`` < 1.
    """
    if least < 1:
        raise ValueError("a run has at least one token")
    ready = _ready(inputs)
    tokens = tokens_of(output)
    n, n_input, n_inputs = len(tokens), sum(map(len, ready.tokens)), len(ready.texts)
    why = EMPTY_OUTPUT if not n else NO_INPUTS if not n_inputs else EMPTY_INPUTS if not n_input else None
    if why:
        nothing = dict.fromkeys(COPIED_NGRAMS)
        return Copying(None, None, None, nothing, None, (), least, n, n_input, n_inputs, why)
    matches = ready.haystack.longest_from(tokens.keys)
    fragments = _greedy(matches)
    return Copying(
        sum(fragments) / n,
        sum(length * length for length in fragments) / n,
        n_input / n,
        {size: _share(matches, size) for size in COPIED_NGRAMS},
        _longest(matches, tokens, ready),
        tuple(_run(i, matches[i], tokens, ready) for i in _maximal(matches) if matches[i].length >= least),
        least,
        n,
        n_input,
        n_inputs,
    )


def rouge_against_inputs(
    output: str | RougeText,
    inputs: Sequence[str] | CopyInputs,
    *,
    stemmer: bool = False,
    kinds: Sequence[RougeKind] = ROUGE_KINDS,
    pooling: Pooling = "joined",
) -> dict[RougeKind, Prf]:
    """Return ROUGE of an output against its inputs, joined as one reference, or the best single input.

    Precision is the copied share. An output of whole sentences in the order of the inputs has precision 1 for ROUGE-1
    and ROUGE-L. A bigram across two sentences matches only if the sentences are adjacent in the inputs. The figures are
    undefined without inputs.
    """
    stemmer = output.stemmer if isinstance(output, RougeText) else stemmer
    references = _ready(inputs).rouge_texts(pooling, stemmer=stemmer)
    if not references:
        return {kind: Prf(None, None, None, NO_INPUTS) for kind in kinds}
    return rouge_best(output, references, stemmer=stemmer, kinds=kinds)


@dataclass(frozen=True, slots=True)
class CopyDifference:
    """ROUGE against the inputs, against the target, and their difference: M3's Table 6 for one output and kind.

    ``difference`` holds precision, recall and F1, each -1..1. It is undefined if either score is undefined.
    """

    inputs: Prf
    target: Prf
    difference: Prf

    def as_json(self) -> dict[str, object]:
        return {
            "inputs": self.inputs.as_json(),
            "target": self.target.as_json(),
            "difference": self.difference.as_json(),
        }


def copying_difference(
    output: str,
    inputs: Sequence[str] | CopyInputs,
    target: str | RougeText,
    *,
    stemmer: bool = False,
    kinds: Sequence[RougeKind] = ROUGE_KINDS,
    pooling: Pooling = "joined",
) -> dict[RougeKind, CopyDifference]:
    """Return ROUGE(output, inputs) - ROUGE(output, target) by kind. Reports print F1, as M3's Table 6."""
    ready = RougeText(output, stemmer=stemmer)
    near = rouge_against_inputs(ready, inputs, stemmer=stemmer, kinds=kinds, pooling=pooling)
    right = rouge(ready, target, stemmer=stemmer, kinds=kinds)
    return {kind: CopyDifference(near[kind], right[kind], _minus(near[kind], right[kind])) for kind in kinds}


def _minus(a: Prf, b: Prf) -> Prf:
    if a.precision is None or a.recall is None or a.f1 is None:
        return Prf(None, None, None, f"against the inputs: {a.undefined or NO_REFERENCE}")
    if b.precision is None or b.recall is None or b.f1 is None:
        return Prf(None, None, None, f"against the target: {b.undefined or NO_REFERENCE}")
    return Prf(a.precision - b.precision, a.recall - b.recall, a.f1 - b.f1, note=a.note or b.note)


def _ready(inputs: Sequence[str] | CopyInputs) -> CopyInputs:
    return inputs if isinstance(inputs, CopyInputs) else CopyInputs(inputs)


def _greedy(matches: Sequence[Match]) -> list[int]:
    """Return the lengths of Grusky's fragments."""
    lengths = []
    i = 0
    while i < len(matches):
        if matches[i].length:
            lengths.append(matches[i].length)
        i += max(matches[i].length, 1)
    return lengths


def _share(matches: Sequence[Match], size: int) -> float | None:
    """Return the share of n-grams of this size that occur in the inputs: those where the longest run is long enough."""
    n = len(matches) - size + 1
    return sum(match.length >= size for match in matches[:n]) / n if n > 0 else None


def _maximal(matches: Sequence[Match]) -> list[int]:
    """Return the start positions of runs that are not the tail of the previous run."""
    return [i for i, match in enumerate(matches) if match.length and not (i and matches[i - 1].length > match.length)]


def _longest(matches: Sequence[Match], tokens: Tokens, inputs: CopyInputs) -> CopiedRun | None:
    i = max(range(len(matches)), key=lambda each: matches[each].length)
    return _run(i, matches[i], tokens, inputs) if matches[i].length else None


def _run(i: int, match: Match, tokens: Tokens, inputs: CopyInputs) -> CopiedRun:
    source_range = inputs.tokens[match.source].covering(match.start, match.length)
    return CopiedRun(match.length, tokens.covering(i, match.length), match.source, source_range)
