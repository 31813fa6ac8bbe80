"""Find sentences whose wording contradicts their polarity, based on negations and comparisons.

Words are classified in three groups. They state an *effect* ("higher", "associated", "improved"), *no effect*
("similar", "no significant difference", "neither ... was associated"), or a judgement ("effective", "inferior"). Words
in the marked cue have full weight, because the annotator chose them; other words have less. Whether an increase is good
or bad is not decided, because that requires knowledge of the outcome. The findings are candidates for review.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from measures.lexicon import Role, plays
from measures.spans import Range, Ranges

from ..lexicon import FAR, Scope
from ..sentences import Tokens, tokens_of
from .claims import NEGATIVE, NO_EFFECT, POSITIVE, Claim

WORDING = "concord-wording 1"
"""Version of words and weights, stored with judgements of findings; increased with any change."""

#: Smallest weight that is reported. Of M3's published labels a reader found a label at least doubtful in 10 of the 18
#: findings from here on, and in 5 of the 22 just below (docs/curate.md).
CUT = 0.75

Says = Literal["an effect", "no effect", "a benefit", "a harm"]


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PRAISE = _word_set(
    "effective efficacious beneficial superior better favorable favourable favor favour protective safe safer improved"
    " improves improvement advantage advantageous promising benefit benefits"
)
_BLAME = _word_set(
    "worse worst inferior poorer harmful detrimental ineffective unfavorable unfavourable deleterious unsafe adverse"
    " worsened deteriorated toxic disadvantage"
)
_COMPARISONS: tuple[Role, ...] = ("rises", "falls", "better", "worse")
#: Reach of "no" and "not", and of negations with a shorter reach, in tokens.
NEAR = 8
_SHORT = {"without": 2, "non": 2}
_VERBS = _word_set("is are was were has have had")
#: Weight factor of a word outside the cue, and weight of a cue word that by itself states equality.
OUTSIDE_CUE, EQUALITY = 0.3, 0.6
_EQUALITY_WORDS = _word_set("both equally balanced exclude excluded limited alike same")
_WEIGHTS = {"negated": 1.0, "same": 0.8, "compared": 0.7, "judged": 0.6, "associated": 0.5}
_SUPPORTS: dict[str, frozenset[Says]] = {
    POSITIVE: frozenset({"an effect", "a benefit"}),
    NEGATIVE: frozenset({"an effect", "a harm"}),
    NO_EFFECT: frozenset({"no effect"}),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A word that indicates an effect, with its weight (0..1), the words it was read from and their range.

    The range is half-open, in code points; it is empty for a cue without a known position. If ``is_bare`` is true, the
    word names no effect ("both", "but not"). It can support a polarity, but not contradict it.
    """

    says: Says
    weight: float
    quote: str
    at: Range = (0, 0)
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The evidence against a polarity.

    ``weight`` in 0..1 is the strongest evidence against less the strongest for it.
    """

    weight: float
    says: Says
    quote: str
    at: Range


def contradiction(claim: Claim) -> Contradiction | None:
    """Return the evidence against the polarity if it outweighs the evidence for it. It is None for n/a."""
    supports = _SUPPORTS.get(claim.polarity)
    if supports is None:
        return None
    all_readings = [*readings(claim.text, claim.polarity_at), *_negation_of_unplaced_cue(claim)]
    against = [r for r in all_readings if r.says not in supports and not r.is_bare]
    best = max(against, key=lambda r: r.weight, default=None)
    weight = best.weight - max((r.weight for r in all_readings if r.says in supports), default=0.0) if best else 0.0
    return Contradiction(round(weight, 3), best.says, best.quote, best.at) if best and weight > 0 else None


def reason(claim: Claim, evidence: Contradiction) -> str:
    return f"The polarity is {claim.polarity}, but “{evidence.quote}” indicates {evidence.says}."


def readings(text: str, cue: Ranges = ()) -> Iterator[Reading]:
    """Yield the readings of a text. Words in ``cue`` (half-open ranges of code points) have a larger weight."""
    tokens = tokens_of(text)
    scope = Scope(tokens.keys, frozenset())
    for clause in _clauses(tokens.keys):
        for i in range(*clause):
            within = _first_of_cue(tokens, i, cue)
            if read := _read(tokens.keys, i, clause, scope, i if within is None else within):
                says, weight, first = read
                of_cue = not cue or _overlaps_cue(tokens, first, i, cue)
                at = (tokens.ranges[first][0], tokens.ranges[i][1])
                yield Reading(says, weight if of_cue else weight * OUTSIDE_CUE, text[slice(*at)], at)
            elif within is not None and (plays("negator", tokens.keys[i]) or tokens.keys[i] in _EQUALITY_WORDS):
                # "Both" and "but not" are cues that name no effect.
                at = tokens.ranges[i]
                yield Reading("no effect", EQUALITY, text[slice(*at)], at, is_bare=True)


def _negation_of_unplaced_cue(claim: Claim) -> Iterator[Reading]:
    """Yield the negation of a published cue that does not occur in one piece ("Neither related")."""
    if not claim.polarity_at and any(plays("negator", word) for word in tokens_of(claim.polarity_cue).keys):
        yield Reading("no effect", _WEIGHTS["negated"], claim.polarity_cue, is_bare=True)


def _read(keys: tuple[str, ...], i: int, clause: Range, scope: Scope, cue_from: int) -> tuple[Says, float, int] | None:
    """Return (class of token i, its weight, the first token that was read).

    ``cue_from``: start of the enclosing cue.
    """
    word = keys[i]
    negator = _negator(keys, i, clause, cue_from)
    if _is_equated(keys, i) or (plays("same", word) and negator is None):
        return "no effect", _WEIGHTS["same"], i
    if plays("same", word):
        # "No similar effect" indicates neither.
        return None
    says, weight = _effect(keys, i, word)
    if says and (negator is not None or scope.not_significant(i, clause)):
        return "no effect", _WEIGHTS["negated"], i if negator is None else negator
    if says:
        return says, weight, i
    if plays("neutral", word) and negator is not None:
        return "no effect", _WEIGHTS["negated"], negator
    return None


def _is_equated(keys: tuple[str, ...], i: int) -> bool:
    """Whether the word states equality: "as safe and effective as", "non-inferior"."""
    before = keys[max(0, i - 3) : i]
    return (keys[i] in _PRAISE and "as" in before) or (keys[i] == "inferior" and before[-2:] == ("non", "-"))


def _effect(keys: tuple[str, ...], i: int, word: str) -> tuple[Says | None, float]:
    before, following = keys[max(0, i - 2) : i], keys[i + 1 : i + 2]
    stressed = 0.2 * any(w.startswith("significant") for w in before)
    if word in _BLAME or (word == "less" and set(following) & _PRAISE):
        return "a harm", _WEIGHTS["judged"]
    if word in _PRAISE and "less" not in before[-1:]:
        return "a benefit", _WEIGHTS["judged"]
    # Falls, progression and impairment are outcomes, too.
    if any(plays(role, word) for role in _COMPARISONS) and not plays("harm", word):
        return "an effect", _WEIGHTS["compared"] + stressed
    if plays("association", word) and (not word.startswith("factor") or "risk" in before[-1:]):
        return "an effect", _WEIGHTS["associated"] + stressed
    return None, 0.0


def _negator(keys: tuple[str, ...], i: int, clause: Range, cue_from: int) -> int | None:
    """Return the nearest word before token i that negates it.

    "Neither", "no evidence" and negations marked in the same cue apply across commas. "Not" does not apply across a
    verb. "Without" and "non" apply only to the words directly after them.
    """
    for j in range(i - 1, max(clause[0], i - FAR) - 1, -1):
        word, between = keys[j], keys[j + 1 : i]
        if not plays("negator", word) or between[:1] == ("only",):
            continue
        if word in _SHORT:
            if i - j <= _SHORT[word]:
                return j
        elif (
            word in ("neither", "nor")
            or "evidence" in between[:3]
            or j >= cue_from
            or (i - j <= NEAR and "," not in between and (word == "no" or not _VERBS & set(between)))
        ):
            return j
    return None


def _clauses(keys: tuple[str, ...]) -> list[Range]:
    starts = [0, *(i for i, word in enumerate(keys) if i and (plays("break", word) or word == "."))]
    return list(zip(starts, [*starts[1:], len(keys)], strict=True))


def _first_of_cue(tokens: Tokens, i: int, cue: Ranges) -> int | None:
    """Return the first token of the cue fragment that contains token i."""
    start, end = tokens.ranges[i]
    for begin, stop in cue:
        if begin <= start and end <= stop:
            return next(j for j, (at, _) in enumerate(tokens.ranges) if at >= begin)
    return None


def _overlaps_cue(tokens: Tokens, first: int, last: int, cue: Ranges) -> bool:
    start, end = tokens.ranges[first][0], tokens.ranges[last][1]
    return any(start < stop and begin < end for begin, stop in cue)
