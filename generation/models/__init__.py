"""Models of systems, versions, runs, summaries and scores."""

from .endpoints import ProjectEndpoint
from .runs import Embargo, ItemStatus, Run, RunItem, RunPurpose, RunQuerySet, RunStatus, Summary
from .scores import (
    CommonProbe,
    ProbeComparison,
    ProbeFigures,
    ProbeScore,
    Score,
    Scoring,
    ScoringComparison,
    UnseenFigures,
)
from .systems import System, UnitLevel, Version
from .training import FineTuning, TrainedStudy, TrainingState

__all__ = [
    "CommonProbe",
    "Embargo",
    "FineTuning",
    "ItemStatus",
    "ProbeComparison",
    "ProbeFigures",
    "ProbeScore",
    "ProjectEndpoint",
    "Run",
    "RunItem",
    "RunPurpose",
    "RunQuerySet",
    "RunStatus",
    "Score",
    "Scoring",
    "ScoringComparison",
    "Summary",
    "System",
    "TrainedStudy",
    "TrainingState",
    "UnitLevel",
    "UnseenFigures",
    "Version",
]
