"""Task kinds: the base class, and the registry of the existing kinds.

The queue, answers, agreement and gold know a kind only by its base class. A new kind is one folder below an app's
``kinds/``, which is discovered automatically, and one folder in the frontend.
"""

from measures.agreement import Scale
from measures.text_agreement import Comparison

from . import groups
from .fragments import check_fragments
from .kind import Batch, Filter, Kind, Row, SkipReason, curator_assignment
from .majority import AggregationResult
from .registry import all_kinds, choices, discover, get, reason_in_words
from .sheet import Column, Sheet, SheetFaults, Value

__all__ = [
    "AggregationResult",
    "Batch",
    "Column",
    "Comparison",
    "Filter",
    "Kind",
    "Row",
    "Scale",
    "Sheet",
    "SheetFaults",
    "SkipReason",
    "Value",
    "all_kinds",
    "check_fragments",
    "choices",
    "curator_assignment",
    "discover",
    "get",
    "groups",
    "reason_in_words",
]
