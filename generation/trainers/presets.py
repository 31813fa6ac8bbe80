"""Presets of trainings: how the papers trained their models, as data. Every figure names its source.

A hyperparameter without a published figure has the default of its trainer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.models import ReadingTask

from ..systems import presets as versions
from ..systems.presets import M3, MEDIQA, MS2
from .classifiers import SequenceTraining
from .protocol import BATCH, EPOCHS, LEARNING_RATE, MAX_NORM, PATIENCE, SCHEDULE, STEPS, WARMUP, WEIGHT_DECAY
from .seq2seq import LABEL_SMOOTHING, REFERENCE, TARGET_TOKENS, Seq2SeqTraining

Json = dict[str, Any]
#: Source of a hyperparameter of which no published figure is known.
DEFAULT = "No published figure is known. Default."


@dataclass(frozen=True)
class Published:
    """A hyperparameter with the place where it was published."""

    value: Any
    source: str


@dataclass(frozen=True)
class TrainingPreset:
    """A preset of a training.

    ``base``: hub ID of the model that the paper trained. ``config``: the configuration of the version without its
    model, or the task of a classifier. ``training``: published hyperparameters by name.
    """

    key: str
    name: str
    paper: str
    trainer: str
    base: str
    config: Json
    note: str
    training: Mapping[str, Published] = field(default_factory=dict)

    @property
    def values(self) -> Json:
        """The hyperparameters that differ from the defaults."""
        return {name: each.value for name, each in self.training.items()}

    @property
    def level(self) -> str:
        """The level of the version; empty for classifiers."""
        return str(self.config.get("level", ""))

    @property
    def task(self) -> str:
        """The task of a classifier; empty for summarisers."""
        return str(self.config.get("task", ""))


def configuration(
    preset: TrainingPreset, *, model: str, level: str = "", seed: int, training: Mapping[str, Any]
) -> Json:
    """Return the sections of the trainer, with a base model, a level if it differs, and changed hyperparameters."""
    hyperparameters = {**preset.values, **training}
    if preset.trainer != Seq2SeqTraining.key:
        return {**preset.config, "model": {"model": model}, "seed": seed, "training": hyperparameters}
    version = {**preset.config, "level": level or preset.level, "model": {"model": model}, "seed": seed}
    return {"version": version, "training": hyperparameters}


def _version(preset: str, **changes: Any) -> Json:
    """Return the configuration of a preset of versions without its model, so that training reads what it reads."""
    found = versions.get(preset)
    return {**found.config, "backend": found.backend, **changes}


_UNKNOWN = (
    "M3 trains on MSLR's Cochrane part. Its hyperparameters are not in its repository; the fields have defaults. For "
    "M3's Table 4, make a version of level proposition with the trained folder."
)


def _of_m3(key: str, name: str, base: str, size: str, **training: Published) -> TrainingPreset:
    # Reviews are documents in MSLR; M3 applied the models to its clusters.
    config = _version(f"{key}-cochrane", level="document")
    return TrainingPreset(
        f"m3-{key}", f"{name} on Cochrane", M3, "seq2seq", base, config, f"{size}{_UNKNOWN}", training
    )


_OF_M3 = (
    _of_m3("bart", "BART", "facebook/bart-large", "The size is not stated: large, as BART-XSum. "),
    _of_m3("biobart", "BioBART", "GanjinZero/biobart-large", "The size is not stated: large. "),
    _of_m3("pegasus", "PEGASUS", "google/pegasus-large", "The size is not stated: large. "),
    _of_m3(
        "primera",
        "PRIMERA",
        "allenai/PRIMERA",
        "",
        target_tokens=Published(1024, "card of allenai/PRIMERA: at most 1,024 output tokens"),
    ),
)

_BIOASQ = "saverymax/qdriven-chiqa-summarization, models/bart/finetune_bart_bioasq.sh"


def _of_mediqa(key: str, name: str, *, question: bool) -> TrainingPreset:
    config = {
        "backend": "seq2seq",
        "level": "answer",
        "assembly": {"input_tokens": 1024, "question": question},
        "decoding": {},
    }
    training = {
        STEPS.name: Published(20_000, f"{_BIOASQ}, TOTAL_NUM_UPDATES"),
        BATCH.name: Published(16, f"{_BIOASQ}, UPDATE_FREQ: 16 times at most 1,024 tokens, on each of three GPUs"),
        LEARNING_RATE.name: Published(3e-5, f"{_BIOASQ}, LR"),
        WARMUP.name: Published(500.0, f"{_BIOASQ}, WARMUP_UPDATES"),
        SCHEDULE.name: Published("linear", f"{_BIOASQ}, polynomial_decay with fairseq's power 1"),
        WEIGHT_DECAY.name: Published(0.01, f"{_BIOASQ}, --weight-decay"),
        MAX_NORM.name: Published(0.1, f"{_BIOASQ}, --clip-norm"),
        LABEL_SMOOTHING.name: Published(0.1, f"{_BIOASQ}, --label-smoothing"),
        REFERENCE.name: Published("abstractive", "MEDIQA-AnS's name of its abstractive summaries (the paper: BioASQ)"),
    }
    note = (
        "The paper trains on BioASQ's answers in half precision, and on three GPUs; change the target if your written "
        "summaries have another name."
    )
    return TrainingPreset(key, name, MEDIQA, "seq2seq", "facebook/bart-large", config, note, training)


_OF_MEDIQA = (
    _of_mediqa("mediqa-bart", "BART, without the question", question=False),
    _of_mediqa("mediqa-bart-question", "BART, with the question", question=True),
)

_SUMMARIZER = "allenai/ms2, ms2/models/transformer_summarizer.py"
_RUN = "allenai/ms2, scripts/run_ms2.sh"
_SUMMARISERS = {
    EPOCHS.name: Published(8.0, f"{_RUN}, EPOCHS"),
    BATCH.name: Published(32, "allenai/ms2, README.md: batch sizes of 32"),
    LEARNING_RATE.name: Published(1e-5, f"{_SUMMARIZER}, --lr"),
    WARMUP.name: Published(1000.0, f"{_SUMMARIZER}, --warmup_steps"),
    SCHEDULE.name: Published("linear", f"{_SUMMARIZER}, get_linear_schedule_with_warmup"),
    WEIGHT_DECAY.name: Published(0.0, f"{_SUMMARIZER}, torch.optim.Adam"),
    MAX_NORM.name: Published(0.0, f"{_SUMMARIZER}: Lightning does not clip by default"),
    TARGET_TOKENS.name: Published(512, f"{_SUMMARIZER}, --max_length"),
    PATIENCE.name: Published(None, f"{_RUN}: the last of 8 epochs is used"),
}
_IN_HALF = "The paper trains in half precision (fp16)."
_ABSTRACTS = "allenai/ms2, ms2/models/abstract_classifier.py"

_OF_MS2 = (
    TrainingPreset(
        "ms2-bart",
        "BART, studies encoded separately",
        MS2,
        "seq2seq",
        "facebook/bart-base",
        _version("ms2-bart"),
        f"MS^2's markers are added to the tokenizer. {_IN_HALF}",
        _SUMMARISERS,
    ),
    TrainingPreset(
        "ms2-led",
        "LED",
        MS2,
        "seq2seq",
        "allenai/led-base-16384",
        _version("ms2-led"),
        "MS^2's markers are added to the tokenizer. LED here attends in overlapping windows, the paper's in separate "
        f"ones. {_IN_HALF}",
        _SUMMARISERS,
    ),
    TrainingPreset(
        "ms2-sentences",
        "Sentence classifier",
        MS2,
        SequenceTraining.key,
        "FacebookAI/roberta-large",
        {"task": ReadingTask.SENTENCES.value},
        "The program of the paper can also read all sentences of an abstract at once (--seq); here each is read alone.",
        {
            EPOCHS.name: Published(5.0, f"{_ABSTRACTS}, --epochs"),
            BATCH.name: Published(16, f"{_ABSTRACTS}, --batch_size"),
            LEARNING_RATE.name: Published(1e-5, f"{_ABSTRACTS}, configure_optimizers"),
            WARMUP.name: Published(0.1, f"{_ABSTRACTS}, configure_optimizers: a tenth of all updates"),
            SCHEDULE.name: Published("linear", f"{_ABSTRACTS}, get_linear_schedule_with_warmup"),
            WEIGHT_DECAY.name: Published(0.0, f"{_ABSTRACTS}, torch.optim.Adam"),
            MAX_NORM.name: Published(0.0, f"{_ABSTRACTS}: Lightning does not clip by default"),
        },
    ),
)

PRESETS: tuple[TrainingPreset, ...] = (*_OF_M3, *_OF_MEDIQA, *_OF_MS2)


def get(key: str) -> TrainingPreset:
    """Return the preset with this key. Raise KeyError if there is none."""
    return {preset.key: preset for preset in PRESETS}[key]
