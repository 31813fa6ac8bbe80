"""What a task kind is, and the registry of those that exist."""

# The queue, the answers, agreement and gold know a kind by its base class only. A new kind is one folder that an app's
# `kinds/` finds by itself, and one folder in the frontend; nothing outside of them names it.

from measures.agreement import Scale
from measures.text_agreement import Comparison

from .kind import Batch, Filter, Kind, Row, SkipReason, place
from .majority import Verdict
from .registry import all_kinds, choices, discover, get, reason_in_words
from .sheet import Column, Sheet, SheetFaults, Value

__all__ = [
    "Batch", "Column", "Comparison", "Filter", "Kind", "Row", "Scale", "Sheet", "SheetFaults", "SkipReason", "Value",
    "Verdict", "all_kinds", "choices", "discover", "get", "place", "reason_in_words",
]  # fmt: skip
