"""Counterfactuals (M3, section 6): a target rewritten in a few words so that one aspect becomes false.

The checks use the texts and, if known, the labels and the positions of the PICO elements. *Errors* mean that a text is
no counterfactual of its kind. *Warnings* ask a person to look at the text, because M3's own data has such rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from measures.counterfactual_modality import OF_M3, unlike_m3
from measures.spans import Ranges
from measures.word_edits import COUNTED, Difference, difference, same_words

#: Maximum number of changed words, ignoring case. "There is no evidence that" has five.
MOST_WORDS = 5


class Kind(StrEnum):
    """The five kinds of counterfactuals, in the order of M3's Table 7."""

    NEGATION = "negation"
    ANTONYM = "antonym"
    NO_EFFECT = "no effect"
    NO_EVIDENCE = "no evidence"
    MODALITY = "modality"


class Labels(NamedTuple):
    """Polarity and modality of a text, spelled as in `annotation.models.Polarity` and ``Modality``."""

    polarity: str
    modality: str


_EFFECTS = ("positive", "negative")
_POLARITIES = ("positive", "no effect", "negative")
_MODALITIES = ("strong", "moderate", "weak")
_NO_EVIDENCE = Labels("n/a", "no evidence")
_CLAIMS = frozenset(Labels(p, m) for p in _POLARITIES for m in _MODALITIES)
_Transition = tuple[tuple[str, ...], tuple[str, ...]]
#: kind -> changes of polarity (from, to) that keep the modality. Negation may keep the polarity, because readers differ
#: on "does not reduce" (no effect or harm). "Similar" has antonyms, too.
POLARITY_CHANGES: Mapping[Kind, tuple[_Transition, ...]] = {
    Kind.NEGATION: ((_POLARITIES, _POLARITIES),),
    Kind.ANTONYM: ((("positive",), ("negative",)), (("negative",), ("positive",)), (("no effect",), _EFFECTS)),
    Kind.NO_EFFECT: ((_EFFECTS, ("no effect",)), (("no effect",), _EFFECTS)),
    Kind.NO_EVIDENCE: (),
    Kind.MODALITY: (),
}
#: kind -> changes of modality (from, to) that keep the polarity.
MODALITY_CHANGES: Mapping[Kind, tuple[_Transition, ...]] = {
    Kind.NEGATION: (),
    Kind.ANTONYM: (),
    Kind.NO_EFFECT: (),
    Kind.NO_EVIDENCE: (),
    Kind.MODALITY: tuple(((m,), tuple(other for other in _MODALITIES if other != m)) for m in _MODALITIES),
}
#: Kinds that turn a claim into "no evidence" or the reverse. Both labels change at once.
TO_NO_EVIDENCE = frozenset({Kind.NO_EVIDENCE})
FROM_NO_EVIDENCE = frozenset({Kind.NO_EVIDENCE, Kind.NEGATION})


def allowed(kind: Kind, before: Labels) -> frozenset[Labels]:
    """Return the labels that are possible after a rewriting of this kind; empty if the kind does not apply to the
    target.
    """
    if before == _NO_EVIDENCE:
        return _CLAIMS if kind in FROM_NO_EVIDENCE else frozenset()
    labels = {Labels(p, before.modality) for p in _reached(POLARITY_CHANGES[kind], before.polarity)}
    labels |= {Labels(before.polarity, m) for m in _reached(MODALITY_CHANGES[kind], before.modality)}
    return frozenset(labels | ({_NO_EVIDENCE} if kind in TO_NO_EVIDENCE else set()))


def _reached(changes: Collection[_Transition], value: str) -> Iterator[str]:
    return (to for origins, results in changes if value in origins for to in results)


def kind_named(name: str) -> Kind | None:
    """Return the kind for any common spelling ("no_effect", "No effect", "NO-EVIDENCE"), or None."""
    return _BY_LETTERS.get(_letters(name))


def _letters(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


_BY_LETTERS = {_letters(kind): kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check: a stable code and a sentence."""

    code: str
    message: str


NO_TEXT = "no text"
UNCHANGED = "unchanged"
TOO_MANY = "too many words changed"
LABEL_CHANGE = "label change not of this kind"
PICO_TOUCHED = "PICO text touched"
SAME_AS_OTHER = "same text as another kind"
NOT_APPLICABLE = "kind does not fit the target's label"
NOT_OF_M3 = "modality changed as M3 did not"


@dataclass(frozen=True, slots=True)
class Check:
    """Errors (the text is rejected), warnings (the text is kept), and the changed words."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    difference: Difference


def check(
    kind: Kind,
    target: str,
    text: str,
    *,
    pico: Mapping[str, Ranges] | None = None,
    others: Mapping[Kind, str] | None = None,
    before: Labels | None = None,
    after: Labels | None = None,
) -> Check:
    """Check one counterfactual.

    ``pico`` holds the ranges of each PICO element in the target, by its name. ``others`` holds the target's
    counterfactuals of other kinds. ``before`` and ``after`` are the labels of the target and the text, None if
    unlabelled.
    """
    changed = difference(target, text)
    errors = tuple(_errors(kind, target, text, changed, before, after))
    warnings: list[Finding] = []
    if not errors:
        warnings += _touched(target, changed, pico or {})
        warnings += _same(kind, text, others or {})
        if before and after is None and not allowed(kind, before):
            message = f"{_capital(kind)} does not apply to polarity {before.polarity}, modality {before.modality}."
            warnings.append(Finding(NOT_APPLICABLE, message))
        elif before and kind == Kind.MODALITY and (odd := _unlike_m3(target, text, before, after)):
            warnings.append(Finding(NOT_OF_M3, odd))
    return Check(errors, tuple(warnings), changed)


def _errors(
    kind: Kind, target: str, text: str, changed: Difference, before: Labels | None, after: Labels | None
) -> Iterator[Finding]:
    if not text.strip():
        yield Finding(NO_TEXT, "The text is empty.")
        return
    if changed.words == 0:
        how = "The text is that of the target" if text == target else "The text differs from the target in no word"
        yield Finding(UNCHANGED, f"{how}; a counterfactual must differ.")
    elif changed.words is None or changed.words > MOST_WORDS:
        count = f"more than {COUNTED}" if changed.words is None else changed.words
        yield Finding(TOO_MANY, f"At most {MOST_WORDS} words may differ from the target; {count} do.")
    if before and after and after not in allowed(kind, before):
        message = (
            f"{_capital(kind)} cannot turn polarity {before.polarity}, modality {before.modality} into polarity "
            f"{after.polarity}, modality {after.modality}."
        )
        yield Finding(LABEL_CHANGE, message)


def _touched(target: str, changed: Difference, pico: Mapping[str, Ranges]) -> Iterator[Finding]:
    for slot, ranges in pico.items():
        for start, end in ranges:
            if any(e.target[0] < end and start < e.target[1] for e in changed.edits):
                yield Finding(PICO_TOUCHED, f"Words of the {slot} were changed: “{target[start:end]}”.")


def _same(kind: Kind, text: str, others: Mapping[Kind, str]) -> Iterator[Finding]:
    for other, other_text in others.items():
        if other != kind and same_words(other_text, text):
            yield Finding(SAME_AS_OTHER, f"The text equals the {other} counterfactual of this target.")


def _unlike_m3(target: str, text: str, before: Labels, after: Labels | None) -> str:
    """Return a warning, based on the label of the text if there is one, else on its words."""
    if after is None:
        return unlike_m3(before.modality, target, text)
    expected = OF_M3.get(before.modality)
    return "" if after.modality == expected else f"M3 makes a {before.modality} claim {expected}, not {after.modality}."


def _capital(kind: Kind) -> str:
    return kind.value[:1].upper() + kind.value[1:]
