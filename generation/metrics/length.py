"""Length of a summary, and its ratio to the length of each reference."""

from collections.abc import Iterator
from typing import Any

from measures.means import FROM_0
from measures.repetition import length_of
from measures.sentences import SPLITTER

from .protocol import CpuMetric, Figure, Judged, Params, PerSummaryScorer, Row

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
        values = {"words": length.words, "sentences": length.sentences, "characters": length.characters}
        return [Row(None, values), *self._ratios(judged, length.words)]

    def _ratios(self, judged: Judged, words: int) -> Iterator[Row]:
        for reference in judged.material.references:
            reference_words = length_of(reference.text).words
            ratio = words / reference_words if reference_words else None
            yield Row(
                reference.unit, {"words_ratio": ratio}, {} if reference_words else {"words_ratio": EMPTY_REFERENCE}
            )
