"""Settings of a training, its progress and its results. This module does not use torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

#: The loss on the development part. Other metrics belong to the trainer.
LOSS = "loss"


class TrainingError(Exception):
    """A training cannot continue, for a reason that a lead can fix."""


@dataclass(frozen=True)
class Settings:
    """Settings that determine the weights, with the data, the base model and the libraries.

    ``batch`` is the number of examples of an optimizer step. ``steps`` limits their number; 0: ``epochs`` decides.
    ``warmup_steps`` below 1 is a share of all steps. ``evaluate_every`` is in optimizer steps. After ``patience``
    evaluations without improvement the training stops; 0: never. ``lora_rank``: rank of LoRA's matrices; 0: all
    weights are trained.
    """

    seed: int
    batch: int
    epochs: float
    learning_rate: float
    steps: int = 0
    warmup_steps: float = 0.0
    schedule: str = "linear"
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    evaluate_every: int = 500
    patience: int = 0
    metric: str = LOSS
    precision: str = "float32"
    label_smoothing: float = 0.0
    lora_rank: int = 0
    lora_alpha: int = 16
    lora_dropout: float = 0.0

    @classmethod
    def of(cls, training: Mapping[str, Any], *, seed: int) -> Self:
        """Return the settings of the hyperparameters of a trainer (`generation.trainers.protocol.TRAINING`)."""
        names = {field.name for field in fields(cls)} & training.keys()
        given = {name: training[name] for name in names if training[name] is not None}
        return cls(seed=seed, **given)

    @property
    def greater_is_better(self) -> bool:
        return self.metric != LOSS


@dataclass(frozen=True)
class Phase:
    """Part of a training with one size of batches in memory: ``micro`` examples, ``accumulation`` times a step.

    A smaller size continues the same optimization, but not bit by bit, so that it is recorded.
    """

    step: int
    micro: int
    accumulation: int


@dataclass
class Point:
    """A point of the learning curve. Values that were not measured at this step are None."""

    step: int
    loss: float | None = None
    learning_rate: float | None = None
    gradient_norm: float | None = None
    development: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """The progress of a training: optimizer steps, and input and target tokens per second since it started."""

    step: int
    steps: int
    tokens_per_second: float


@dataclass(frozen=True)
class Result:
    """The end of a training. ``best_step``: the step of the saved weights."""

    steps: int
    best_step: int
    best_value: float | None
    stopped_early: bool
    curve: tuple[Point, ...]
    tokens: int


#: Called after each optimizer step. Raises to stop the training; it continues at the last checkpoint.
Report = Callable[[State], None]
#: Called with each new point of the curve.
Plot = Callable[[Point], None]
#: Called when a phase starts.
Begin = Callable[[Phase], None]
#: Called with the step of each complete checkpoint.
Saved = Callable[[int], None]


@dataclass(frozen=True)
class Listener:
    """The callbacks of a training."""

    report: Report = lambda state: None
    plot: Plot = lambda point: None
    begin: Begin = lambda phase: None
    saved: Saved = lambda step: None


def metrics_of(logs: Mapping[str, Any]) -> dict[str, float]:
    """Return the development metrics of a log entry of the Trainer."""
    prefix, timing = "eval_", ("runtime", "samples_per_second", "steps_per_second")
    return {
        name.removeprefix(prefix): float(value)
        for name, value in logs.items()
        if name.startswith(prefix) and not name.endswith(timing)
    }
