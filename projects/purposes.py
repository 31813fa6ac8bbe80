"""Purposes of rounds and their consequences for units and answers.

A purpose decides whether answers become gold, are released, or count as independent labels. Other modules read these
flags and never compare the name of a purpose.
"""

from dataclasses import dataclass
from typing import Literal

from django.db import models

from api.parameters import Parameter, Takes


class Purpose(models.TextChoices):
    # Digests cover the stored values, so they keep the names of the first version. The API uses the labels.
    GOLD = "gold", "gold standard"
    RELIABILITY_STUDY = "measure only", "reliability study"
    CORRECTION = "review and correct", "correction"
    PRACTICE = "practice", "practice"
    COLLECTION = "collection", "collection"
    # The curation round of a kind: it holds the edits of the curate page. Its assignments are never claimed.
    CURATION = "curation", "curation"


#: Units that a round can choose from: all units; units with a decision; units with a decision on every field that the
#: round asks for. The origin of the decision does not matter.
Chooses = Literal["any", "decided", "fully decided"]
Flag = Literal[
    "planned",
    "makes_gold",
    "contests",
    "independent",
    "held_against_gold",
    "counts",
    "shows_value",
    "gives_feedback",
    "holds_edits",
    "keeps_all",
]


@dataclass(frozen=True)
class Meaning:
    """Consequences of one purpose."""

    #: Explanation shown to leads next to the name.
    says: str
    #: Leads can choose it for a new round.
    planned: bool = True
    #: Closing the round aggregates its answers into current values.
    makes_gold: bool = False
    #: If the answers disagree, the field waits for a curator.
    contests: bool = False
    #: Raters do not see the current value, so agreement between them is meaningful.
    independent: bool = False
    #: Raters are compared with gold. Set only where their own answers cannot have become that gold, because the
    #: comparison would be biased otherwise.
    held_against_gold: bool = False
    #: Answers are labels: they are released, become stale with the guideline, and mark their units as annotated.
    counts: bool = True
    #: The current value is shown, to be confirmed or corrected.
    shows_value: bool = False
    #: Every participant answers every unit and gets feedback at once. Assignments are never passed on to other people.
    gives_feedback: bool = False
    #: The round holds manual edits. It is never opened or closed, and has no participants.
    holds_edits: bool = False
    #: Nothing is decided: every answer is kept beside the others. For kinds that decide nothing, and only for them.
    keeps_all: bool = False
    chooses: Chooses = "any"
    #: Parameters that a lead sets.
    terms: tuple[Parameter, ...] = ()


TRIES, PASS_MARK, ATTEMPTS = "tries", "pass_mark", "attempts"
#: Terms of a correction round in which a model's suggestion is shown instead of the current value.
SUGGESTIONS, BLIND_SHARE = "suggestions", "blind_share"

_MEANINGS: dict[str, Meaning] = {
    Purpose.GOLD: Meaning(
        "Agreed answers become current values; a curator decides the rest.",
        makes_gold=True,
        contests=True,
        independent=True,
    ),
    Purpose.RELIABILITY_STUDY: Meaning(
        "Measures agreement on the same units; current values stay as they are.",
        independent=True,
        held_against_gold=True,
    ),
    Purpose.CORRECTION: Meaning(
        "People confirm or correct the current value; answers are not independent.",
        makes_gold=True,
        shows_value=True,
        chooses="decided",
        terms=(
            Parameter(
                SUGGESTIONS,
                Takes.INTEGER,
                "Suggestions by a model",
                help="Id of a set of suggestions. They are shown instead of the current value, to be confirmed.",
            ),
            Parameter(
                BLIND_SHARE,
                Takes.INTEGER,
                "Blind share (%)",
                default=50,
                minimum=0,
                maximum=90,
                required=True,
                help="Share of each person's units without suggestion and without current value, for comparison.",
            ),
        ),
    ),
    Purpose.PRACTICE: Meaning(
        "Each answer is compared with the known value at once; it counts for nothing else.",
        counts=False,
        gives_feedback=True,
        chooses="fully decided",
        terms=(
            Parameter(
                PASS_MARK,
                Takes.INTEGER,
                "Pass mark (%)",
                default=80,
                minimum=1,
                maximum=100,
                required=True,
                help="Required share of units that are correct in their last try.",
            ),
            Parameter(
                TRIES,
                Takes.INTEGER,
                "Tries per unit",
                default=1,
                minimum=1,
                maximum=2,
                required=True,
                help="The expected value is shown after the last try.",
            ),
            Parameter(
                ATTEMPTS,
                Takes.INTEGER,
                "Attempts per person",
                default=1,
                minimum=1,
                maximum=2,
                required=True,
                help="With 2, people who did not pass can repeat all units once.",
            ),
        ),
    ),
    Purpose.COLLECTION: Meaning(
        "Keeps every answer beside the others; none is decided.", independent=True, keeps_all=True
    ),
    Purpose.CURATION: Meaning("Edits from the curate page.", planned=False, holds_edits=True),
}


def of(purpose: str) -> Meaning:
    """Return the consequences of a purpose. An unknown purpose (from a test or a later version) has none."""
    return _MEANINGS.get(purpose) or Meaning("", planned=False)


def which(flag: Flag) -> tuple[str, ...]:
    """Return the purposes that have a flag set."""
    return tuple(str(purpose) for purpose, meaning in _MEANINGS.items() if getattr(meaning, flag))


#: Names in the API: of all purposes, and of those that a lead can choose.
NAMES = [purpose.label for purpose in Purpose]
PLANNED_NAMES = [purpose.label for purpose in Purpose if of(purpose).planned]
