"""Models of human evaluation: protocols, rating designs and ratings."""

from .pages import Entrant, PageText, PageTextOf, RatingDesign, RatingPage, RatingSource, Unblinding
from .protocols import Protocol, ProtocolKind, ProtocolVersion
from .ratings import Preference, Preferred, Rating, RatingFigures, RatingSpan, Within

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
