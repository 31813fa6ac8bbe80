"""Start and continue trainings, read their data, and use their models. `running` is the work of their jobs."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from annotation.models import DataSplit, SplitLevel
from api.problems import Conflict, Refused
from audit.digests import canonical, digest_of
from audit.log import record
from projects.jobs import batches, jobs
from projects.models import Job, JobStatus, Member, Project, Role

from .. import trainers
from ..backends.identity import GPU
from ..models import FineTuning, TrainedStudy, TrainingState
from ..systems.actions import create_system, request_version
from ..trainers.protocol import Example, LeftOut, Parts

KIND = "train"
DELETE = "delete_checkpoints"
#: Parts whose names begin with this are never trained on.
TEST = "test"
#: States of trainings that can continue.
STOPPED = (TrainingState.FAILED, TrainingState.CANCELLED)
#: The same for a split that does not exist, so that nobody learns which ids do.
NO_SPLIT = "There is no such split in a project that you lead."
#: Events that the log of a training keeps, the newest ones.
LOGGED = 100


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
    _require_lead(split, by)
    parts = _checked_parts(split, config.get("parts", {}))
    clean = chosen.checked({key: value for key, value in config.items() if key != "parts"}) | {"parts": parts}
    if split.level not in (levels := chosen.split_levels(clean)):
        names = " or ".join(SplitLevel(level).label.lower() for level in levels)
        raise Refused.field("split", f"This split cannot divide the examples: choose a split of {names}.")
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


def _require_lead(split: DataSplit, by: User | None) -> None:
    if by is not None and not Member.objects.active().filter(project=split.project, user=by, role=Role.LEAD).exists():
        raise Refused.field("split", NO_SPLIT)


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
    """Queue a training that failed or was cancelled again. It continues at its last checkpoint.

    Raise `Conflict`, and `Refused` unless ``by`` leads the project of the split, whose data are read again.
    """
    _require_lead(training.split, by)
    with transaction.atomic():
        resumed = FineTuning.objects.filter(pk=training.pk, state__in=STOPPED).update(
            state=TrainingState.QUEUED, error="", finished_at=None
        )
        if not resumed:
            raise Conflict("Only a training that failed or was cancelled can continue.")
        params = {"training": training.pk}
        jobs.enqueue(project=training.project, kind=KIND, params=params, by=by, queue=GPU, is_requested=True)
        record(actor=by, verb="resume training", obj=training, project_id=training.project_id)


def request_deletion(*, training: FineTuning, by: User | None) -> Job:
    """Queue the job that deletes the checkpoints of a training that failed or was cancelled. Raise `Conflict`."""
    if training.state not in STOPPED:
        raise Conflict("Only checkpoints of a training that failed or was cancelled can be deleted.")
    with transaction.atomic():
        record(actor=by, verb="delete checkpoints", obj=training, project_id=training.project_id)
        return jobs.enqueue(
            project=training.project, kind=DELETE, params={"training": training.pk}, by=by, queue=GPU, is_requested=True
        )


def use(*, training: FineTuning, system: str, level: str = "", by: User | None) -> Job:
    """Create a system, and queue the job that makes its first version from the trained model.

    ``level``: what the version summarises; by default what the model was trained on. M3 trains on documents and
    summarises clusters. Raise `Refused` unless a summariser was trained to the end, or if the name is taken.
    """
    if training.state != TrainingState.DONE:
        raise Refused("The training has not ended: it has no model yet.")
    if training.trainer != trainers.SUMMARISER:
        raise Refused("This model classifies texts. Use it on the page Machine readings, or by manage.py read.")
    version = training.config["version"]
    config = {**version, "level": level or version["level"]}
    config |= {"model": {**version["model"], "model": training.result["folder"], "revision": "main"}}
    with transaction.atomic():
        created = create_system(project=training.project, name=system, by=by)
        made = request_version(system=created, config=config, note=f"Training: {training.name}", by=by)
    assert isinstance(made, Job)
    return made


def ended(job: Job) -> None:
    """Store how the job of a training ended, in the transaction in which it ends."""
    states = {JobStatus.FAILED: TrainingState.FAILED, JobStatus.CANCELLED: TrainingState.CANCELLED}
    state = states.get(JobStatus(job.status))
    training = FineTuning.objects.exclude(state=TrainingState.DONE).filter(pk=job.params["training"]).first()
    if state and training:
        training.state, training.error, training.finished_at = state, job.error, timezone.now()
        training.log = logged(training, None, f"{state.label}. {job.error}".strip())
        training.save(update_fields=["state", "error", "finished_at", "log"])


def logged(training: FineTuning, step: int | None, text: str) -> list[dict[str, Any]]:
    """Return the log with a further event."""
    return [*training.log, {"at": timezone.now().isoformat(), "step": step, "text": text}][-LOGGED:]


def read_parts(training: FineTuning) -> tuple[Parts, dict[str, Any], set[str]]:
    """Return the examples, what is stored of them, and the keys of the studies of both parts."""
    trainer = trainers.get(training.trainer)
    data: dict[str, Any] = {}
    digest = hashlib.sha256()
    studies: set[str] = set()
    examples: dict[str, list[Example]] = {"training": [], "development": []}
    for role, part in training.config["parts"].items():
        left_out: dict[str, int] = {}
        for one in trainer.examples(training.split, training.config, part):
            if isinstance(one, LeftOut):
                left_out[one.reason] = left_out.get(one.reason, 0) + 1
                continue
            examples[role].append(one)
            studies.update(one.studies)
            digest.update(canonical([role, one.key, _plain(one.content)]) + b"\n")
        data[role] = {"part": part, "examples": len(examples[role]), "left_out": left_out}
    return Parts(**examples), {**data, "sha256": digest.hexdigest()}, studies


def _plain(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of an example without its unit, so that equal data of two projects have one hash."""
    return {name: value for name, value in content.items() if name != "source"}


def store_studies(training: FineTuning, studies: set[str]) -> None:
    with batches.batch():
        rows = (TrainedStudy(fine_tuning=training, key=key) for key in sorted(studies))
        TrainedStudy.objects.bulk_create(rows, batch_size=1000, ignore_conflicts=True)
