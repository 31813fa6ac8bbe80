"""Kinds of models that can be trained. Each is a module, listed here."""

from .classifiers import SequenceTraining, TokenTraining
from .protocol import Trainer
from .seq2seq import Seq2SeqTraining

_EVERY: tuple[Trainer, ...] = (Seq2SeqTraining(), SequenceTraining(), TokenTraining())
#: Key of the trainer of summarisers; the others train classifiers.
SUMMARISER = Seq2SeqTraining.key
_TRAINERS = {trainer.key: trainer for trainer in _EVERY}


def every() -> tuple[Trainer, ...]:
    return _EVERY


def get(key: str) -> Trainer:
    """Return a trainer. Raise KeyError."""
    return _TRAINERS[key]
