"""Models of systems, versions, runs, summaries and scores."""

from .runs import ItemStatus, Run, RunItem, RunPurpose, RunQuerySet, RunStatus, Seal, Summary
from .scores import CommonProbe, ProbeComparison, ProbeFigures, ProbeScore, Score, Scoring, ScoringComparison
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
