"""Generate drafts of counterfactuals by rules, for a person to accept, edit or reject. No model is used.

A rule changes a few words at one position and keeps the syntax. If cues are annotated, positions near the cue come
first. A draft is dropped if it fails `measures.counterfactuals.check` or changes a PICO element.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from measures import counterfactual_modality as modalities
from measures import counterfactual_rules as rules
from measures.counterfactual_rules import Change, Rule
from measures.counterfactuals import PICO_TOUCHED, Kind, Labels, allowed, check
from measures.spans import Range, Ranges
from measures.word_edits import same_words

#: Maximum number of drafts of one kind.
MOST_DRAFTS = 3
#: Maximum number of changes that are tried. Each is compared with the whole text, and a text may have thousands.
_MOST_TRIED = 50


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of one kind and the rule that produced it."""

    rule: Rule
    text: str


@dataclass(frozen=True)
class Target:
    """A target with its known annotations. Cues and PICO elements are half-open ranges of code points of ``text``."""

    text: str
    labels: Labels | None = None
    polarity_cue: Ranges = ()
    modality_cue: Ranges = ()
    pico: Mapping[str, Ranges] = field(default_factory=dict)


def drafts(kind: Kind, target: Target) -> list[Draft]:
    """Return up to `MOST_DRAFTS` drafts of a kind, the likeliest first; none if the kind does not fit the label."""
    if target.labels and not allowed(kind, target.labels):
        return []
    offered: list[Draft] = []
    for change in _ordered(kind, target)[:_MOST_TRIED]:
        text = _applied(target.text, change)
        checked = check(kind, target.text, text, pico=target.pico)
        has_fault = bool(checked.errors) or any(warning.code == PICO_TOUCHED for warning in checked.warnings)
        if not has_fault and not any(same_words(text, other.text) for other in offered):
            offered.append(Draft(change.rule, text))
            if len(offered) == MOST_DRAFTS:
                break
    return offered


def _ordered(kind: Kind, target: Target) -> list[Change]:
    """Return the changes of a kind, sorted by the rank of their rule, then by distance from the cue."""
    cue = target.modality_cue if kind == Kind.MODALITY else target.polarity_cue
    ranked = []
    for rank, changes in enumerate(_changes(kind, target)):
        ranked += [(rank, _distance(change.at, cue), change) for change in changes]
    return [change for _, _, change in sorted(ranked, key=lambda one: one[:2])]


def _distance(at: Range, cue: Ranges) -> int:
    return min((max(start - at[1], at[0] - end, 0) for start, end in cue), default=0)


def _changes(kind: Kind, target: Target) -> list[list[Change]]:
    """Return the changes of each rule, in the order in which the rules are tried."""
    polarity, modality = target.labels or (None, None)
    text = target.text
    if kind == Kind.NEGATION:
        return [list(rule(text)) for rule in _NEGATIONS]
    if kind == Kind.ANTONYM:
        return [list(rules.antonyms(text, no_effect=polarity == "no effect")), list(rules.compared(text))]
    if kind == Kind.NO_EFFECT:
        to_effect = [
            list(rules.effect_stated(text)),
            list(rules.renamed(Rule.EFFECT, rules.not_dropped(text))),
            list(rules.renamed(Rule.EFFECT, rules.both(text))),
        ]
        to_none = [list(rules.effect_denied(text)), list(rules.renamed(Rule.NO_EFFECT, rules.verb_negated(text)))]
        if polarity is None:
            return to_effect + to_none
        return to_effect if polarity == "no effect" else to_none
    if kind == Kind.NO_EVIDENCE:
        if modality == "no evidence":
            return [list(rules.evidence(text)), list(rules.renamed(Rule.EVIDENCE, rules.not_dropped(text)))]
        return [list(rules.no_evidence(text))]
    if modality == "weak":
        return [list(modalities.unhedged(text))]
    if modality == "strong":
        return [list(modalities.toned_down(text))]
    return [list(modalities.hedged(text)), [Change(Rule.HEDGED, (0, 0), "It is possible that ")]]


_NEGATIONS = (
    rules.not_dropped,
    rules.no_dropped,
    rules.both,
    rules.verb_negated,
    rules.no_added,
    rules.but_not,
    rules.with_or_without,
)


def _applied(text: str, change: Change) -> str:
    start, end = change.at
    whole = text[:start] + change.to + (_lower_first(text) if end == 0 else text[end:])
    whole = _article_fitted(re.sub(r" {2,}", " ", whole), start)
    if start == 0 or change.to == "":
        whole = _capital_first(whole.lstrip(), text)
    return _any(whole, change) if change.rule in (Rule.NOT_ADDED, Rule.NO_EVIDENCE, Rule.NO_EFFECT) else whole


def _any(text: str, change: Change) -> str:
    """Replace the nearest "some" within eight words after a negation by "any"."""
    tail = text[change.at[0] :]
    return text[: change.at[0]] + re.sub(r"^((?:\S+\s+){1,8}?)some\b", r"\1any", tail, count=1)


def _article_fitted(text: str, at: int) -> str:
    """Fit "a" or "an" before the changed words to their first letter."""
    match = re.compile(r"\b(an?) $", re.IGNORECASE).search(text, max(0, at - 4), at)
    if not match or not text[at : at + 1].isalpha():
        return text
    fits = match[1][0] + ("n" if text[at].lower() in "aeiou" and not text.startswith(("uni", "use", "one"), at) else "")
    return text[: match.start()] + fits + text[match.end() - 1 :]


def _lower_first(text: str) -> str:
    """Lower the first letter for use inside a sentence. Names in capitals are unchanged."""
    return text[0].lower() + text[1:] if re.match(r"(?:[A-Z][a-z]+(?![\w-]*[A-Z\d])|A) ", text) else text


def _capital_first(text: str, like: str) -> str:
    return text[:1].upper() + text[1:] if like[:1].isupper() else text
