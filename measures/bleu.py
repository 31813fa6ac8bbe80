"""BLEU and chrF by sacrebleu 2.6.0: an output at a time, and over all outputs of a system; 0 to 100, as there.

Sources: Papineni et al. (ACL 2002); Popovic, chrF (WMT 2015); Post, A Call for Clarity in Reporting BLEU Scores (WMT
2018). A figure's ``signature`` is sacrebleu's: with it the figure can be made again anywhere.
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
    """One figure of sacrebleu.

    ``score`` 0..100, None exactly when ``undefined`` says why. ``n`` items were scored; ``n_left_out`` had an empty
    reference; ``n_empty`` of the scored had an empty output. ``note`` says what a reader must know of a defined score.
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
            "score": self.score, "signature": self.signature, "n": self.n, "n_left_out": self.n_left_out,
            "n_empty": self.n_empty, "undefined": self.undefined, "note": self.note,
        }  # fmt: skip


def bleu(output: str, references: Sequence[str]) -> Sacre:
    """BLEU of one output with effective order, which sacrebleu recommends for single texts."""
    return _single("bleu", output, references)


def chrf(output: str, references: Sequence[str]) -> Sacre:
    """chrF2 of one output: character n-grams to 6, no words, recall counted twice."""
    return _single("chrf", output, references)


def corpus_bleu(outputs: Sequence[str], references: Sequence[str]) -> Sacre:
    """BLEU over all outputs together, each with its reference: counts are summed, then the score is taken.

    It is no mean of single scores, and has no effective order. ValueError when the lengths differ.
    """
    return _corpus("bleu", outputs, references)


def corpus_chrf(outputs: Sequence[str], references: Sequence[str]) -> Sacre:
    """chrF2 over all outputs together, each with its reference. ValueError when the lengths differ."""
    return _corpus("chrf", outputs, references)


def _metric(family: Family, *, single: bool) -> Any:
    from sacrebleu.metrics import BLEU, CHRF  # a quarter of a second: not at the start of a web process

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
