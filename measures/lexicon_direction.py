"""A direction by words alone: does this text say that the intervention raises, lowers or leaves the outcome?

What it is: some two hundred words in one table (``measures.lexicon``), a dozen rules for negation, comparison and
reversal, and the MS^2 prior as smoothing. The sentence that names the outcome best is read, and in it the statement
around the outcome. The same text always gets the same answer, and the answer shows the words it rests on.

What it is not: a model. It knows no synonym, no abbreviation the text does not spell out, no number ("RR 0.70") and no
reference across sentences. It is there so that delta-EI can be run without weights, and as a baseline that any
classifier should beat. Published figures of MS^2 come from a trained classifier and are not comparable with its.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measures.direction import CLASSES, PRIOR
from measures.lexicon import LEXICON_NAME, plays
from measures.lexicon_cues import CUE_BONUS, Cue, Statement, fit, read
from measures.sentences import SPLITTER, sentence_ranges
from measures.spans import Range
from measures.tokens import TOKENIZER, Tokens, tokens_of

SMOOTHING = 0.5
"""How many cues the prior weighs: one cue next to the outcome comes to a probability of 0.7 to 0.86."""

NOTHING = "the text is empty: the prior"
NO_CUE = "no word of direction: the prior"
NOT_NAMED = "the outcome is not named"


@dataclass(frozen=True, slots=True)
class LexiconDirection:
    """``distribution`` over ``measures.direction.CLASSES``, sums to 1.

    ``evidence``: the range of the sentence it was read from, None for an empty text; ``sentence`` what stands there.
    ``outcome_named``, ``intervention_named``: the share of their words that the sentence has, 0..1. ``cues``: what the
    answer rests on, with ranges in the text. ``note`` says what the answer lacks.
    """

    distribution: tuple[float, float, float]
    evidence: Range | None
    sentence: str
    outcome_named: float
    intervention_named: float
    cues: tuple[Cue, ...]
    note: str = ""

    @property
    def likeliest(self) -> str:
        """The class with the highest probability; the later of equals, as in `measures.direction`."""
        return CLASSES[max(range(3), key=lambda i: (self.distribution[i], i))]


def lexicon_parameters() -> dict[str, object]:
    """What an answer depends on beside the text, to be kept with it."""
    return {
        "classifier": LEXICON_NAME, "smoothing": SMOOTHING, "prior": list(PRIOR), "sentences": SPLITTER,
        "tokenizer": TOKENIZER,
    }  # fmt: skip


def lexicon_direction(text: str, intervention: str, outcome: str) -> LexiconDirection:
    """What ``text`` says of ``outcome`` under ``intervention``; always an answer, the prior where there is no cue."""
    return lexicon_directions(text, [(intervention, outcome)])[0]


def lexicon_directions(text: str, pairs: Iterable[tuple[str, str]]) -> list[LexiconDirection]:
    """One answer for each (intervention, outcome), in order; the text is taken apart once."""
    read_text = [_Sentence.of(text, each) for each in sentence_ranges(text)]
    return [_answer(text, read_text, intervention, outcome) for intervention, outcome in pairs]


def _answer(text: str, given: Sequence[_Sentence], intervention: str, outcome: str) -> LexiconDirection:
    statements = _statements(given, content_words(intervention), content_words(outcome))
    if not statements:
        return LexiconDirection(PRIOR, None, "", 0.0, 0.0, (), NOTHING)
    best = max(statements, key=lambda each: (each.score, each.begin))  # of equals the later: conclusions come last
    weights = [SMOOTHING * share for share in PRIOR]
    for cue in best.cues:
        weights[CLASSES.index(cue.says)] += cue.weight
    total = sum(weights)
    distribution = (weights[0] / total, weights[1] / total, weights[2] / total)
    notes = [NO_CUE] * (not best.cues) + [NOT_NAMED] * (not best.outcome_named)
    return LexiconDirection(
        distribution, (best.begin, best.end), text[best.begin : best.end], best.outcome_named, best.intervention_named,
        best.cues, "; ".join(notes),
    )  # fmt: skip


def content_words(phrase: str) -> frozenset[str]:
    """The words that name something, plural marks off: those that are no general word, or all words if none is left."""
    words = [key for key in tokens_of(phrase).keys if key[0].isalnum()]
    named = [word for word in words if not plays("general", word)]
    return frozenset(singular(word) for word in named or words)


def singular(word: str) -> str:
    """A plural s taken off: "fractures", "injuries"; "loss" and "pus" stay."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


@dataclass(frozen=True, slots=True)
class _Sentence:
    range: Range
    tokens: Tokens
    stems: tuple[str, ...]

    @classmethod
    def of(cls, text: str, span: Range) -> _Sentence:
        tokens = tokens_of(text[slice(*span)])
        return cls(span, tokens, tuple(singular(key) for key in tokens.keys))


def _statements(given: Sequence[_Sentence], intervention: frozenset[str], outcome: frozenset[str]) -> list[Statement]:
    """Those sentences, read, that could still be the best: a cue is worth ``CUE_BONUS`` at most."""
    fits = [fit(each.tokens.keys, each.stems, intervention, outcome) for each in given]
    enough = max(fits, default=0.0) - CUE_BONUS
    return [
        read(each.tokens, each.stems, intervention, outcome, each.range)
        for each, fits_so in zip(given, fits, strict=True)
        if fits_so >= enough
    ]
