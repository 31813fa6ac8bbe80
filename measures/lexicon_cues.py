"""Rules of the lexicon classifier: find the words of a sentence that describe the outcome, and their direction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .direction import CLASSES, PRIOR
from .lexicon import LEXICON_NAME, LINKS, Scope, plays
from .sentences import SPLITTER, TOKENIZER, Tokens, sentence_ranges, tokens_of
from .spans import Range

Says = Literal["decreases", "no change", "increases"]

FLOOR = 0.4
"""Minimum weight factor of a cue that is far from the outcome."""
_FAR = 6
"""Distance in words from which a cue is far: 1 / (1 + 6 / 4) equals the minimum."""
LEAST = 0.2
"""Minimum weight of a cue. A single cue of this weight still outweighs the prior's "no change"."""
WEAK = 0.5
"""Weight of an association without direction ("is associated with")."""

CUE_BONUS = 0.25
"""Increase of a sentence's fit if it has a cue."""

_MANNER = (
    "effective",
    "efficac",
    "pronounced",
    "marked",
    "safe",
    "toler",
    "than",
    "research",
    "stud",
    "trial",
    "sample",
    "follow",
)
"""Words after which a comparison does not concern the outcome: "more effective", "larger studies"."""
_COMPARED = ("more", "less", "larger", "smaller", "longer", "shorter", "fewer", "higher", "greater")
_BODY = ("extremit", "limb", "back", "leg", "respiratory", "urinary", "body", "eyelid", "gastrointestinal", "abdom")
"""Words after "lower" or "higher" that make it an anatomical location."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that indicates a class: its ``range`` in the text, its ``weight`` (0..1) and the ``rule`` that matched."""

    says: Says
    range: Range
    quote: str
    weight: float
    rule: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, [begin, end) of the text, interpreted for one pair. ``score`` is its fit to the pair."""

    begin: int
    end: int
    outcome_named: float
    intervention_named: float
    cues: tuple[Cue, ...]
    score: float


@dataclass(frozen=True, slots=True)
class _Found:
    """An unweighted cue with ``sign`` -1, 0 or 1 at token ``at``."""

    at: int
    sign: int
    strength: float
    rule: str


_SAYS: dict[int, Says] = {-1: "decreases", 0: "no change", 1: "increases"}


def read(
    tokens: Tokens, stems: Sequence[str], intervention: frozenset[str], outcome: frozenset[str], sentence: Range
) -> Statement:
    """Interpret one sentence for one pair.

    ``stems`` are the tokens' keys in the singular; both word sets are singular.
    """
    begin, end = sentence
    reading = _Reading(tokens.keys, stems, intervention, outcome)
    cues = tuple(
        Cue(
            _SAYS[cue.sign],
            (begin + tokens.ranges[cue.at][0], begin + tokens.ranges[cue.at][1]),
            tokens.keys[cue.at],
            cue.strength,
            cue.rule,
        )
        for cue in reading.weighed()
    )
    score = fit(tokens.keys, stems, intervention, outcome) + CUE_BONUS * bool(cues)
    return Statement(begin, end, _share(outcome, stems), _share(intervention, stems), cues, score)


def fit(keys: Sequence[str], stems: Sequence[str], intervention: frozenset[str], outcome: frozenset[str]) -> float:
    """Return the fit of a sentence to a pair, -1..3.

    The share of the outcome's words counts twice as much as the intervention's. A sentence that states a purpose loses
    1.
    """
    asks = any(plays("purpose", key) for key in keys)
    return 2 * _share(outcome, stems) + _share(intervention, stems) - asks


def _share(words: frozenset[str], stems: Sequence[str]) -> float:
    return len(words & set(stems)) / len(words) if words else 0.0


class _Reading:
    """The tokens of one sentence, the positions of the pair in it, and the rules in the order in which they apply."""

    def __init__(
        self, keys: tuple[str, ...], stems: Sequence[str], intervention: frozenset[str], outcome: frozenset[str]
    ) -> None:
        self.keys = keys
        self.outcomes = [i for i, stem in enumerate(stems) if stem in outcome]
        self.of_outcome = set(self.outcomes)
        self.of_intervention = {i for i, stem in enumerate(stems) if stem in intervention and stem not in outcome}
        self.harmful = any(plays("harm", word) for word in outcome) or self._harm_near()
        self.scope = Scope(keys, self.of_intervention)
        self.clauses = self._clauses()

    def weighed(self) -> list[_Found]:
        """Return the cues of the clause around the outcome, weighted by distance.

        If this clause has no cue, the nearest clause with a cue is used.
        """
        home = max(self.clauses, key=lambda span: (self._outcomes_in(span), span[0]))
        order = sorted(self.clauses, key=lambda span: abs(span[0] - home[0]))
        for clause in order:
            cues = self._directed(clause)
            if cues:
                away = 1.0 if clause == home else 0.6
                return [self._weighed(each, away) for each in cues]
        return []

    def _weighed(self, cue: _Found, away: float) -> _Found:
        return replace(cue, strength=max(LEAST, away * cue.strength * self._closeness(cue.at)))

    def _directed(self, clause: Range) -> list[_Found]:
        cues = [each for i in range(*clause) if (each := self._cue(i, clause))]
        cues = self._chained(cues)
        cues = [self._negated(each, clause) for each in cues]
        if any(each.sign and each.rule != "association" for each in cues):
            cues = [each for each in cues if each.rule != "association" or not each.sign]
        cues += self._neutral(clause, cues)
        if self.scope.turned(clause):
            cues = [
                replace(each, sign=-each.sign, rule=f"{each.rule}, reversed") if each.sign else each for each in cues
            ]
        return sorted(cues, key=lambda each: each.at)

    def _cue(self, i: int, clause: Range) -> _Found | None:
        """Return the cue of a single word, or None."""
        word = self.keys[i]
        following = self.keys[i + 1] if i + 1 < clause[1] else ""
        if i in self.of_outcome or i in self.of_intervention or self._is_modifier(i):
            return None
        if word in _COMPARED and following.startswith(_MANNER):
            return None
        if word in ("lower", "higher") and following.startswith(_BODY):
            return None
        if plays("rises", word):
            return _Found(i, 1, 1.0, "rises")
        if plays("falls", word):
            return _Found(i, -1, 1.0, "falls")
        if plays("better", word):
            return _Found(i, -1 if self.harmful else 1, 1.0, "better")
        if plays("worse", word):
            return _Found(i, 1 if self.harmful else -1, 1.0, "worse")
        if plays("same", word) and not self.scope.negator(i, clause):
            return _Found(i, 0, 1.0, "same")
        if plays("association", word) and (
            not word.startswith("factor") or self._before(i, ("risk", "susceptibility", "causal"))
        ):
            return self._association(i)
        return None

    def _association(self, i: int) -> _Found:
        for j in range(max(0, i - 2), i):
            if plays("inverse", self.keys[j]):
                return _Found(i, -1, 1.0, "inverse association")
            if plays("direct", self.keys[j]):
                return _Found(i, 1, 1.0, "direct association")
        return _Found(i, 1, WEAK, "association")

    def _is_modifier(self, i: int) -> bool:
        """Whether the word qualifies the intervention or an exposure ("high doses", "increased vitamin K intake")."""
        if not (plays("rises", self.keys[i]) or plays("falls", self.keys[i])):
            return False
        reach = self.keys[i + 1 : i + 3]
        if any(plays("exposure", word) for word in reach):
            return True
        return i + 1 in self.of_intervention and self.keys[i].endswith(("ed", "er"))

    def _chained(self, cues: list[_Found]) -> list[_Found]:
        """Merge linked cues ("greater reduction", "prevents the increase").

        The second word counts. Its direction is reversed if the first one is a decrease.
        """
        chained: list[_Found] = []
        for each in cues:
            if chained and chained[-1].sign and each.sign and self._linked(chained[-1].at, each.at):
                first = chained.pop()
                if first.sign < 0 and first.rule == "falls":
                    each = replace(each, sign=-each.sign, rule=f"{each.rule} after falls")
            chained.append(each)
        return chained

    def _linked(self, i: int, j: int) -> bool:
        return j - i <= 3 and all(self.keys[k] in LINKS for k in range(i + 1, j))

    def _negated(self, cue: _Found, clause: Range) -> _Found:
        if not cue.sign:
            return cue
        if self.scope.negator(cue.at, clause) or self.scope.not_significant(cue.at, clause):
            return replace(cue, sign=0, strength=1.0, rule=f"{cue.rule}, negated")
        return cue

    def _neutral(self, clause: Range, cues: Sequence[_Found]) -> list[_Found]:
        """Return a cue for a negation that no other cue uses ("no difference", "did not affect")."""
        if any("negated" in each.rule for each in cues):
            return []
        for i in range(*clause):
            if plays("neutral", self.keys[i]) and i not in self.of_outcome and self.scope.negator(i, clause):
                return [_Found(i, 0, 1.0, "no effect")]
        return []

    def _closeness(self, at: int) -> float:
        """Return 1 next to the outcome, and less for each word between.

        A separator of a list counts as three more words.
        """
        if not self.outcomes:
            return FLOOR
        behind = bisect_left(self.outcomes, at)
        near = min(self.outcomes[max(0, behind - 1) : behind + 1], key=lambda i: abs(i - at))
        between = self.keys[min(near, at) + 1 : max(near, at)][:_FAR]
        gap = len(between) + 3 * sum(word in (",", "and", "or") for word in between)
        return max(FLOOR, 1 / (1 + gap / 4))

    def _outcomes_in(self, clause: Range) -> int:
        return bisect_left(self.outcomes, clause[1]) - bisect_left(self.outcomes, clause[0])

    def _clauses(self) -> list[Range]:
        starts = [0, *(i for i, word in enumerate(self.keys) if i and plays("break", word))]
        return list(zip(starts, [*starts[1:], len(self.keys)], strict=True))

    def _harm_near(self) -> bool:
        """Whether a harm ("risk of", "loss of") precedes the outcome."""
        return any(plays("harm", self.keys[j]) for i in self.outcomes for j in range(max(0, i - 3), i))

    def _before(self, i: int, words: tuple[str, ...]) -> bool:
        return i > 0 and self.keys[i - 1] in words


SMOOTHING = 0.5
"""Weight of the prior, in cues. One cue next to the outcome has a probability of 0.7 to 0.86."""

NOTHING = "the text is empty: the prior"
NO_CUE = "no word of direction: the prior"
NOT_NAMED = "the outcome is not named"


@dataclass(frozen=True, slots=True)
class LexiconDirection:
    """The direction of an outcome in a text, with the words on which it is based.

    ``distribution`` is over ``measures.direction.CLASSES`` and sums to 1. ``evidence`` is the range of the sentence
    that was used, None for an empty text; ``sentence`` is its text. ``outcome_named`` and ``intervention_named`` are
    the shares of their words that the sentence contains, 0..1. ``cues`` are the cues of the answer, with ranges in the
    text. ``note`` states limitations of the answer.
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
        """The class with the highest probability. Ties go to the later class, as in `measures.direction`."""
        return CLASSES[max(range(3), key=lambda i: (self.distribution[i], i))]


def lexicon_parameters() -> dict[str, object]:
    """Return the parameters that are stored with an answer."""
    return {
        "classifier": LEXICON_NAME,
        "smoothing": SMOOTHING,
        "prior": list(PRIOR),
        "sentences": SPLITTER,
        "tokenizer": TOKENIZER,
    }


def lexicon_direction(text: str, intervention: str, outcome: str) -> LexiconDirection:
    """Return the direction of ``outcome`` under ``intervention`` in ``text``. Without a cue it is the prior."""
    return lexicon_directions(text, [(intervention, outcome)])[0]


def lexicon_directions(text: str, pairs: Iterable[tuple[str, str]]) -> list[LexiconDirection]:
    """Return one answer for each (intervention, outcome), in order. The text is tokenized once."""
    read_text = [_Sentence.of(text, each) for each in sentence_ranges(text)]
    return [_answer(text, read_text, intervention, outcome) for intervention, outcome in pairs]


def _answer(text: str, sentences: Sequence[_Sentence], intervention: str, outcome: str) -> LexiconDirection:
    statements = _statements(sentences, content_words(intervention), content_words(outcome))
    if not statements:
        return LexiconDirection(PRIOR, None, "", 0.0, 0.0, (), NOTHING)
    # a tie goes to the later sentence, because conclusions come last
    best = max(statements, key=lambda each: (each.score, each.begin))
    weights = [SMOOTHING * share for share in PRIOR]
    for cue in best.cues:
        weights[CLASSES.index(cue.says)] += cue.weight
    total = sum(weights)
    distribution = (weights[0] / total, weights[1] / total, weights[2] / total)
    notes = [NO_CUE] * (not best.cues) + [NOT_NAMED] * (not best.outcome_named)
    return LexiconDirection(
        distribution,
        (best.begin, best.end),
        text[best.begin : best.end],
        best.outcome_named,
        best.intervention_named,
        best.cues,
        "; ".join(notes),
    )


def content_words(phrase: str) -> frozenset[str]:
    """Return the singular content words of a phrase: the words that are not general, or all words if there are none."""
    words = [key for key in tokens_of(phrase).keys if key[0].isalnum()]
    named = [word for word in words if not plays("general", word)]
    return frozenset(singular(word) for word in named or words)


def singular(word: str) -> str:
    """Remove a plural s: "fractures", "injuries". "loss" and "pus" are unchanged."""
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


def _statements(
    sentences: Sequence[_Sentence], intervention: frozenset[str], outcome: frozenset[str]
) -> list[Statement]:
    """Interpret the sentences that can still have the best score: cues add at most ``CUE_BONUS``."""
    fits = [fit(each.tokens.keys, each.stems, intervention, outcome) for each in sentences]
    enough = max(fits, default=0.0) - CUE_BONUS
    return [
        read(each.tokens, each.stems, intervention, outcome, each.range)
        for each, fits_so in zip(sentences, fits, strict=True)
        if fits_so >= enough
    ]
