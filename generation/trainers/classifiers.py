"""Train classifiers of sequences and of words on what people labelled. `manage.py read` takes the trained folders."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.models import DataSplit, ReadingTask, SplitLevel
from annotation.splits.queries import units_of
from api.parameters import Parameter, Takes, check
from api.problems import Refused

from ..backends import weights
from . import labelled
from .protocol import TRAINING, Config, Example, LeftOut, Parts, Trained

F1 = "f1"
MODEL = (weights.MODEL, weights.REVISION)
METRIC = Parameter(
    "metric",
    Takes.CHOICE,
    "Metric",
    "loss",
    choices=("loss", F1),
    help="Of the development part. f1: the mean F1 of the labels, of words for spans.",
)
SEED = Parameter("seed", Takes.INTEGER, "Seed", 0, minimum=0, maximum=2**31 - 1)


class ClassifierTraining:
    """Trains an encoder with a new head, or the head that the folder has if its labels are those of the task."""

    #: Kind of head: sequences or tokens.
    key: str
    name: str
    description: str
    parameters: Sequence[Parameter] = (*TRAINING, METRIC)
    #: The tasks of this kind of head.
    tasks: tuple[str, ...]

    def checked(self, config: Mapping[str, Any]) -> dict[str, Any]:
        faults = [(name, "Unknown field.") for name in config if name not in ("task", "seed", "model", "training")]
        if config.get("task") not in self.tasks:
            faults.append(("task", f"Must be one of: {', '.join(self.tasks)}."))
        seed, found = check((SEED,), {"seed": config.get("seed", 0)})
        faults += found
        clean: dict[str, Any] = {"task": config.get("task"), **seed}
        for section, parameters in (("model", MODEL), ("training", self.parameters)):
            clean[section], found = check(parameters, config.get(section, {}))
            faults += [(f"{section}.{name}", message) for name, message in found]
        if faults:
            errors = [{"field": field, "message": message} for field, message in faults]
            raise Refused(faults[0][1], errors=errors)
        return clean

    def split_levels(self, config: Config) -> Sequence[str]:
        """Return the level of reviews, because labels belong to their abstracts and studies."""
        return (SplitLevel.REVIEW,)

    def examples(self, split: DataSplit, config: Config, part: str) -> Iterator[Example | LeftOut]:
        reviews = {unit: key for unit, key, _ in units_of(split, part)}
        return labelled.examples(split.project, config["task"], reviews)

    def facts(self, config: Config) -> dict[str, Any]:
        from ..neural.training import classifiers

        return classifiers.facts(config)

    def train(self, config: Config, parts: Parts, folder: Path, listener: Any) -> Trained:
        from ..neural.training import classifiers

        return classifiers.train(self.key, labelled.LABELS[config["task"]], config, parts, folder, listener)


class SequenceTraining(ClassifierTraining):
    key = "sequences"
    name = "Classifier of texts"
    description = "An encoder that classifies sentences, directions of effects, or the fitness of abstracts."
    tasks = (ReadingTask.SENTENCES.value, ReadingTask.EFFECTS.value, ReadingTask.SUITABILITY.value)


class TokenTraining(ClassifierTraining):
    key = "tokens"
    name = "Tagger of spans"
    description = "An encoder that tags the words of populations, interventions and outcomes."
    tasks = (ReadingTask.PIO.value,)
