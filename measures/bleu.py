"""Compute BLEU and chrF (0 to 100) with sacrebleu, for one output and for all outputs of a system.

Sources: Papineni et al. (ACL 2002); Popovic, chrF (WMT 2015); Post, A Call for Clarity in Reporting BLEU Scores (WMT
2018). Each figure has sacrebleu's ``signature``, with which it can be reproduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Family = Literal["bleu", "chrf"]

EMPTY_OUTPUT = "the output is empty: 0 by sacrebleu"
EMPTY_REFERENCE = "the reference is empty"
NO_ITEMS = "no item with a reference"


@dataclass(frozen=True, slots=True)
class Sacre:
    """One sacrebleu score.

    ``score`` is 0..100, and None exactly when ``undefined`` gives the reason. ``n`` items were scored. ``n_left_out``
    items had an empty reference. ``n_empty`` of the scored items had an empty output. ``note`` qualifies a defined
    score.
    """

    score: float | None
    signature: str
    n: int
    n_left_out: int = 0
    n_empty: int = 0
    undefined: str | None = None
    note: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "score": self.score,
            "signature": self.signature,
            "n": self.n,
            "n_left_out": self.n_left_out,
            "n_empty": self.n_empty,
            "undefined": self.undefined,
            "note": self.note,
        }


def bleu(output: str, references: Sequence[str]) -> Sacre:
    """Return BLEU of one output with effective order, which sacrebleu recommends for single texts."""
    return _single("bleu", output, references)


def chrf(output: str, references: Sequence[str]) -> Sacre:
    """Return chrF2 of one output: character n-grams up to 6, no word n-grams, recall weighted twice."""
    return _single("chrf", output, references)


def corpus_bleu(outputs: Sequence[str], references: Sequence[str]) -> Sacre:
    """Return corpus BLEU: n-gram counts are summed over all outputs before the score is computed.

    It is not a mean of single scores and does not use effective order. Raise ValueError if the lengths differ.
    """
    return _corpus("bleu", outputs, references)


def corpus_chrf(outputs: Sequence[str], references: Sequence[str]) -> Sacre:
    """Return corpus chrF2 over all outputs, each with its reference. Raise ValueError if the lengths differ."""
    return _corpus("chrf", outputs, references)


def corpus_of_tokens(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Sacre:
    """Return corpus BLEU of tokenized outputs, each with the tokens of its reference. Nothing is tokenized again."""
    from sacrebleu.metrics import BLEU

    if not pairs:
        return Sacre(None, "", 0, undefined=NO_ITEMS)
    metric = BLEU(tokenize="none", force=True)
    outputs, references = ([" ".join(texts) for texts in side] for side in zip(*pairs, strict=True))
    score = float(metric.corpus_score(outputs, [references]).score)
    return Sacre(score, str(metric.get_signature()), len(pairs))


def _metric(family: Family, *, single: bool) -> Any:
    from sacrebleu.metrics import BLEU, CHRF  # imported here: it takes 0.25 s, which would delay web processes

    return BLEU(effective_order=single) if family == "bleu" else CHRF()


def _single(family: Family, output: str, references: Sequence[str]) -> Sacre:
    metric = _metric(family, single=True)
    usable = [reference for reference in references if reference.strip()]
    left_out = len(references) - len(usable)
    if not usable:
        return Sacre(None, "", 0, left_out, undefined=EMPTY_REFERENCE if references else "no reference")
    score = float(metric.sentence_score(output, usable).score)
    empty = not output.strip()
    return Sacre(score, str(metric.get_signature()), 1, left_out, int(empty), note=EMPTY_OUTPUT if empty else "")


def _corpus(family: Family, outputs: Sequence[str], references: Sequence[str]) -> Sacre:
    pairs = [(o, r) for o, r in zip(outputs, references, strict=True) if r.strip()]
    left_out = len(outputs) - len(pairs)
    if not pairs:
        return Sacre(None, "", 0, left_out, undefined=NO_ITEMS)
    metric = _metric(family, single=False)
    score = float(metric.corpus_score([o for o, _ in pairs], [[r for _, r in pairs]]).score)
    n_empty = sum(not o.strip() for o, _ in pairs)
    note = f"{n_empty} of {len(pairs)} outputs are empty" if n_empty else ""
    return Sacre(score, str(metric.get_signature()), len(pairs), left_out, n_empty, note=note)
