"""What rounds are for, and what follows from it: which answers make gold, are released, or count as independent labels.

All who ask what becomes of a round's answers ask here; no other file says so by the name of a purpose.
"""

from dataclasses import dataclass
from typing import Literal

from django.db import models

from api.parameters import Parameter, Takes


class Purpose(models.TextChoices):
    GOLD = "gold"
    MEASURE_ONLY = "measure only"
    REVIEW_AND_CORRECT = "review and correct"
    PRACTICE = "practice"
    # The standing round of a kind that holds what is edited on the curate page; nobody is handed its slots.
    CURATION = "curation"


#: Which units a round can choose from, by what is in force of them: all; those of which something is decided; those of
#: which every field was settled by a curator or brought by a file of gold.
Chooses = Literal["any", "decided", "settled"]
Flag = Literal[
    "planned", "makes_gold", "contests", "independent", "held_against_gold", "counts", "shows_value", "gives_feedback",
    "standing",
]  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """What follows from one purpose."""

    #: What a lead reads beside its name.
    says: str
    #: A lead can choose it for a new round.
    planned: bool = True
    #: What its answers come to is put in force when it closes.
    makes_gold: bool = False
    #: Where its people differ, the field waits for a curator.
    contests: bool = False
    #: People labelled without seeing what is in force: their agreement is agreement between raters.
    independent: bool = False
    #: Its raters are held against gold that they could not have made; for others that would flatter.
    held_against_gold: bool = False
    #: Its answers are labels: they are released, age with the guideline, and make a unit one that was asked.
    counts: bool = True
    #: The value in force is shown, to be confirmed or corrected.
    shows_value: bool = False
    #: Everyone is asked every unit, and told at once what was expected. Places are nobody else's.
    gives_feedback: bool = False
    #: Never opened or closed, and worked in by nobody: it holds what is edited by hand.
    standing: bool = False
    chooses: Chooses = "any"
    #: What a lead sets of it.
    terms: tuple[Parameter, ...] = ()


TRIES, PASS_MARK, ATTEMPTS = "tries", "pass_mark", "attempts"

_MEANINGS: dict[str, Meaning] = {
    Purpose.GOLD: Meaning(
        "what people agree on becomes the current value", makes_gold=True, contests=True, independent=True
    ),
    Purpose.MEASURE_ONLY: Meaning(
        "a reliability study; never touches gold", independent=True, held_against_gold=True
    ),
    Purpose.REVIEW_AND_CORRECT: Meaning(
        "shows the current value, to confirm or correct; not independent labelling",
        makes_gold=True, shows_value=True, chooses="decided",
    ),
    Purpose.PRACTICE: Meaning(
        "units with gold; each answer is checked at once and counts for nothing else",
        counts=False, gives_feedback=True, chooses="settled",
        terms=(
            Parameter(PASS_MARK, Takes.INTEGER, "Pass mark (%)", default=80, minimum=1, maximum=100, required=True,
                      help="Share of the units that are right in their last try."),
            Parameter(TRIES, Takes.INTEGER, "Tries a unit", default=1, minimum=1, maximum=2, required=True,
                      help="The expected value is shown after the last one."),
            Parameter(ATTEMPTS, Takes.INTEGER, "Attempts a person", default=1, minimum=1, maximum=2, required=True,
                      help="With 2, whoever did not pass may do all units once more."),
        ),
    ),
    Purpose.CURATION: Meaning("what is edited on the curate page", planned=False, standing=True),
}  # fmt: skip


def of(purpose: str) -> Meaning:
    """What follows from a purpose. One that is not known (of tests, of a later version) follows nothing."""
    return _MEANINGS.get(purpose) or Meaning("", planned=False)


def which(flag: Flag) -> tuple[str, ...]:
    """The purposes of which a flag holds."""
    return tuple(str(purpose) for purpose, meaning in _MEANINGS.items() if getattr(meaning, flag))
