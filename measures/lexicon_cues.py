"""The rules of the lexicon classifier: which words of a sentence speak of the outcome, and what they come to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from measures.lexicon import plays
from measures.lexicon_scope import LINKS, Scope
from measures.spans import Range
from measures.tokens import Tokens

Says = Literal["decreases", "no change", "increases"]

FLOOR = 0.4
"""What a cue far from the outcome still weighs."""
_FAR = 6
"""So many words between the two, and it is far: 1 / (1 + 6 / 4) is the floor."""
LEAST = 0.2
"""What any cue weighs at least: alone it outweighs the prior's "no change"."""
WEAK = 0.5
"""What an association weighs that has no direction ("is associated with")."""

CUE_BONUS = 0.25
"""What a word of direction adds to the fit of a sentence."""

_MANNER = (
    "effective", "efficac", "pronounced", "marked", "safe", "toler", "than", "research", "stud", "trial", "sample",
    "follow",
)  # fmt: skip
"""What makes a comparison one of something other than the outcome: "more effective", "larger studies"."""
_COMPARED = ("more", "less", "larger", "smaller", "longer", "shorter", "fewer", "higher", "greater")
_BODY = ("extremit", "limb", "back", "leg", "respiratory", "urinary", "body", "eyelid", "gastrointestinal", "abdom")
"""What "lower" only says the place of."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that ``says`` a class: its ``range`` in the text, its ``weight`` (0..1), the ``rule`` it fell under."""

    says: Says
    range: Range
    quote: str
    weight: float
    rule: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, [begin, end) of the text, as read for one pair; ``score`` says how well it fits the pair."""

    begin: int
    end: int
    outcome_named: float
    intervention_named: float
    cues: tuple[Cue, ...]
    score: float


@dataclass(frozen=True, slots=True)
class _Found:
    """A cue before its weight: ``sign`` -1, 0, 1 at token ``at``."""

    at: int
    sign: int
    strength: float
    rule: str


_SAYS: dict[int, Says] = {-1: "decreases", 0: "no change", 1: "increases"}


def read(
    tokens: Tokens, stems: Sequence[str], intervention: frozenset[str], outcome: frozenset[str], sentence: Range
) -> Statement:
    """One sentence for one pair. ``stems`` are the tokens' keys in the singular, the two sets words in the singular."""
    begin, end = sentence
    reading = _Reading(tokens.keys, stems, intervention, outcome)
    cues = tuple(
        Cue(
            _SAYS[found.sign],
            (begin + tokens.ranges[found.at][0], begin + tokens.ranges[found.at][1]),
            tokens.keys[found.at],
            found.strength,
            found.rule,
        )
        for found in reading.weighed()
    )
    score = fit(tokens.keys, stems, intervention, outcome) + CUE_BONUS * bool(cues)
    return Statement(begin, end, _share(outcome, stems), _share(intervention, stems), cues, score)


def fit(keys: Sequence[str], stems: Sequence[str], intervention: frozenset[str], outcome: frozenset[str]) -> float:
    """How well a sentence fits a pair, -1..3: the share of the outcome's words counts twice the intervention's, and a
    sentence that states a purpose loses 1."""
    asks = any(plays("purpose", key) for key in keys)
    return 2 * _share(outcome, stems) + _share(intervention, stems) - asks


def _share(words: frozenset[str], stems: Sequence[str]) -> float:
    return len(words & set(stems)) / len(words) if words else 0.0


class _Reading:
    """The tokens of one sentence, where the pair stands in it, and the rules in the order they apply."""

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
        """The cues of the clause around the outcome (else of the nearest that has any), weighed by their distance."""
        home = max(self.clauses, key=lambda span: (self._outcomes_in(span), span[0]))
        order = sorted(self.clauses, key=lambda span: abs(span[0] - home[0]))
        for clause in order:
            found = self._directed(clause)
            if found:
                away = 1.0 if clause == home else 0.6
                return [self._weighed(each, away) for each in found]
        return []

    def _weighed(self, found: _Found, away: float) -> _Found:
        return replace(found, strength=max(LEAST, away * found.strength * self._closeness(found.at)))

    def _directed(self, clause: Range) -> list[_Found]:
        found = [each for i in range(*clause) if (each := self._cue(i, clause))]
        found = self._chained(found)
        found = [self._negated(each, clause) for each in found]
        if any(each.sign and each.rule != "association" for each in found):
            found = [each for each in found if each.rule != "association" or not each.sign]
        found += self._neutral(clause, found)
        if self.scope.turned(clause):
            found = [
                replace(each, sign=-each.sign, rule=f"{each.rule}, turned round") if each.sign else each
                for each in found
            ]
        return sorted(found, key=lambda each: each.at)

    def _cue(self, i: int, clause: Range) -> _Found | None:
        """What one word says by itself."""
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

    def _chained(self, found: list[_Found]) -> list[_Found]:
        """Of "greater reduction", "prevents the increase" the second word counts, turned by a first that falls."""
        kept: list[_Found] = []
        for each in found:
            if kept and kept[-1].sign and each.sign and self._linked(kept[-1].at, each.at):
                first = kept.pop()
                if first.sign < 0 and first.rule == "falls":
                    each = replace(each, sign=-each.sign, rule=f"{each.rule} after falls")
            kept.append(each)
        return kept

    def _linked(self, i: int, j: int) -> bool:
        return j - i <= 3 and all(self.keys[k] in LINKS for k in range(i + 1, j))

    def _negated(self, found: _Found, clause: Range) -> _Found:
        if not found.sign:
            return found
        if self.scope.negator(found.at, clause) or self.scope.not_significant(found.at, clause):
            return replace(found, sign=0, strength=1.0, rule=f"{found.rule}, negated")
        return found

    def _neutral(self, clause: Range, found: Sequence[_Found]) -> list[_Found]:
        """Of "no difference", "did not affect": one cue for a negation that no other cue has used."""
        if any("negated" in each.rule for each in found):
            return []
        for i in range(*clause):
            if plays("neutral", self.keys[i]) and i not in self.of_outcome and self.scope.negator(i, clause):
                return [_Found(i, 0, 1.0, "no effect")]
        return []

    def _closeness(self, at: int) -> float:
        """1 next to the outcome, less with every word between; another item of a list counts as three."""
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
        """Whether "risk of", "loss of" or the like stands right before the outcome."""
        return any(plays("harm", self.keys[j]) for i in self.outcomes for j in range(max(0, i - 3), i))

    def _before(self, i: int, words: tuple[str, ...]) -> bool:
        return i > 0 and self.keys[i - 1] in words
