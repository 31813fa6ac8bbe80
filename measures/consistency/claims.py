"""What the rules read, and what they find: plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from measures.spans import Ranges

#: Values of the field's own scales that a rule asks for by name.
NOT_APPLICABLE, NO_EVIDENCE = "n/a", "no evidence"
POSITIVE, NO_EFFECT, NEGATIVE = "positive", "no effect", "negative"
MODERATE = "moderate"


@dataclass(frozen=True, slots=True)
class Claim:
    """One proposition. ``unit`` is what a finding names; ``study`` is "" of a target, a label "" while undecided.

    ``polarity_cue`` and ``modality_cue``: the words as they were marked or published, "" where there are none;
    ``polarity_at``: where the former stand in ``text``, half-open ranges of code points.
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
    """One slot of a tuple: as typed, the words that it names (implied ones too), those said to stand in the target,
    and whether some of these were not found there word for word."""

    name: str
    text: str
    named: str
    explicit: str = ""
    is_reworded: bool = False


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A counterfactual of the target, by its kind, with where the slots stand in the target's text."""

    kind: str
    text: str
    pico: Mapping[str, Ranges] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A target, the inputs that share its tuple, and what was said of them together; "" where nothing was."""

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
        """What the tuple names, case and outer spaces aside: () where no slot names anything."""
        named = tuple(slot.named.strip().casefold() for slot in self.slots)
        return named if any(named) else ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at. ``units``: those concerned, the first of them first; ``reason`` in words for people;
    ``rests_on``: the values that made it look so. The same rule, units and values are the same finding.

    ``weight`` orders the findings of one rule, the most telling first; ``is_information``: it may well be meant so.
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
