"""How much of an output is copied from its inputs, and where.

* Coverage, density and compression: M. Grusky et al., Newsroom (NAACL 2018). Greedy fragments from left to right, each
  the longest run of tokens that begins here and occurs in one input. (Their pseudo-code skips behind a match in the
  input and can miss a longer run that begins inside it; we take the longest, as their text defines it. Coverage is the
  same either way.) Tokens are ours (``measures.tokens``), punctuation included, case ignored.
* The bracketed figures of M3's Table 6 (Otmakhova et al. 2022): ROUGE(output, inputs) - ROUGE(output, target). Its
  caption reads otherwise, but these are its figures: 74.5 - 20.2 = +54.3 for PRIMERA, 18.7 - 23.8 = -5.1 (printed
  -5.2). Positive: closer to the inputs than to what should have been said. Precision, recall and F1 are all kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from measures.rouge import NO_REFERENCE, ROUGE_KINDS, Prf, RougeKind, RougeText, rouge, rouge_best
from measures.spans import Range
from measures.suffix_automaton import Match, SuffixAutomaton
from measures.tokens import TOKENIZER, Tokens, tokens_of

NO_INPUTS = "no inputs"
EMPTY_INPUTS = "the inputs are empty"
EMPTY_OUTPUT = "the output is empty"
COPIED_NGRAMS = (1, 2, 3, 4)

Pooling = Literal["joined", "best"]


@dataclass(frozen=True, slots=True)
class CopiedRun:
    """``n_tokens`` tokens that stand at ``range`` of the output and, case ignored, at ``input_range`` of input number
    ``input`` (from 0; the first place where they do). Ranges are half-open, in code points."""

    n_tokens: int
    range: Range
    input: int
    input_range: Range

    def as_json(self) -> dict[str, object]:
        return {
            "n_tokens": self.n_tokens, "range": list(self.range), "input": self.input,
            "input_range": list(self.input_range),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Copying:
    """Copying of one output; ``coverage``, ``density`` and ``compression`` are None when ``undefined`` says why.

    ``coverage`` 0..1: share of the output's tokens that lie in a fragment, which is each that occurs in the inputs.
    ``density`` 0..n_tokens: mean over the output's tokens of the length of their fragment.
    ``compression``: tokens of all inputs / tokens of the output.
    ``copied_ngrams``: for n = 1..4 the share of the output's n-grams that occur in an input; None where it has none.
    ``longest``: the longest run copied from one input, the first of equals; None where no token is copied.
    ``runs``: all runs of at least ``least`` tokens that cannot be made longer in either direction, in order; they may
    overlap one another (``measures.spans.merged`` of their ranges is what to mark).
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
            "coverage": self.coverage, "density": self.density, "compression": self.compression,
            "copied_ngrams": {str(n): share for n, share in self.copied_ngrams.items()},
            "longest": self.longest.as_json() if self.longest else None,
            "runs": [run.as_json() for run in self.runs], "least": self.least, "n_tokens": self.n_tokens,
            "n_input_tokens": self.n_input_tokens, "n_inputs": self.n_inputs, "undefined": self.undefined,
        }  # fmt: skip


def copying_parameters(*, least: int) -> dict[str, object]:
    """What the figures depend on, to be kept with them."""
    return {"tokenizer": TOKENIZER, "least": least, "fragments": "longest, greedy from the left, within one input"}


class CopyInputs:
    """The inputs of one item, made ready once for the outputs of many systems."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.texts = tuple(inputs)

    @cached_property
    def tokens(self) -> tuple[Tokens, ...]:
        return tuple(tokens_of(text) for text in self.texts)

    @cached_property
    def haystack(self) -> SuffixAutomaton:
        return SuffixAutomaton([tokens.keys for tokens in self.tokens])

    def rouge_texts(self, pooling: Pooling, *, stemmer: bool) -> list[RougeText]:
        """What ROUGE takes as the reference: all inputs as one text (a line each), or each by itself."""
        kept = self._rouge.get((pooling, stemmer))
        if kept is None:
            texts = ["\n".join(self.texts)] if pooling == "joined" and self.texts else self.texts
            kept = self._rouge[pooling, stemmer] = [RougeText(text, stemmer=stemmer) for text in texts]
        return kept

    @cached_property
    def _rouge(self) -> dict[tuple[Pooling, bool], list[RougeText]]:
        return {}


def copying(output: str, inputs: Sequence[str] | CopyInputs, *, least: int = 5) -> Copying:
    """All figures of copying of one output from its inputs. O(tokens of output and inputs).

    Undefined for an output without tokens, and without inputs or only empty ones: nothing could be copied then.
    ValueError for ``least`` < 1.
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
        least, n, n_input, n_inputs,
    )  # fmt: skip


def rouge_against_inputs(
    output: str | RougeText,
    inputs: Sequence[str] | CopyInputs,
    *,
    stemmer: bool = False,
    kinds: Sequence[RougeKind] = ROUGE_KINDS,
    pooling: Pooling = "joined",
) -> dict[RougeKind, Prf]:
    """ROUGE of an output against its inputs, joined as one reference, or the best of them; precision is what is copied.

    An output of whole sentences, in the inputs' order, has precision 1 for ROUGE-1 and -L; bigrams over the seam of
    two sentences are in the inputs only where the sentences follow each other there. Undefined without inputs.
    """
    stemmer = output.stemmer if isinstance(output, RougeText) else stemmer
    references = _ready(inputs).rouge_texts(pooling, stemmer=stemmer)
    if not references:
        return {kind: Prf(None, None, None, NO_INPUTS) for kind in kinds}
    return rouge_best(output, references, stemmer=stemmer, kinds=kinds)


@dataclass(frozen=True, slots=True)
class CopyDifference:
    """ROUGE against inputs and against the target, and first minus second: M3's Table 6 for one output and kind.

    ``difference`` holds precision, recall and F1, each -1..1, undefined where one of the two is.
    """

    inputs: Prf
    target: Prf
    difference: Prf

    def as_json(self) -> dict[str, object]:
        return {
            "inputs": self.inputs.as_json(), "target": self.target.as_json(), "difference": self.difference.as_json()
        }  # fmt: skip


def copying_difference(
    output: str,
    inputs: Sequence[str] | CopyInputs,
    target: str | RougeText,
    *,
    stemmer: bool = False,
    kinds: Sequence[RougeKind] = ROUGE_KINDS,
    pooling: Pooling = "joined",
) -> dict[RougeKind, CopyDifference]:
    """ROUGE(output, inputs) - ROUGE(output, target), by kind: M3's Table 6, for which we print F1."""
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
    """Lengths of Grusky's fragments."""
    lengths = []
    i = 0
    while i < len(matches):
        if matches[i].length:
            lengths.append(matches[i].length)
        i += max(matches[i].length, 1)
    return lengths


def _share(matches: Sequence[Match], size: int) -> float | None:
    """Share of the n-grams of this size that occur; one occurs when the longest run from its place is long enough."""
    n = len(matches) - size + 1
    return sum(match.length >= size for match in matches[:n]) / n if n > 0 else None


def _maximal(matches: Sequence[Match]) -> list[int]:
    """Where the runs begin that are no tail of the run before."""
    return [i for i, match in enumerate(matches) if match.length and not (i and matches[i - 1].length > match.length)]


def _longest(matches: Sequence[Match], tokens: Tokens, inputs: CopyInputs) -> CopiedRun | None:
    i = max(range(len(matches)), key=lambda each: matches[each].length)
    return _run(i, matches[i], tokens, inputs) if matches[i].length else None


def _run(i: int, match: Match, tokens: Tokens, inputs: CopyInputs) -> CopiedRun:
    there = inputs.tokens[match.source].covering(match.start, match.length)
    return CopiedRun(match.length, tokens.covering(i, match.length), match.source, there)
