"""Rules that generate drafts of counterfactuals: negation, antonyms, effect and evidence.

The rules for modality are in `measures.counterfactual_modality`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from measures.counterfactual_words import ANTONYMS, BY_FORM, VERBS
from measures.spans import Range


class Rule(StrEnum):
    """Stable code of a rule, stored with the decision about a draft."""

    NOT_ADDED = "not added"
    NOT_DROPPED = "not removed"
    NO_ADDED = "no added"
    NO_DROPPED = "no removed"
    BOTH = "neither to both"
    BUT_NOT = "and to but not"
    WITH = "without to with"
    ANTONYM = "antonym"
    NO_EFFECT = "effect to no effect"
    EFFECT = "no effect to effect"
    NO_EVIDENCE = "there is no evidence"
    EVIDENCE = "evidence stated"
    HEDGED = "hedge added"
    UNHEDGED = "hedge removed"
    TONED_DOWN = "booster removed"


@dataclass(frozen=True, slots=True)
class Change:
    """An unchecked draft: the range ``at`` of the target is replaced by ``to``."""

    rule: Rule
    at: Range
    to: str


def renamed(rule: Rule, changes: Iterator[Change]) -> Iterator[Change]:
    """Return the same changes under another rule."""
    return (Change(rule, change.at, change.to) for change in changes)


# Negation

#: Number of characters before a match that are used as context.
_NEAR = 200
_BE = "is|are|was|were"
_MODAL = "can|could|may|might|should|will|would|must"
_AUXILIARY = rf"{_BE}|{_MODAL}|has|have|had|does|do|did"


def matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", text, re.IGNORECASE)


def last_word(text: str, end: int) -> str:
    """Return the last word before a position, or "" if none is near. The context is limited because it is read per
    match.
    """
    words = re.findall(r"[\w-]+", text[max(0, end - _NEAR) : end])
    return words[-1] if words else ""


def leading(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Match a word that can be removed with the space after it."""
    return re.finditer(rf"(?<![\w-])(?:{pattern}),? +(?=\w)", text, re.IGNORECASE)


def not_dropped(text: str) -> Iterator[Change]:
    for match in matches(rf"(?P<aux>{_AUXILIARY}) not", text):
        yield Change(Rule.NOT_DROPPED, match.span(), match["aux"])
    for match in matches("cannot", text):
        yield Change(Rule.NOT_DROPPED, match.span(), "can")
    for match in matches(r"(?P<v>fail(?:s|ed)?) to (?P<verb>\w+)", text):
        did = {"fail": "do", "fails": "does", "failed": "did"}[match["v"].lower()]
        yield Change(Rule.NOT_DROPPED, match.span(), f"{did} {match['verb']}")
    for match in leading("(?<!but )not", text):
        yield Change(Rule.NOT_DROPPED, match.span(), "")


def no_dropped(text: str) -> Iterator[Change]:
    for match in matches(r"no (?P<noun>(?:[\w-]+ ){0,2}?[\w-]+)", text):
        noun = match["noun"]
        if noun.split()[0].lower() in ("longer", "more", "less", "better", "worse"):
            yield Change(Rule.NO_DROPPED, (match.start(), match.start("noun")), "")
            continue
        yield Change(Rule.NO_DROPPED, (match.start(), match.start("noun")), _article(text[match.start("noun") :]))


def _article(rest: str) -> str:
    """Return the replacement of "no" before these words: "a", "an", or "" before a plural or an uncountable noun."""
    words = re.findall(r"[\w-]+", rest)[:4]
    nouns = (
        "difference",
        "effect",
        "association",
        "benefit",
        "change",
        "relationship",
        "impact",
        "influence",
        "role",
        "increase",
        "decrease",
        "reduction",
        "correlation",
        "advantage",
        "link",
        "improvement",
    )
    for word in words:
        if word.lower() in nouns:
            return "an " if words[0][0].lower() in "aeiou" else "a "
        if word.lower().endswith("s") and not word.lower().endswith("ss"):
            return ""
    return ""


def both(text: str) -> Iterator[Change]:
    match = re.search(r"\bneither\b(.*?)\bnor\b", text, re.IGNORECASE)
    if match:
        yield Change(Rule.BOTH, match.span(), f"{_like(match[0], 'both')}{match[1]}and")


def _like(was: str, word: str) -> str:
    return word.capitalize() if was[:1].isupper() else word


def verb_negated(text: str) -> Iterator[Change]:
    for match in matches(rf"(?P<aux>{_BE}|{_MODAL}|(?:has|have|had)(?= (?:been|\w+ed)\b))(?! not)", text):
        yield Change(Rule.NOT_ADDED, match.span(), "cannot" if match["aux"] == "can" else f"{match['aux']} not")
    yield from verbs(text, Rule.NOT_ADDED, {"base": "do not {0}", "third": "does not {0}", "past": "did not {0}"})


#: After one of these words a verb form cannot be negated: "to reduce", "the reduced risk", "was reduced".
_NO_VERB_BEHIND = frozenset(
    re.findall(
        r"\w+",
        "to a an the of with in for by or not is are was were be been being have has had may might can could should"
        " will would must do does did no its their his her at on from as than this these those significant",
    )
)


def verbs(text: str, rule: Rule, how: Mapping[str, str]) -> Iterator[Change]:
    """Replace verbs of the lexicon that are the verb of a clause.

    ``how`` holds a template for each form: ``{0}`` is the base, ``{1}`` the participle. An adverb before the verb is
    kept.
    """
    alternatives = "|".join(sorted(BY_FORM, key=len, reverse=True))
    for match in matches(rf"(?P<adverb>\w+ly )?(?P<verb>{alternatives})", text):
        verb = BY_FORM[match["verb"].lower()]
        before = last_word(text, match.start())
        if not before or before.lower() in _NO_VERB_BEHIND or before.lower() in BY_FORM:
            continue
        if rule == Rule.NOT_ADDED and before.lower() == "and":
            # `but_not` negates the second of two verbs.
            continue
        if rule == Rule.HEDGED and text.startswith(" that ", match.end()):
            # The claim is in the clause after "that", so the reporting verb is not hedged.
            continue
        form = match["verb"].lower()
        name = "third" if form == verb.third else "past" if form == verb.past else "base" if form == verb.base else ""
        if name == "base" and not before.endswith(("s", "data", "trials", "studies")):
            continue
        if name in how:
            adverb = match["adverb"] or ""
            yield Change(rule, match.span(), how[name].format(adverb + verb.base, adverb + verb.participle))


_COUNTED_NOUN = (
    "difference|effect|association|relationship|correlation|benefit|improvement|increase|decrease|reduction|advantage|"
    "risk|role|impact|influence|link|evidence|change"
)


def no_added(text: str) -> Iterator[Change]:
    for match in matches(rf"an? (?P<what>(?:[\w-]+ ){{0,3}}?(?:{_COUNTED_NOUN}))", text):
        yield Change(Rule.NO_ADDED, match.span(), f"{_like(match[0], 'no')} {match['what']}")
    for match in matches(rf"(?<!no )(?P<what>(?:significant|strong|clear) (?:{_COUNTED_NOUN})s?)", text):
        what = match["what"]
        yield Change(
            Rule.NO_ADDED, match.span(), f"No {what[0].lower()}{what[1:]}" if what[0].isupper() else f"no {what}"
        )


def but_not(text: str) -> Iterator[Change]:
    """Negate the second of two verbs: "reduces pain and improves sleep", "is effective and safe"."""
    for match in matches(r"and (?P<verb>\w+)", text):
        verb = BY_FORM.get(match["verb"].lower())
        form = match["verb"].lower()
        if verb and form in (verb.third, verb.past):
            did = "does" if form == verb.third else "did"
            yield Change(Rule.BUT_NOT, match.span(), f"but {did} not {verb.base}")
        elif form in ("is", "are", "was", "were", "may", "can", "could"):
            yield Change(Rule.BUT_NOT, match.span(), f"but {match['verb']} not")
        elif form in ("safe", "effective", "well", "tolerable"):
            yield Change(Rule.BUT_NOT, match.span(), f"but not {match['verb']}")


def with_or_without(text: str) -> Iterator[Change]:
    for match in matches("without", text):
        yield Change(Rule.WITH, match.span(), "with")


# Antonyms


def antonyms(text: str, *, no_effect: bool) -> Iterator[Change]:
    """Replace each word that has an antonym.

    ``no_effect`` is true if the text states no effect; "no difference" then has an antonym, too.
    """
    for match in re.finditer(r"[\w-]+", text):
        other = ANTONYMS.get(match[0].lower())
        before = text[max(0, match.start() - _NEAR) : match.start()].lower()
        if other and _is_read(match, text) and not (" " in other and before.endswith(("no ", "not "))):
            yield Change(Rule.ANTONYM, match.span(), _like(match[0], other))
    for match in matches(
        r"no (?P<what>(?:[\w-]+ ){0,3}?(?:difference|effect|association|change|benefit|improvement)s?)", text
    ):
        if no_effect:
            yield Change(Rule.ANTONYM, (match.start(), match.start("what")), _article(match["what"]))
    for match in matches(r"not (?:significantly )?different", text):
        yield Change(Rule.ANTONYM, match.span(), "significantly worse")


def _is_read(match: re.Match[str], text: str) -> bool:
    """Whether the word can be replaced by its antonym: "risk" only in "risk factor"."""
    if match[0].lower() == "risk":
        return text.startswith((" factor", " factors"), match.end())
    return True


def compared(text: str) -> Iterator[Change]:
    for match in matches("as (?P<what>effective|safe|good|well) as", text):
        yield Change(Rule.ANTONYM, match.span(), f"less {match['what']} than")
    for match in matches(rf"(?P<aux>{_BE}) not", text):
        yield Change(Rule.ANTONYM, match.span(), match["aux"])
    for match in matches("neither|nor|none", text):
        yield Change(Rule.ANTONYM, match.span(), {"neither": "both", "nor": "and", "none": "all"}[match[0].lower()])


# No effect

_COMPARATIVE = (
    r"(?:higher|lower|better|worse|greater|smaller|superior|inferior|longer|shorter|faster|slower|(?:more|less) \w+)"
)


def effect_denied(text: str) -> Iterator[Change]:
    for match in matches(r"(?:more|less) (?P<what>\w+) than", text):
        yield Change(Rule.NO_EFFECT, match.span(), f"as {match['what']} as")
    for match in matches(
        rf"(?P<aux>{_BE}|has|have|had|showed|shows|show|demonstrated) (?:an? )?"
        rf"(?:significantly )?(?P<what>{_COMPARATIVE})",
        text,
    ):
        yield Change(Rule.NO_EFFECT, match.span(), f"{match['aux']} no {match['what']}")
    yield from renamed(Rule.NO_EFFECT, no_added(text))
    for match in matches(
        rf"(?P<aux>{_BE}) (?P<rest>(?:\w+ly )?(?:associated|correlated|related|linked|effective|beneficial|harmful))",
        text,
    ):
        yield Change(Rule.NO_EFFECT, match.span(), f"{match['aux']} not {match['rest']}")
    moved = {verb.base for verb in VERBS} & {
        "improve",
        "reduce",
        "increase",
        "decrease",
        "lower",
        "enhance",
        "worsen",
        "impair",
        "elevate",
        "prolong",
        "prevent",
        "delay",
        "slow",
        "shorten",
        "raise",
        "relieve",
        "alleviate",
    }
    for change in verbs(
        text, Rule.NO_EFFECT, {"base": "have no effect on", "third": "has no effect on", "past": "had no effect on"}
    ):
        word = text[slice(*change.at)].split()[-1].lower()
        if BY_FORM[word].base in moved:
            yield change


def effect_stated(text: str) -> Iterator[Change]:
    yield from renamed(Rule.EFFECT, no_dropped(text))
    for match in matches("as (?P<what>effective|safe|good|well) as", text):
        yield Change(Rule.EFFECT, match.span(), f"more {match['what']} than")
    better = {
        "similar": "better",
        "comparable": "better",
        "equivalent": "superior",
        "equal": "superior",
        "non-inferior": "superior",
        "noninferior": "superior",
        "ineffective": "effective",
        "unrelated": "related",
        "similarly": "more",
        "equally": "more",
        "same": "better",
        "unaffected": "affected",
        "unchanged": "improved",
        "insignificant": "significant",
        "non-significant": "significant",
    }
    for match in matches("|".join(better), text):
        yield Change(Rule.EFFECT, match.span(), _like(match[0], better[match[0].lower()]))
    for match in matches(r"not (?:significantly )?different", text):
        yield Change(Rule.EFFECT, match.span(), "significantly better")
    for match in matches(r"(?P<verb>little or no|little|lack of)", text):
        yield Change(Rule.EFFECT, match.span(), "clear")


# Evidence


_REPORTS = "|".join(
    form
    for verb in VERBS
    if verb.base in ("suggest", "show", "indicate", "demonstrate", "reveal", "find", "confirm")
    for form in dict.fromkeys(verb)
)


def no_evidence(text: str) -> Iterator[Change]:
    match = re.match(r"There (is|was) (?:[\w-]+ ){0,3}?evidence (that|of|for)\b", text)
    if match:
        yield Change(Rule.NO_EVIDENCE, match.span(), f"There {match[1]} no evidence {match[2]}")
        return
    for match in re.finditer(rf"^(?:[\w-]+,? ){{1,5}}(?:{_REPORTS}) that ", text):
        yield Change(Rule.NO_EVIDENCE, match.span(), "There is no evidence that ")
    lead = re.match(
        r"(?:However|Therefore|Thus|Furthermore|Moreover|Overall|In conclusion|In summary|Additionally|Also), ", text
    )
    if lead:
        yield Change(Rule.NO_EVIDENCE, (lead.end(), lead.end()), "there is no evidence that ")
    else:
        yield Change(Rule.NO_EVIDENCE, (0, 0), "There is no evidence that ")
    for match in matches(r"(?P<what>(?:[\w-]+ )?evidence)(?= (?:that|of|for|to|suggests|supports|from))", text):
        yield Change(Rule.NO_EVIDENCE, match.span(), "no evidence")


def evidence(text: str) -> Iterator[Change]:
    stated = {
        "insufficient": "sufficient",
        "inadequate": "adequate",
        "unclear": "clear",
        "inconclusive": "conclusive",
        "uncertain": "certain",
        "unknown": "known",
        "lack of": "good",
        "lacking": "available",
        "limited": "good",
        "little": "good",
        "not enough": "enough",
        "unable": "able",
        "too few": "enough",
        "sparse": "ample",
        "scarce": "ample",
        "weak": "strong",
        "conflicting": "consistent",
        "controversial": "established",
        "poor": "good",
        "low": "high",
    }
    for match in matches(r"no (?P<what>(?:[\w-]+ ){0,3}?(?:evidence|data|trials|studies))", text):
        yield Change(
            Rule.EVIDENCE,
            match.span(),
            f"{_like(match[0], 'good') if 'evidence' in match['what'] else _like(match[0], 'some')} {match['what']}",
        )
    for match in matches("|".join(stated), text):
        yield Change(Rule.EVIDENCE, match.span(), _like(match[0], stated[match[0].lower()]))
    for match in matches(
        r"(?:more|further|additional) (?:[\w-]+ ){0,3}?(?:research|studies|trials|evidence|data) (?P<aux>is|are)", text
    ):
        yield Change(
            Rule.EVIDENCE,
            (match.start(), match.start("aux")),
            f"{_like(match[0], 'no')} {match[0][: match.start('aux') - match.start()]}",
        )
