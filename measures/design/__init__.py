"""Designs of rating rounds, from a seed alone: who sees which text, at which place, beside which other."""

from measures.design.checks import DEGRADER, Check, checks, degraded, repeated, with_check
from measures.design.lists import latin_lists
from measures.design.pairs import Paired, balanced_pairs, sides
from measures.design.report import ALGORITHM, balance, digest, pair_balance, place_bounds
from measures.design.williams import order_of_page, williams_square

__all__ = [
    "ALGORITHM",
    "DEGRADER",
    "Check",
    "Paired",
    "balance",
    "balanced_pairs",
    "checks",
    "degraded",
    "digest",
    "latin_lists",
    "order_of_page",
    "pair_balance",
    "place_bounds",
    "repeated",
    "sides",
    "williams_square",
    "with_check",
]
