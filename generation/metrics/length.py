"""How long a summary is, and how much longer or shorter than what it should be."""

from collections.abc import Iterator
from typing import Any

from measures.means import FROM_0
from measures.repetition import length_of
from measures.sentences import SPLITTER

from .per_summary import CpuMetric, PerSummaryScorer
from .protocol import Figure, Judged, Params, Row

EMPTY_REFERENCE = "the reference has no words"


class LengthMetric(CpuMetric):
    key = "length"
    name = "Length"
    description = "Words, sentences and characters of the summary, and its words over those of each reference."
    figures: tuple[Figure, ...] = (
        Figure("words", "Words", against="nothing", decimals=1, bounds=FROM_0, headline=True),
        Figure("sentences", "Sentences", against="nothing", bounds=FROM_0),
        Figure("characters", "Characters", against="nothing", decimals=1, bounds=FROM_0),
        Figure("words_ratio", "Words / words of the target", bounds=FROM_0),
    )

    def libraries(self, params: Params) -> dict[str, Any]:
        return {"sentences": SPLITTER}

    def load(self, params: Params) -> "LengthScorer":
        return LengthScorer()


class LengthScorer(PerSummaryScorer):
    def rows(self, judged: Judged) -> list[Row]:
        length = length_of(judged.text)
        own = {"words": length.words, "sentences": length.sentences, "characters": length.characters}
        return [Row(None, own), *self._ratios(judged, length.words)]

    def _ratios(self, judged: Judged, words: int) -> Iterator[Row]:
        for reference in judged.material.references:
            wanted = length_of(reference.text).words
            ratio = words / wanted if wanted else None
            yield Row(reference.unit, {"words_ratio": ratio}, {} if wanted else {"words_ratio": EMPTY_REFERENCE})
