"""How much a summary repeats itself."""

from typing import Any

from measures.means import FROM_0, FROM_0_TO_1
from measures.repetition import SIZES, repetition
from measures.tokens import TOKENIZER

from .per_summary import CpuMetric, PerSummaryScorer
from .protocol import Figure, Judged, Params, Row


class RepetitionMetric(CpuMetric):
    key = "repetition"
    name = "Repetition"
    description = (
        "Shares of n-grams that had come before in the same summary, and sentences that say word for word what an "
        "earlier one did."
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
        found = repetition(judged.text)
        values: dict[str, float | None] = {f"repeated_{each.n}": each.repeated_share for each in found.ngrams}
        undefined = {f"repeated_{each.n}": each.undefined for each in found.ngrams if each.undefined}
        return [Row(None, values | {"repeated_sentences": found.repeated_sentences}, undefined)]
