"""The corpus and what was said of it."""

from .cluster import Cluster, PicoForm, PicoFragment, PicoSlot, Proposition, Slot
from .corpus import Input, Level, Review, Study, Target
from .labels import Cue, CueFragment, DiscourseLabel, Label, Modality, Polarity, Relation

__all__ = [
    "Cluster",
    "Cue",
    "CueFragment",
    "DiscourseLabel",
    "Input",
    "Label",
    "Level",
    "Modality",
    "PicoForm",
    "PicoFragment",
    "PicoSlot",
    "Polarity",
    "Proposition",
    "Relation",
    "Review",
    "Slot",
    "Study",
    "Target",
]
