"""Start a training as a job, run it with checkpoints, and store its model below the models folder."""

import errno
import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from annotation.models import DataSplit, SplitUnit
from api.problems import Conflict, Refused
from audit.digests import canonical, digest_of
from audit.log import record
from projects.jobs import batches, jobs
from projects.jobs.running import RunningJob
from projects.models import Job, JobStatus, Member, Project, Role

from .. import trainers
from ..backends import weights
from ..backends.identity import GPU
from ..backends.protocol import BackendError
from ..models import FineTuning, TrainedStudy, TrainingState
from ..systems.actions import create_system, request_version
from ..trainers.protocol import Example, LeftOut, Parts

KIND = "train"
#: Parts whose names begin with this are never trained on.
TEST = "test"
#: Free bytes that a training leaves on the disk.
RESERVE = 1 << 30
#: Copies of the weights on the disk: each of three checkpoints has the weights and two moments of Adam.
COPIES = 9


def request_training(
    *, project: Project, name: str, trainer: str, split: DataSplit, config: Mapping[str, Any], by: User | None
) -> FineTuning:
    """Queue a training. Raise `Refused` by field, and `Conflict` if the name is taken.

    ``config`` has the sections of the trainer, and ``parts``: the training part and the development part, which may be
    empty. A part whose name begins with *test* cannot be trained on, and ``by`` must lead the project of the split.
    """
    try:
        chosen = trainers.get(trainer)
    except KeyError:
        known = ", ".join(each.key for each in trainers.every())
        raise Refused.field("trainer", f"Must be one of: {known}.") from None
    name = name.strip()
    if not name or len(name) > 80 or "\0" in name:
        raise Refused.field("name", "Must be a name of 1 to 80 characters without NUL.")
    if by is not None and not Member.objects.active().filter(project=split.project, user=by, role=Role.LEAD).exists():
        raise Refused.field("split", "You do not lead the project of this split.")
    parts = _checked_parts(split, config.get("parts", {}))
    clean = chosen.checked({key: value for key, value in config.items() if key != "parts"}) | {"parts": parts}
    chosen.refuse_level(clean, split.level)
    try:
        with transaction.atomic():
            tuning = FineTuning.objects.create(
                project=project, name=name, trainer=trainer, split=split, config=clean, created_by=by
            )
            record(
                actor=by,
                verb="request training",
                obj=tuning,
                project_id=project.pk,
                after={"name": name, "trainer": trainer, "split": split.digest, "config": digest_of(clean)},
            )
            jobs.enqueue(
                project=project, kind=KIND, params={"training": tuning.pk}, by=by, queue=GPU, is_requested=True
            )
    except IntegrityError as error:
        raise Conflict(f"This project already has a training named {name!r}.") from error
    return tuning


def _checked_parts(split: DataSplit, parts: Any) -> dict[str, str]:
    known = [part["name"] for part in split.parts]
    training, development = (str(parts.get(key) or "") for key in ("training", "development"))
    for field, part, required in (("training", training, True), ("development", development, False)):
        if part not in known and (part or required):
            raise Refused.field(f"parts.{field}", f"{split} has no part {part!r}. It has: {', '.join(known)}.")
        if part.casefold().startswith(TEST):
            raise Refused.field(f"parts.{field}", f"{part} is a test part. Models must not be trained or chosen by it.")
    if training == development:
        raise Refused.field("parts.development", "The development part must not be the training part.")
    return {"training": training, "development": development}


def resume(*, training: FineTuning, by: User | None) -> None:
    """Queue a training that failed or was cancelled again. It continues at its last checkpoint. Raise `Conflict`."""
    with transaction.atomic():
        resumed = FineTuning.objects.filter(
            pk=training.pk, state__in=(TrainingState.FAILED, TrainingState.CANCELLED)
        ).update(state=TrainingState.QUEUED, error="", finished_at=None)
        if not resumed:
            raise Conflict("Only a training that failed or was cancelled can continue.")
        params = {"training": training.pk}
        jobs.enqueue(project=training.project, kind=KIND, params=params, by=by, queue=GPU, is_requested=True)
        record(actor=by, verb="resume training", obj=training, project_id=training.project_id)


def use(*, training: FineTuning, system: str, by: User | None) -> Job:
    """Create a system, and queue the job that makes its first version from the trained model.

    Raise `Refused` unless a summariser was trained to the end, or if the name is taken.
    """
    if training.state != TrainingState.DONE:
        raise Refused("The training has not ended: it has no model yet.")
    if training.trainer != trainers.SUMMARISER:
        raise Refused("This model classifies texts. Use it on the page Machine readings, or by manage.py read.")
    version = training.config["version"]
    config = {**version, "model": {**version["model"], "model": training.result["folder"], "revision": "main"}}
    with transaction.atomic():
        created = create_system(project=training.project, name=system, by=by)
        made = request_version(system=created, config=config, note=f"Training: {training.name}", by=by)
    assert isinstance(made, Job)
    return made


def ended(job: Job) -> None:
    """Store how the job of a training ended, in the transaction in which it ends."""
    states = {JobStatus.FAILED: TrainingState.FAILED, JobStatus.CANCELLED: TrainingState.CANCELLED}
    if state := states.get(JobStatus(job.status)):
        FineTuning.objects.filter(pk=job.params["training"]).exclude(state=TrainingState.DONE).update(
            state=state, error=job.error, finished_at=timezone.now()
        )


def run(job: RunningJob) -> FineTuning:
    """Train, or continue at the last checkpoint, and store the model. Raise `Refused` with what a lead can change."""
    training = FineTuning.objects.select_related("project", "split__project").get(pk=job.params["training"])
    if training.state == TrainingState.DONE:
        return training
    trainer = trainers.get(training.trainer)
    job.progress(0, None, "reading examples")
    parts, data, studies = read_parts(training)
    if not parts.training:
        raise Refused(f"No unit of the part {training.config['parts']['training']} can be trained on. {_reasons(data)}")
    from ..neural.training.settings import TrainingError

    try:
        facts = trainer.facts(training.config)
        digest = digest_of({"config": training.config, "data": data["sha256"], "facts": facts})
        _refuse_changed(training, digest)
        _store(training, state=TrainingState.RUNNING, data=data, facts=facts, hash=digest)
        _store_studies(training, studies)
        folder = checkpoints_folder(training)
        _check_disk(folder, training.config)
        model = trainer.train(training.config, parts, folder, _Recorder(job, training).listener())
        # A name of its own: an equal training on a GPU has other weights, and versions may use its folder.
        name = f"trained-{training.pk}-{digest[:12]}"
        job.progress(0, None, "writing the model")
        hashes = _write(model, name, training)
    except (TrainingError, BackendError) as error:
        raise Refused(str(error)) from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Refused(
            f"The disk of the worker cannot be written: {error.strerror}. Free space and continue."
        ) from error
    result = {
        "folder": name,
        "weights": hashes["weights"],
        "steps": model.result.steps,
        "best_step": model.result.best_step,
        "best_value": model.result.best_value,
        "stopped_early": model.result.stopped_early,
    }
    curve = [asdict(point) for point in model.result.curve]
    _store(training, state=TrainingState.DONE, result=result, curve=curve, finished_at=timezone.now())
    shutil.rmtree(folder, ignore_errors=True)
    return training


def read_parts(training: FineTuning) -> tuple[Parts, dict[str, Any], set[str]]:
    """Return the examples, what is stored of them, and the keys of the studies of both parts."""
    trainer = trainers.get(training.trainer)
    data: dict[str, Any] = {}
    digest = hashlib.sha256()
    studies: set[str] = set()
    examples: dict[str, list[Example]] = {"training": [], "development": []}
    for role, part in training.config["parts"].items():
        left_out: dict[str, int] = {}
        for one in trainer.examples(training.split.project, training.config, _units(training.split, part)):
            if isinstance(one, LeftOut):
                left_out[one.reason] = left_out.get(one.reason, 0) + 1
                continue
            examples[role].append(one)
            studies.update(one.studies)
            digest.update(canonical([role, one.key, _plain(one.content)]) + b"\n")
        data[role] = {"part": part, "examples": len(examples[role]), "left_out": left_out}
    return Parts(**examples), {**data, "sha256": digest.hexdigest()}, studies


def _units(split: DataSplit, part: str) -> dict[int, str]:
    units = SplitUnit.objects.filter(split=split, part=part).order_by("pk")
    return dict(units.values_list("unit_id", "key")) if part else {}


def _plain(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of an example without its unit, so that equal data of two projects have one hash."""
    return {name: value for name, value in content.items() if name != "source"}


def _reasons(data: Mapping[str, Any]) -> str:
    return " ".join(f"{reason} ({count})" for reason, count in data["training"]["left_out"].items())


def _refuse_changed(training: FineTuning, digest: str) -> None:
    if training.hash and training.hash != digest and checkpoints_folder(training).exists():
        raise Refused(
            "The data, the base model, the libraries or the device have changed since the last checkpoint. "
            "Start a new training."
        )


def _store(training: FineTuning, **fields: Any) -> None:
    with batches.batch():
        FineTuning.objects.filter(pk=training.pk).update(**fields)
    for name, value in fields.items():
        setattr(training, name, value)


def _store_studies(training: FineTuning, studies: set[str]) -> None:
    with batches.batch():
        rows = (TrainedStudy(fine_tuning=training, key=key) for key in sorted(studies))
        TrainedStudy.objects.bulk_create(rows, batch_size=1000, ignore_conflicts=True)


def checkpoints_folder(training: FineTuning) -> Path:
    """Return the folder of the checkpoints of a training on this worker."""
    return Path(settings.DATA_DIR) / "training" / str(training.pk)


def _check_disk(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise `Refused` if the disk has no space for the checkpoints."""
    model = (config.get("version") or config)["model"]
    base = weights.find(model["model"], model.get("revision") or "main").path
    size = sum(path.stat().st_size for path in weights.shards(base))
    folder.mkdir(parents=True, exist_ok=True)
    needed, free = size * COPIES + RESERVE, shutil.disk_usage(folder).free
    if free < needed:
        raise Refused(f"The checkpoints need {needed >> 20:,} MiB; the disk of the worker has {free >> 20:,} MiB.")


def _write(model: Any, name: str, training: FineTuning) -> dict[str, Any]:
    """Write the model beside its place and rename it, so that no folder is incomplete. Return its hashes."""
    root = Path(settings.MODELS_DIR)
    partial = root / f".{name}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    model.save(partial)
    (partial / "training.json").write_bytes(
        canonical({"hash": training.hash, "config": training.config, "data": training.data, "facts": training.facts})
    )
    if (root / name).exists():
        shutil.rmtree(root / name)
    partial.rename(root / name)
    return weights.hashes(weights.Folder(root / name))


class _Recorder:
    """Stores progress, curve and phases while a training runs, and stops it if it was cancelled."""

    def __init__(self, job: RunningJob, training: FineTuning) -> None:
        self.job, self.training = job, training
        self.report = job.paced()

    def listener(self) -> Any:
        from ..neural.training.settings import Listener

        return Listener(self._report, self._plot, self._begin)

    def _report(self, state: Any) -> None:
        self.report(state.step, state.steps, f"{state.tokens_per_second:,.0f} tokens/s")

    def _plot(self, point: Any) -> None:
        curve = [*(old for old in self.training.curve if old["step"] <= point.step), asdict(point)]
        _store(self.training, curve=curve)

    def _begin(self, phase: Any) -> None:
        _store(self.training, phases=[*self.training.phases, asdict(phase)])
