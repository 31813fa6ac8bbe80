"""Systems, versions, runs and what came out of them."""

from .comparisons import CommonProbe, ProbeComparison, ScoringComparison
from .probes import ProbeFigures, ProbeScore
from .runs import ItemStatus, Run, RunItem, RunPurpose, RunQuerySet, RunStatus, Seal, Summary
from .scores import Score, Scoring
from .systems import System, UnitLevel, Version

__all__ = [
    "CommonProbe",
    "ItemStatus",
    "ProbeComparison",
    "ProbeFigures",
    "ProbeScore",
    "Run",
    "RunItem",
    "RunPurpose",
    "RunQuerySet",
    "RunStatus",
    "Score",
    "Scoring",
    "ScoringComparison",
    "Seal",
    "Summary",
    "System",
    "UnitLevel",
    "Version",
]
