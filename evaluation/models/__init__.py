"""Models of human evaluation: protocols, rating designs and ratings; and models as judges."""

from .judge_figures import JudgeFigures
from .judges import (
    Control,
    Judge,
    JudgeAnswer,
    JudgePage,
    JudgePreference,
    JudgeRating,
    JudgeRun,
    JudgeRunState,
    JudgeSet,
    JudgeSource,
)
from .pages import ComparedSystem, PageText, PageTextOf, RatingDesign, RatingPage, RatingSource, Unblinding
from .protocols import Protocol, ProtocolKind, ProtocolVersion
from .ratings import Preference, Preferred, Rating, RatingFigures, RatingSpan, Within

__all__ = [
    "ComparedSystem",
    "Control",
    "Judge",
    "JudgeAnswer",
    "JudgeFigures",
    "JudgePage",
    "JudgePreference",
    "JudgeRating",
    "JudgeRun",
    "JudgeRunState",
    "JudgeSet",
    "JudgeSource",
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
