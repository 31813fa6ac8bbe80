"""The work of the jobs of trainings: train with checkpoints, store the model, and delete checkpoints."""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from api.problems import Refused
from audit.digests import canonical, digest_of
from projects.jobs import batches
from projects.jobs.running import LostLease, RunningJob

from .. import trainers
from ..backends import weights
from ..backends.protocol import BackendError
from ..models import FineTuning, TrainingState
from . import disk
from .actions import STOPPED, logged, read_parts, store_studies

EVALUATED = "Evaluated:"


def run(job: RunningJob) -> FineTuning:
    """Train, or continue at the last checkpoint, and store the model. Raise `Refused` with what a lead can change."""
    training = FineTuning.objects.select_related("project", "split__project").get(pk=job.params["training"])
    if training.state == TrainingState.DONE:
        return training
    job.progress(0, None, "reading examples")
    parts, data, studies = read_parts(training)
    if not parts.training:
        raise Refused(f"No unit of the part {training.config['parts']['training']} can be trained on. {_reasons(data)}")
    from ..neural.training.settings import TrainingError

    trainer = trainers.get(training.trainer)
    try:
        facts = trainer.facts(training.config)
        digest = digest_of({"config": training.config, "data": data["sha256"], "facts": facts})
        _refuse_changed(training, digest)
        store(training, state=TrainingState.RUNNING, data=data, facts=facts, hash=digest)
        store_studies(training, studies)
        folder = disk.claim_checkpoints(training.pk, job)
        try:
            disk.check_space(training.pk, _size_of_base(training.config))
            recorder = Recorder(job, training)
            with disk.refusing_full_disk(folder):
                model = trainer.train(training.config, parts, folder, recorder.listener())
            _keep(model, job, training, recorder.tokens_per_second)
        except BaseException:
            _leave(job, folder)
            raise
    except (TrainingError, BackendError) as error:
        raise Refused(str(error)) from error
    shutil.rmtree(disk.checkpoints_folder(training.pk), ignore_errors=True)
    return training


def delete_checkpoints(job: RunningJob) -> None:
    """Delete the checkpoints of a training, unless it was continued meanwhile. Idempotent."""
    training = FineTuning.objects.get(pk=job.params["training"])
    if training.state not in STOPPED:
        raise Refused("The training continues. Its checkpoints were not deleted.")
    shutil.rmtree(disk.checkpoints_folder(training.pk), ignore_errors=True)
    store(training, checkpoint=None, log=logged(training, None, "Checkpoints deleted."))


def store(training: FineTuning, **fields: Any) -> None:
    with batches.batch():
        FineTuning.objects.filter(pk=training.pk).update(**fields)
    for name, value in fields.items():
        setattr(training, name, value)


def _reasons(data: Mapping[str, Any]) -> str:
    return " ".join(f"{reason} ({count})" for reason, count in data["training"]["left_out"].items())


def _refuse_changed(training: FineTuning, digest: str) -> None:
    has_checkpoint = training.checkpoint is not None and disk.checkpoints_folder(training.pk).exists()
    if has_checkpoint and training.hash != digest:
        raise Refused(
            "The data, the base model, the libraries or the device have changed since the last checkpoint. "
            "Start a new training."
        )


def _size_of_base(config: Mapping[str, Any]) -> int:
    """Return the bytes of the weights of the base model."""
    model = (config.get("version") or config)["model"]
    base = weights.find(model["model"], model.get("revision") or "main").path
    return sum(path.stat().st_size for path in weights.shards(base))


def _leave(job: RunningJob, folder: Path) -> None:
    """Delete the incomplete checkpoints of a failed attempt.

    Delete all of them and raise `LostLease` if another worker has the job: its checkpoints were moved away, so that
    the error was that of a missing file.
    """
    from ..neural.training.checkpoints import last_complete

    try:
        job.check()
    except LostLease:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    last_complete(folder)


def _keep(model: Any, job: RunningJob, training: FineTuning, tokens_per_second: float) -> None:
    """Write the model beside its place, and rename it in the transaction that ends the training.

    No folder is incomplete, and a worker that lost its lease replaces no model.
    """
    job.progress(model.result.steps, None, "writing the model")
    # A name of its own: an equal training on a GPU has other weights, and versions may use its folder.
    name = f"trained-{training.pk}-{training.hash[:12]}"
    root = Path(settings.MODELS_DIR)
    partial = root / f".{name}-{job.job.fence}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with disk.refusing_full_disk(root):
            model.save(partial)
            facts = {"config": training.config, "data": training.data, "facts": training.facts}
            (partial / "training.json").write_bytes(canonical({"hash": training.hash, **facts}))
        hashes = weights.hashes(weights.Folder(partial))
        result = {
            "folder": name,
            "weights": hashes["weights"],
            "steps": model.result.steps,
            "best_step": model.result.best_step,
            "best_value": model.result.best_value,
            "stopped_early": model.result.stopped_early,
            "tokens_per_second": round(tokens_per_second, 1),
        }
        curve = [asdict(point) for point in model.result.curve]
        with batches.batch():
            job.hold()
            shutil.rmtree(root / name, ignore_errors=True)
            partial.rename(root / name)
            log = logged(training, model.result.steps, f"Model {name} stored.")
            store(
                training,
                state=TrainingState.DONE,
                result=result,
                curve=curve,
                log=log,
                checkpoint=None,
                finished_at=timezone.now(),
            )
    finally:
        shutil.rmtree(partial, ignore_errors=True)


class Recorder:
    """Stores progress, curve, phases and log while a training runs, and stops it if it was cancelled."""

    def __init__(self, job: RunningJob, training: FineTuning) -> None:
        self.job, self.training = job, training
        self.tokens_per_second = 0.0
        self._progress = job.paced()
        self._phase: Any = None

    def listener(self) -> Any:
        from ..neural.training.settings import Listener

        return Listener(self.report, self.plot, self.begin, self.saved)

    def report(self, state: Any) -> None:
        self.tokens_per_second = state.tokens_per_second
        self._progress(state.step, state.steps, f"{state.tokens_per_second:,.0f} tokens/s")

    def plot(self, point: Any) -> None:
        fields: dict[str, Any] = {"curve": [*self.training.curve, asdict(point)]}
        if point.development:
            values = ", ".join(f"{name} {value:.4g}" for name, value in sorted(point.development.items()))
            fields["log"] = logged(self.training, point.step, f"{EVALUATED} {values}.")
        store(self.training, **fields)

    def begin(self, phase: Any) -> None:
        """Points after the checkpoint belong to updates that are repeated."""
        curve = [point for point in self.training.curve if point["step"] <= phase.step]
        if self._phase and self._phase.micro != phase.micro:
            times = f"{phase.accumulation} times per update"
            text = f"Out of memory. Continued with {phase.micro} examples in memory, {times}."
        else:
            verb = f"Continued at update {phase.step}" if phase.step else "Started"
            text = f"{verb} with {phase.micro} examples in memory."
        self._phase = phase
        log = logged(self.training, phase.step, text)
        store(self.training, phases=[*self.training.phases, asdict(phase)], curve=curve, log=log)

    def saved(self, step: int) -> None:
        """An evaluation of the same update is one event with its checkpoint."""
        log, text = self.training.log, "Checkpoint written."
        if log and log[-1]["step"] == step and log[-1]["text"].startswith(EVALUATED):
            log = [*log[:-1], {**log[-1], "text": f"{log[-1]['text']} {text}"}]
        else:
            log = logged(self.training, step, text)
        store(self.training, checkpoint=step, log=log)
