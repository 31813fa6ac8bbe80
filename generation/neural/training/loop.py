"""The training loop: transformers' Trainer with exact gradient accumulation, and smaller batches if memory is short."""

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from ..checkpoints.loading import free, out_of_memory
from .checkpoints import last_complete, step_of
from .settings import Listener, Phase, Point, Result, Settings, State, TrainingError, metrics_of

logger = logging.getLogger(__name__)

Examples = Sequence[dict[str, Any]]
Collate = Callable[[list[dict[str, Any]]], dict[str, Tensor]]
#: Computes metrics of predictions (tokens or logits) and labels.
Measure = Callable[[Any], dict[str, float]]
#: Calls a model with a batch.
Call = Callable[[Any, dict[str, Any]], Any]
#: Checkpoints that are kept: the best and the last.
KEPT = 2


def call(model: Any, inputs: dict[str, Any]) -> Any:
    """Call a model with a batch as its forward method expects it."""
    return model(**inputs)


class ExactTrainer(Seq2SeqTrainer):  # type: ignore[misc]
    """A Trainer whose gradients do not depend on how a batch is divided.

    The losses of BART, PEGASUS, T5 and LED are means over their own labels and ignore ``num_items_in_batch``, but the
    Trainer takes them as scaled: two accumulation steps would double the gradient. `compute_loss_func` would take the
    labels from the inputs, and encoder-decoders need them.
    """

    loss_is_scaled_for_ga = True

    def __init__(self, *, call: Call, **options: Any) -> None:
        super().__init__(**options)
        self.call = call
        # Otherwise the Trainer does not count the labels of a batch for models without loss arguments.
        self.model_accepts_loss_kwargs = True

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        outputs = self.call(model, inputs)
        # The development loss stays comparable with that of other trainings.
        is_smoothed = self.label_smoother is not None and model.training
        loss = self.label_smoother(outputs, inputs["labels"]) if is_smoothed else outputs["loss"]
        if num_items_in_batch is not None:
            loss = loss * (inputs["labels"] != -100).sum() / num_items_in_batch
        return (loss, outputs) if return_outputs else loss


class _Reporter(TrainerCallback):  # type: ignore[misc]
    """Passes progress and curve to the listener, and stops at a loss that is not a number."""

    def __init__(self, listener: Listener, tokens_of: Callable[[], int]) -> None:
        self.listener, self.tokens_of = listener, tokens_of
        self.started = time.monotonic()

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **rest: Any) -> None:
        # A checkpoint has the path of the best one in the folder of an earlier attempt.
        best = Path(args.output_dir) / f"checkpoint-{state.best_global_step}"
        state.best_model_checkpoint = str(best) if best.is_dir() else None

    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **rest: Any) -> None:
        self.listener.saved(state.global_step)

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **rest: Any) -> None:
        seconds = max(time.monotonic() - self.started, 1e-9)
        self.listener.report(State(state.global_step, state.max_steps, self.tokens_of() / seconds))

    def on_log(self, args: Any, state: TrainerState, control: TrainerControl, logs: Any = None, **rest: Any) -> None:
        point = _point(state.global_step, logs or {})
        if point.loss is not None and not math.isfinite(point.loss):
            raise TrainingError(
                f"The loss is not a number after update {state.global_step}. Lower the learning rate, or train in "
                "float32."
            )
        if point.loss is not None or point.development:
            self.listener.plot(point)


def _point(step: int, logs: dict[str, Any]) -> Point:
    return Point(step, logs.get("loss"), logs.get("learning_rate"), logs.get("grad_norm"), metrics_of(logs))


class _Counted:
    """Collates examples and counts the tokens that a training reads and is taught."""

    def __init__(self, collate: Collate) -> None:
        self.collate, self.tokens = collate, 0

    def __call__(self, examples: list[dict[str, Any]]) -> dict[str, Tensor]:
        batch = self.collate(examples)
        self.tokens += int(batch["attention_mask"].sum()) + int((batch["labels"] != -100).sum())
        return batch


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is trained, on which examples, and how.

    ``make`` loads the base model. A complete checkpoint in ``folder`` is continued. ``micro`` is the number of examples
    that are in memory at once. ``generation``: arguments of `generate` for metrics of texts.
    """

    make: Callable[[], Any]
    examples: Examples
    development: Examples
    collate: Collate
    settings: Settings
    folder: Path
    listener: Listener
    micro: int
    call: Call = call
    measure: Measure | None = None
    generation: dict[str, Any] | None = None
    device: str = "cpu"


def train(task: Task) -> tuple[Any, Result]:
    """Train until the end, an early stop or an error, and return the best model. Raise `TrainingError`.

    When memory is short, the number of examples in memory is halved, and the listener gets a new `Phase`.
    """
    batch = task.settings.batch
    micro = _divisor(batch, task.micro)
    while True:
        try:
            return _train_phase(task, Phase(0, micro, batch // micro))
        except Exception as error:
            if not out_of_memory(error):
                raise
            if micro == 1:
                raise TrainingError(
                    "One example does not fit into memory. Lower the maximum number of input tokens, or use LoRA."
                ) from error
            logger.warning("Out of memory with %s examples; trying half.", micro)
        free()
        micro = _divisor(batch, micro // 2)


def _divisor(batch: int, most: int) -> int:
    """Return the largest divisor of a batch size that is not above ``most``, so that every step has a full batch."""
    return next(size for size in range(min(batch, most), 0, -1) if batch % size == 0)


def _train_phase(task: Task, phase: Phase) -> tuple[Any, Result]:
    checkpoint = last_complete(task.folder)
    task.listener.begin(replace(phase, step=step_of(checkpoint) if checkpoint else 0))
    counted = _Counted(task.collate)
    callbacks: list[TrainerCallback] = [_Reporter(task.listener, lambda: counted.tokens)]
    if task.settings.patience:
        callbacks.append(EarlyStoppingCallback(early_stopping_patience=task.settings.patience))
    trainer = ExactTrainer(
        call=task.call,
        model=task.make(),
        args=_arguments(task, phase),
        data_collator=counted,
        train_dataset=task.examples,
        eval_dataset=task.development or None,
        compute_metrics=task.measure,
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    output = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    state = trainer.state
    best = state.best_global_step or state.global_step
    result = Result(
        steps=output.global_step,
        best_step=best,
        best_value=state.best_metric,
        stopped_early=output.global_step < state.max_steps,
        curve=tuple(
            point
            for entry in state.log_history
            if (point := _point(int(entry["step"]), entry)).loss is not None or point.development
        ),
        tokens=counted.tokens,
    )
    return trainer.model, result


def _arguments(task: Task, phase: Phase) -> TrainingArguments:
    settings, generation = task.settings, task.generation
    evaluation: dict[str, Any] = {"eval_strategy": "no"}
    if task.development:
        evaluation = {
            "eval_strategy": "steps",
            "eval_steps": settings.evaluate_every,
            "per_device_eval_batch_size": phase.micro,
            "load_best_model_at_end": True,
            "metric_for_best_model": settings.metric,
            "greater_is_better": settings.greater_is_better,
            "prediction_loss_only": task.measure is None,
            "predict_with_generate": generation is not None,
            **{f"generation_{name}": value for name, value in (generation or {}).items()},
        }
    return Seq2SeqTrainingArguments(
        output_dir=str(task.folder),
        per_device_train_batch_size=phase.micro,
        gradient_accumulation_steps=phase.accumulation,
        num_train_epochs=settings.epochs,
        max_steps=settings.steps or -1,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup_steps,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        label_smoothing_factor=settings.label_smoothing,
        bf16=settings.precision == "bfloat16",
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="steps",
        save_steps=settings.evaluate_every,
        save_total_limit=KEPT,
        logging_strategy="steps",
        logging_steps=max(settings.evaluate_every // 10, 1),
        # Otherwise a loss that is not a number is logged as the last one that was.
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        # An early stop counts its evaluations across an interruption.
        restore_callback_states_from_checkpoint=True,
        use_cpu=task.device == "cpu",
        dataloader_pin_memory=task.device != "cpu",
        **evaluation,
    )


def threads() -> int:
    """Return the number of CPU threads. Sums in another order round differently, so that it is recorded."""
    return int(torch.get_num_threads())
