"""The corpus and what was said of it."""

from .blind import RewrittenText
from .cluster import Cluster, PicoForm, PicoFragment, PicoSlot, Proposition, Slot, StandsFor
from .corpus import Article, Input, Level, RecordStatus, Review, Study, Target
from .counterfactual import Counterfactual, ProbePair
from .evidence import (
    AssignedEvidence,
    AssignedInput,
    AssignedProposition,
    EvidencePair,
    Support,
    SupportSentence,
)
from .finding import ConsistencyCheck, Finding, FindingUnit
from .full_text import FullText
from .labels import Cue, CueFragment, DiscourseLabel, Fate, Label, Modality, Polarity, Relation
from .matching import Match, MatchCandidate, MatchItem
from .ranking import Ranking
from .reliability import ReliabilityStudy
from .rewriting import NotApplicable, Rewriting, TextOrigin
from .screening import Screened, Screening
from .search import Hit, PubMedAccess, PubMedTurn, Search
from .sentence import AbstractReading, Dropped, EvidenceMark, RhetoricalClass, Sentence, SentenceMark
from .splits import PicoSplit, SplitCluster, SplitFragment, SplitSlot, SplitTuple
from .study_list import AbstractMissing, DecidedLink, ListedStudy, StudyList
from .tuples import PicoTuple, TupleFragment, TupleSlot

__all__ = [
    "AbstractMissing",
    "AbstractReading",
    "Article",
    "AssignedEvidence",
    "AssignedInput",
    "AssignedProposition",
    "Cluster",
    "ConsistencyCheck",
    "Counterfactual",
    "Cue",
    "CueFragment",
    "DecidedLink",
    "DiscourseLabel",
    "Dropped",
    "EvidenceMark",
    "EvidencePair",
    "Fate",
    "Finding",
    "FindingUnit",
    "FullText",
    "Hit",
    "Input",
    "Label",
    "Level",
    "ListedStudy",
    "Match",
    "MatchCandidate",
    "MatchItem",
    "Modality",
    "NotApplicable",
    "PicoForm",
    "PicoFragment",
    "PicoSlot",
    "PicoSplit",
    "PicoTuple",
    "Polarity",
    "ProbePair",
    "Proposition",
    "PubMedAccess",
    "PubMedTurn",
    "Ranking",
    "RecordStatus",
    "Relation",
    "ReliabilityStudy",
    "Review",
    "Rewriting",
    "RewrittenText",
    "RhetoricalClass",
    "Screened",
    "Screening",
    "Search",
    "Sentence",
    "SentenceMark",
    "Slot",
    "SplitCluster",
    "SplitFragment",
    "SplitSlot",
    "SplitTuple",
    "StandsFor",
    "Study",
    "StudyList",
    "Support",
    "SupportSentence",
    "Target",
    "TextOrigin",
    "TupleFragment",
    "TupleSlot",
]
