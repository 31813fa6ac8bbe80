"""Repetition within a summary."""

from typing import Any

from measures.means import FROM_0, FROM_0_TO_1
from measures.repetition import SIZES, repetition
from measures.sentences import TOKENIZER

from .protocol import CpuMetric, Figure, Judged, Params, PerSummaryScorer, Row


class RepetitionMetric(CpuMetric):
    key = "repetition"
    name = "Repetition"
    description = (
        "Shares of n-grams that occurred earlier in the same summary, and the number of sentences that repeat an "
        "earlier one word for word."
    )
    figures: tuple[Figure, ...] = (
        *(Figure(f"repeated_{n}", f"Repeated {n}-grams", "nothing", 100, 1, FROM_0_TO_1) for n in SIZES),
        Figure("repeated_sentences", "Repeated sentences", "nothing", decimals=2, bounds=FROM_0),
    )

    def libraries(self, params: Params) -> dict[str, Any]:
        return {"tokenizer": TOKENIZER}

    def load(self, params: Params) -> "RepetitionScorer":
        return RepetitionScorer()


class RepetitionScorer(PerSummaryScorer):
    def rows(self, judged: Judged) -> list[Row]:
        result = repetition(judged.text)
        values: dict[str, float | None] = {f"repeated_{ngrams.n}": ngrams.repeated_share for ngrams in result.ngrams}
        undefined = {f"repeated_{ngrams.n}": ngrams.undefined for ngrams in result.ngrams if ngrams.undefined}
        return [Row(None, values | {"repeated_sentences": result.repeated_sentences}, undefined)]
