"""The level of target sentences (M3's level 2)."""

from ..models import UnitLevel
from .targets import TargetSource


class SentenceSource(TargetSource):
    level = UnitLevel.SENTENCE
    name = "target sentences"
