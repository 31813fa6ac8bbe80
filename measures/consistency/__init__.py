"""Labels that look wrong: rules over plain values, each of which says in words what made it look twice.

A rule never says that a label is wrong. It gives a curator a reason to look, and the same rules serve the notices of an
import. Texts, labels and tuples are those in force; nothing here knows where they are kept.
"""

from . import labels, relations, repeats
from .claims import Claim, Cluster, Finding, Rewriting, Slot
from .relations import suggested
from .rules import RULES, Rule, check

__all__ = [
    "RULES",
    "Claim",
    "Cluster",
    "Finding",
    "Rewriting",
    "Rule",
    "Slot",
    "check",
    "labels",
    "relations",
    "repeats",
    "suggested",
]
