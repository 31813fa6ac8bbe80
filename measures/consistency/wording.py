"""Does the wording of a sentence contradict its polarity? Read from its own negations and comparisons.

Three readings of words: they say that there is an *effect* ("higher", "associated", "improved"), that there is *none*
("similar", "no significant difference", "neither ... was associated"), or they praise or blame ("effective",
"inferior"). What the marked cue says counts most, since the annotator chose it; the rest of the sentence counts less.
Whether a rise is good or bad is not read: that takes knowledge of the outcome. A list to look through, not a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from measures.lexicon import Role, plays
from measures.lexicon_scope import FAR, Scope
from measures.spans import Range, Ranges
from measures.tokens import Tokens, tokens_of

from .claims import NEGATIVE, NO_EFFECT, POSITIVE, Claim

WORDING = "concord-wording 1"
"""Name of words and weights, kept with judgements of what they find; raised with any change."""

Says = Literal["an effect", "no effect", "a benefit", "a harm"]


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PRAISE = _listed(
    "effective efficacious beneficial superior better favorable favourable favor favour protective safe safer improved"
    " improves improvement advantage advantageous promising benefit benefits"
)
_BLAME = _listed(
    "worse worst inferior poorer harmful detrimental ineffective unfavorable unfavourable deleterious unsafe adverse"
    " worsened deteriorated toxic disadvantage"
)
_COMPARISONS: tuple[Role, ...] = ("rises", "falls", "better", "worse")
#: How far "no" and "not" reach, and negations that reach less, in tokens.
NEAR = 8
_SHORT = {"without": 2, "non": 2}
_VERBS = _listed("is are was were has have had")
#: What a word outside of the cue weighs, and a word of the cue that by itself says that two are alike.
ELSEWHERE, ALIKE = 0.3, 0.6
_ALIKE = _listed("both equally balanced exclude excluded limited alike same")
_WEIGHTS = {"negated": 1.0, "same": 0.8, "compared": 0.7, "judged": 0.6, "associated": 0.5}
_SUPPORTS: dict[str, frozenset[Says]] = {
    POSITIVE: frozenset({"an effect", "a benefit"}),
    NEGATIVE: frozenset({"an effect", "a harm"}),
    NO_EFFECT: frozenset({"no effect"}),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A word that ``says`` something, with how much it weighs (0..1), the words it was read from, and where they stand
    (half-open, in code points; of a cue without a place empty).

    One that ``is_bare`` names no effect ("both", "but not"): it speaks for a polarity, not against one.
    """

    says: Says
    weight: float
    quote: str
    at: Range = (0, 0)
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``weight`` in 0..1: what speaks against the polarity less what speaks for it; ``at``: where its words stand."""

    weight: float
    says: Says
    quote: str
    at: Range


def contradiction(claim: Claim) -> Contradiction | None:
    """What the wording says against a polarity, where it says more against it than for it; None for n/a."""
    supports = _SUPPORTS.get(claim.polarity)
    if supports is None:
        return None
    found = [*readings(claim.text, claim.polarity_at), *_of_a_cue_without_place(claim)]
    against = [r for r in found if r.says not in supports and not r.is_bare]
    best = max(against, key=lambda r: r.weight, default=None)
    weight = best.weight - max((r.weight for r in found if r.says in supports), default=0.0) if best else 0.0
    return Contradiction(round(weight, 3), best.says, best.quote, best.at) if best and weight > 0 else None


def reason(claim: Claim, found: Contradiction) -> str:
    return f"The polarity is {claim.polarity}, and “{found.quote}” says that there is {found.says}."


def readings(text: str, cue: Ranges = ()) -> Iterator[Reading]:
    """What the words of a text say; those that stand in ``cue`` (half-open ranges of code points) weigh more."""
    tokens = tokens_of(text)
    scope = Scope(tokens.keys, frozenset())
    for clause in _clauses(tokens.keys):
        for i in range(*clause):
            within = _first_of_cue(tokens, i, cue)
            if read := _read(tokens.keys, i, clause, scope, i if within is None else within):
                says, weight, first = read
                of_cue = not cue or _meets(tokens, first, i, cue)
                at = (tokens.ranges[first][0], tokens.ranges[i][1])
                yield Reading(says, weight if of_cue else weight * ELSEWHERE, text[slice(*at)], at)
            elif within is not None and (plays("negator", tokens.keys[i]) or tokens.keys[i] in _ALIKE):
                # "Both", "but not": a cue that says it without naming an effect.
                at = tokens.ranges[i]
                yield Reading("no effect", ALIKE, text[slice(*at)], at, is_bare=True)


def _of_a_cue_without_place(claim: Claim) -> Iterator[Reading]:
    """Of a published cue that is not found in one piece ("Neither related") its negation is known all the same."""
    if not claim.polarity_at and any(plays("negator", word) for word in tokens_of(claim.polarity_cue).keys):
        yield Reading("no effect", _WEIGHTS["negated"], claim.polarity_cue, is_bare=True)


def _read(
    keys: tuple[str, ...], i: int, clause: Range, scope: Scope, cue_from: int
) -> tuple[Says, float, int] | None:  # fmt: skip
    """(what token i says, its weight, the token it is read from on); ``cue_from``: where a cue around it begins."""
    word = keys[i]
    negator = _negator(keys, i, clause, cue_from)
    if _is_equated(keys, i) or (plays("same", word) and negator is None):
        return "no effect", _WEIGHTS["same"], i
    if plays("same", word):
        # "No similar effect" says neither.
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
    """Of "as safe and effective as": equals, not a praise. "Non-inferior" is the same said in another way."""
    before = keys[max(0, i - 3) : i]
    return (keys[i] in _PRAISE and "as" in before) or (keys[i] == "inferior" and before[-2:] == ("non", "-"))


def _effect(keys: tuple[str, ...], i: int, word: str) -> tuple[Says | None, float]:
    before, behind = keys[max(0, i - 2) : i], keys[i + 1 : i + 2]
    stressed = 0.2 * any(w.startswith("significant") for w in before)
    if word in _BLAME or (word == "less" and set(behind) & _PRAISE):
        return "a harm", _WEIGHTS["judged"]
    if word in _PRAISE and "less" not in before[-1:]:
        return "a benefit", _WEIGHTS["judged"]
    # A fall, a progression and an impairment are outcomes as well.
    if any(plays(role, word) for role in _COMPARISONS) and not plays("harm", word):
        return "an effect", _WEIGHTS["compared"] + stressed
    if plays("association", word) and (not word.startswith("factor") or "risk" in before[-1:]):
        return "an effect", _WEIGHTS["associated"] + stressed
    return None, 0.0


def _negator(keys: tuple[str, ...], i: int, clause: Range, cue_from: int) -> int | None:
    """The nearest word before token i that negates it. "Neither" and "no evidence" reach over commas, and so does what
    was marked with the word; "not" does not reach over a verb, "without" and "non" only what follows at once."""
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
    """The first token of the piece of a cue in which token i stands."""
    start, end = tokens.ranges[i]
    for begin, stop in cue:
        if begin <= start and end <= stop:
            return next(j for j, (at, _) in enumerate(tokens.ranges) if at >= begin)
    return None


def _meets(tokens: Tokens, first: int, last: int, cue: Ranges) -> bool:
    start, end = tokens.ranges[first][0], tokens.ranges[last][1]
    return any(start < stop and begin < end for begin, stop in cue)
