"""Protocols of human evaluation, and what was rated by them."""

from .figures import RatingFigures
from .pages import Entrant, PageText, PageTextOf, RatingDesign, RatingPage, RatingSource, Unblinding
from .protocols import Protocol, ProtocolKind, ProtocolVersion
from .ratings import Preference, Preferred, Rating, RatingSpan, Within

__all__ = [
    "Entrant",
    "PageText",
    "PageTextOf",
    "Preference",
    "Preferred",
    "Protocol",
    "ProtocolKind",
    "ProtocolVersion",
    "Rating",
    "RatingDesign",
    "RatingFigures",
    "RatingPage",
    "RatingSource",
    "RatingSpan",
    "Unblinding",
    "Within",
]
