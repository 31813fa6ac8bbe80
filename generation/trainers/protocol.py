"""The interface of trainers, and the hyperparameters that all of them take."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from annotation.models import DataSplit
from api.parameters import Parameter, Takes

Config = Mapping[str, Any]

BATCH = Parameter("batch", Takes.INTEGER, "Batch size", 8, minimum=1, maximum=1024, help="Examples per update.")
MICRO = Parameter(
    "micro",
    Takes.INTEGER,
    "Examples in memory",
    None,
    minimum=1,
    maximum=1024,
    help="Empty: the batch size. It is halved when memory is short; the gradients stay the same.",
)
EPOCHS = Parameter("epochs", Takes.NUMBER, "Epochs", 3.0, minimum=0.01, maximum=1000)
STEPS = Parameter(
    "steps", Takes.INTEGER, "Maximum updates", None, minimum=1, maximum=10_000_000, help="Empty: all epochs."
)
LEARNING_RATE = Parameter("learning_rate", Takes.NUMBER, "Learning rate", 3e-5, minimum=1e-9, maximum=1)
WARMUP = Parameter(
    "warmup_steps",
    Takes.NUMBER,
    "Warm-up updates",
    0.0,
    minimum=0,
    maximum=1_000_000,
    help="Below 1: share of all updates.",
)
SCHEDULE = Parameter(
    "schedule",
    Takes.CHOICE,
    "Schedule",
    "linear",
    choices=("linear", "constant", "constant_with_warmup", "cosine", "polynomial"),
)
WEIGHT_DECAY = Parameter("weight_decay", Takes.NUMBER, "Weight decay", 0.0, minimum=0, maximum=1)
MAX_NORM = Parameter("max_grad_norm", Takes.NUMBER, "Maximum gradient norm", 1.0, minimum=0, maximum=1000)
EVALUATE = Parameter(
    "evaluate_every",
    Takes.INTEGER,
    "Updates between evaluations",
    500,
    minimum=1,
    maximum=1_000_000,
    help="The development part is evaluated, and a checkpoint is written.",
)
PATIENCE = Parameter(
    "patience",
    Takes.INTEGER,
    "Patience",
    None,
    minimum=1,
    maximum=1000,
    help="Stop after this many evaluations without improvement. Empty: never.",
)
PRECISION = Parameter(
    "precision",
    Takes.CHOICE,
    "Number format",
    "float32",
    choices=("float32", "bfloat16"),
    help="bfloat16 needs a GPU. Only float32 on a CPU gives the same weights again.",
)
LORA = Parameter(
    "lora_rank",
    Takes.INTEGER,
    "LoRA rank",
    None,
    minimum=1,
    maximum=1024,
    help="Train matrices of this rank instead of all weights. They are merged at the end. Empty: no LoRA.",
)
LORA_ALPHA = Parameter("lora_alpha", Takes.INTEGER, "LoRA alpha", 16, minimum=1, maximum=4096)
LORA_DROPOUT = Parameter("lora_dropout", Takes.NUMBER, "LoRA dropout", 0.0, minimum=0, maximum=0.9)
#: Hyperparameters of all trainers. Each also has its metrics.
TRAINING = (
    EPOCHS,
    STEPS,
    BATCH,
    MICRO,
    LEARNING_RATE,
    WARMUP,
    SCHEDULE,
    WEIGHT_DECAY,
    MAX_NORM,
    EVALUATE,
    PATIENCE,
    PRECISION,
    LORA,
    LORA_ALPHA,
    LORA_DROPOUT,
)


@dataclass(frozen=True)
class Example:
    """A unit to train on. ``content`` is what the model reads and should answer, as JSON.

    ``studies``: keys of what is read and answered, as `generation.exposure` makes them.
    """

    key: str
    content: Mapping[str, Any]
    studies: tuple[str, ...] = ()


#: Reason why a unit is left out of a part.
DIVIDED = "Its review or question is in several parts of the split."


@dataclass(frozen=True)
class LeftOut:
    """A unit of a part that cannot be trained on, with the reason."""

    key: str
    reason: str


class Trainer(Protocol):
    """A kind of model that can be trained. Stateless; registered in `trainers/__init__.py`."""

    key: str
    name: str
    description: str

    #: Hyperparameters, section "training" of the configuration.
    parameters: Sequence[Parameter]

    def checked(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration with every default written out. Raise `Refused` by field."""

    def split_levels(self, config: Config) -> Sequence[str]:
        """Return the levels of splits that can divide the examples."""

    def examples(self, split: DataSplit, config: Config, part: str) -> Iterator[Example | LeftOut]:
        """Yield the examples of a part of a split, in its order."""

    def facts(self, config: Config) -> dict[str, Any]:
        """Return hashes of the base model and versions of libraries. Only on a worker. Raise `BackendError`."""

    def train(self, config: Config, parts: "Parts", folder: Path, listener: Any) -> "Trained":
        """Train, and return the model. Only on a worker. Raise `TrainingError` or `BackendError`."""


@dataclass(frozen=True)
class Parts:
    """The examples of the training part and of the development part, which may be empty."""

    training: Sequence[Example]
    development: Sequence[Example]


class Trained(Protocol):
    """A trained model. ``result`` is a `generation.neural.training.settings.Result`."""

    @property
    def result(self) -> Any: ...

    def save(self, folder: Path) -> None:
        """Write weights, configuration and tokenizer."""
