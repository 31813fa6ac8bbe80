"""Consistency rules: find labels that may be wrong, with a reason in words.

A rule never decides that a label is wrong. It gives a curator a reason to review it. Imports use the same rules for
their warnings. The rules read current texts, labels and tuples as plain values.
"""

from measures.consistency import labels, repeats
from measures.consistency.labels import suggested

from .claims import Claim, Cluster, Finding, Rewriting, Slot
from .rules import RULES, Rule, check, findings, order

__all__ = [
    "RULES",
    "Claim",
    "Cluster",
    "Finding",
    "Rewriting",
    "Rule",
    "Slot",
    "check",
    "findings",
    "labels",
    "order",
    "relations",
    "repeats",
    "suggested",
]
