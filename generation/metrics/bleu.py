"""BLEU and chrF of each summary and of the corpus, by sacrebleu."""

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

from api.parameters import Parameter
from measures import bleu

from .protocol import REFERENCES, CpuMetric, Figure, Judged, Params, PerSummaryScorer, Row

ScoreOne = Callable[[str, Sequence[str]], bleu.Sacre]
ScoreCorpus = Callable[[Sequence[str], Sequence[str]], bleu.Sacre]


#: The range of both scores: 0 to 100.
PER_CENT = (0.0, 100.0)


class _SacreMetric(CpuMetric):
    """Base class of BLEU and chrF.

    Scores are against each reference, and over the corpus with each summary's own target.
    """

    parameters: tuple[Parameter, ...] = (REFERENCES,)
    has_corpus = True
    one: ScoreOne
    all: ScoreCorpus
    key: str

    def libraries(self, params: Params) -> dict[str, Any]:
        return {"sacrebleu": version("sacrebleu"), "signature": self.one("a", ["a"]).signature}

    def load(self, params: Params) -> "SacreScorer":
        return SacreScorer(self.key, self.one, self.all)


class BleuMetric(_SacreMetric):
    key = "bleu"
    name = "BLEU"
    description = "BLEU of each summary (effective order), and of the corpus, which is not the mean of the summaries."
    figures: tuple[Figure, ...] = (Figure("bleu", "BLEU", decimals=1, bounds=PER_CENT, better="higher", headline=True),)
    one, all = staticmethod(bleu.bleu), staticmethod(bleu.corpus_bleu)


class ChrfMetric(_SacreMetric):
    key = "chrf"
    name = "chrF"
    description = "chrF2: character n-grams up to 6, recall weighted twice; of each summary, and of the corpus."
    figures: tuple[Figure, ...] = (Figure("chrf", "chrF", decimals=1, bounds=PER_CENT, better="higher", headline=True),)
    one, all = staticmethod(bleu.chrf), staticmethod(bleu.corpus_chrf)


class SacreScorer(PerSummaryScorer):
    def __init__(self, key: str, one: ScoreOne, all: ScoreCorpus) -> None:
        self.key, self.one, self.all = key, one, all

    def rows(self, judged: Judged) -> list[Row]:
        rows = []
        for reference in judged.material.references:
            result = self.one(judged.text, [reference.text])
            undefined = {self.key: result.undefined} if result.undefined else {}
            rows.append(Row(reference.unit, {self.key: result.score}, undefined))
        return rows

    def corpus(self, summaries: Iterable[tuple[Judged, list[Row]]]) -> dict[str, Any]:
        """Compute the corpus score over the summaries that have their own target.

        All their texts are held in memory.
        """
        outputs, targets = [], []
        for judged, _ in summaries:
            if judged.material.own:
                outputs.append(judged.text)
                targets.append(judged.material.own.text)
        return {self.key: self.all(outputs, targets).as_json()}
