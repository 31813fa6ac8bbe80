"""Input and output of the consistency rules, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from measures.spans import Ranges

#: Scale values to which rules refer by name.
NOT_APPLICABLE, NO_EVIDENCE = "n/a", "no evidence"
POSITIVE, NO_EFFECT, NEGATIVE = "positive", "no effect", "negative"
MODERATE = "moderate"


@dataclass(frozen=True, slots=True)
class Claim:
    """One proposition. ``unit`` identifies it in findings. ``study`` is "" for a target, a label "" while undecided.

    ``polarity_cue`` and ``modality_cue`` hold the words as marked or published, "" if there are none. ``polarity_at``
    holds the ranges of the polarity cue in ``text``, half-open, in code points.
    """

    unit: str
    text: str
    study: str = ""
    polarity: str = ""
    modality: str = ""
    polarity_cue: str = ""
    modality_cue: str = ""
    polarity_at: Ranges = ()

    @property
    def is_labelled(self) -> bool:
        return bool(self.polarity and self.modality)


@dataclass(frozen=True, slots=True)
class Slot:
    """One PICO element of a tuple.

    ``text`` is the element as typed. ``named`` holds its words including implied ones, ``explicit`` those that are
    declared to be in the target. ``is_reworded`` is true if some of these do not occur there verbatim.
    """

    name: str
    text: str
    named: str
    explicit: str = ""
    is_reworded: bool = False


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A counterfactual of the target, by kind, with the ranges of the PICO elements in the target's text."""

    kind: str
    text: str
    pico: Mapping[str, Ranges] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A target, the inputs with the same tuple, and their common annotations; a missing annotation is ""."""

    unit: str
    review: str
    target: Claim | None
    inputs: Sequence[Claim] = ()
    slots: Sequence[Slot] = ()
    relation: str = ""
    rewritings: Sequence[Rewriting] = ()

    @property
    def claims(self) -> list[Claim]:
        return [*([self.target] if self.target else []), *self.inputs]

    @property
    def tuple_named(self) -> tuple[str, ...]:
        """The words of the tuple's elements, without case and outer spaces, or () if all elements are empty."""
        named = tuple(slot.named.strip().casefold() for slot in self.slots)
        return named if any(named) else ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A possible inconsistency.

    ``units`` are the units concerned, the main one first. ``reason`` is a sentence for people. ``rests_on`` holds the
    values that caused the finding. Findings with equal rule, units and values are the same. ``weight`` orders the
    findings of one rule, the strongest first. ``is_information`` is true if the values may be intended.
    """

    rule: str
    units: tuple[str, ...]
    reason: str
    rests_on: tuple[str, ...] = ()
    weight: float = 0.0
    is_information: bool = False

    @property
    def unit(self) -> str:
        return self.units[0]
