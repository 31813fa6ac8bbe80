"""BLEU and chrF, of each summary and of all together, by sacrebleu."""

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

from measures import bleu

from .per_summary import CpuMetric, PerSummaryScorer
from .protocol import Figure, Judged, Params, Row

One = Callable[[str, Sequence[str]], bleu.Sacre]
All = Callable[[Sequence[str], Sequence[str]], bleu.Sacre]


#: Both are printed from 0 to 100.
PER_CENT = (0.0, 100.0)


class _Sacre(CpuMetric):
    """What the two share: 0 to 100, against each reference, and over all summaries with their own targets."""

    has_corpus = True
    one: One
    all: All
    key: str

    def libraries(self, params: Params) -> dict[str, Any]:
        return {"sacrebleu": version("sacrebleu"), "signature": self.one("a", ["a"]).signature}

    def load(self, params: Params) -> "SacreScorer":
        return SacreScorer(self.key, self.one, self.all)


class BleuMetric(_Sacre):
    key = "bleu"
    name = "BLEU"
    description = "BLEU of each summary (effective order) and of all together, which is no mean of the former."
    figures: tuple[Figure, ...] = (Figure("bleu", "BLEU", decimals=1, bounds=PER_CENT, better="higher", headline=True),)
    one, all = staticmethod(bleu.bleu), staticmethod(bleu.corpus_bleu)


class ChrfMetric(_Sacre):
    key = "chrf"
    name = "chrF"
    description = "chrF2: character n-grams to 6, recall counted twice; of each summary, and of all together."
    figures: tuple[Figure, ...] = (Figure("chrf", "chrF", decimals=1, bounds=PER_CENT, better="higher", headline=True),)
    one, all = staticmethod(bleu.chrf), staticmethod(bleu.corpus_chrf)


class SacreScorer(PerSummaryScorer):
    def __init__(self, key: str, one: One, all: All) -> None:
        self.key, self.one, self.all = key, one, all

    def rows(self, judged: Judged) -> list[Row]:
        made = []
        for reference in judged.material.references:
            found = self.one(judged.text, [reference.text])
            why = {self.key: found.undefined} if found.undefined else {}
            made.append(Row(reference.unit, {self.key: found.score}, why))
        return made

    def corpus(self, everything: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """Over the summaries that have a target of their own, each with that one. Holds the texts of both."""
        outputs, targets = [], []
        for judged, _ in everything:
            if judged.material.references:
                outputs.append(judged.text)
                targets.append(judged.material.references[0].text)
        return {self.key: self.all(outputs, targets).as_json()}
