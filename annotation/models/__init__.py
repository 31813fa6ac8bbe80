"""The corpus and what was said of it."""

from .cluster import Cluster, PicoForm, PicoFragment, PicoSlot, Proposition, Slot, StandsFor
from .corpus import Input, Level, Review, Study, Target
from .counterfactual import Counterfactual, ProbePair
from .labels import Cue, CueFragment, DiscourseLabel, Fate, Label, Modality, Polarity, Relation
from .tuples import PicoTuple, TupleFragment, TupleSlot

__all__ = [
    "Cluster",
    "Counterfactual",
    "Cue",
    "CueFragment",
    "DiscourseLabel",
    "Fate",
    "Input",
    "Label",
    "Level",
    "Modality",
    "PicoForm",
    "PicoFragment",
    "PicoSlot",
    "PicoTuple",
    "Polarity",
    "ProbePair",
    "Proposition",
    "Relation",
    "Review",
    "Slot",
    "StandsFor",
    "Study",
    "Target",
    "TupleFragment",
    "TupleSlot",
]
