"""Designs of rating rounds, determined by a seed: which rater sees which text, in which position and pair."""

from measures.design.checks import DEGRADER, Check, checks, degraded, drawn_number, repeated, with_check
from measures.design.lists import latin_lists

from .lists import (
    ALGORITHM,
    Paired,
    algorithm_of,
    balance,
    balanced_pairs,
    carry_over,
    digest,
    order_of_page,
    pair_balance,
    position_bounds,
    sides,
    williams_square,
)
from .tuples import SIZE, Tuple, balanced_tuples, fewest_tuples, seen_at

__all__ = [
    "ALGORITHM",
    "DEGRADER",
    "SIZE",
    "Check",
    "Paired",
    "Tuple",
    "algorithm_of",
    "balance",
    "balanced_pairs",
    "balanced_tuples",
    "carry_over",
    "checks",
    "degraded",
    "digest",
    "drawn_number",
    "fewest_tuples",
    "latin_lists",
    "order_of_page",
    "pair_balance",
    "position_bounds",
    "repeated",
    "seen_at",
    "sides",
    "williams_square",
    "with_check",
]
