"""Models of human evaluation: protocols, rating designs and ratings."""

from .pages import ComparedSystem, PageText, PageTextOf, RatingDesign, RatingPage, RatingSource, Unblinding
from .protocols import Protocol, ProtocolKind, ProtocolVersion
from .ratings import Preference, Preferred, Rating, RatingFigures, RatingSpan, Within

__all__ = [
    "ComparedSystem",
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
