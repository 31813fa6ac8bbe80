"""The level of target sentences (M3's level 2)."""

from annotation.models import SplitLevel

from ..models import UnitLevel
from .targets import TargetSource


class SentenceSource(TargetSource):
    level = UnitLevel.SENTENCE
    splits = (SplitLevel.SENTENCE, SplitLevel.REVIEW)
    name = "target sentences"
