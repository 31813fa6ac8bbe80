"""Fields of the values of the kind *effect*, and the sentence that an effect of a model points to."""

from collections.abc import Sequence

from annotation.models import Effect, Sentence

KIND = "effect"
DIRECTION, SENTENCE = "effect_direction", "effect_sentence"


def closest_sentence(effect: Effect, sentences: Sequence[Sentence]) -> Sentence | None:
    """Return the sentence that shares most characters with the evidence. None if none does."""
    start, end = effect.start or 0, effect.end or 0
    shared = {sentence: min(sentence.end, end) - max(sentence.start, start) for sentence in sentences}
    best = max(shared, key=lambda sentence: shared[sentence], default=None)
    return best if best is not None and shared[best] > 0 else None
