"""Read the texts of a project with a local model, in a job that can be resumed (docs/decisions/0027).

The folder of the model is an import, so that decisions can adopt its values. Its digest covers the folders and the
versions of the libraries: the same model with other versions is another import.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.imports.records import record_import
from annotation.models import Effect, MachineReading, ReadingTask
from annotation.readings.current import Owner
from api.problems import Conflict, Refused
from audit.log import REMOVE, record_all
from projects.jobs import batches, jobs
from projects.jobs.batches import Progress, silent
from projects.models import Import, Job, JobStatus, Project
from projects.stored_figures.actions import enqueue_figures

from ..backends import weights
from ..backends.identity import GPU
from ..backends.protocol import BackendError
from . import tasks, texts

KIND = "read_texts"
WITHDRAWAL = "withdraw_readings"
#: Format of the imports of models' folders. Their level is the task.
FORMAT = "readings"
NOTHING = {ReadingTask.EFFECTS: "No review has pairs of an intervention and an outcome and an abstract."}
#: Facts of a folder that change its readings although its weights are the same.
_IDENTITY = ("tokenizer", "config")
#: Number of readings that are withdrawn in a transaction.
WITHDRAWN = 500
#: Called with the key of a text and the reason why it could not be read.
Problem = Callable[[str, str], None]
Facts = dict[str, Any]


def queue_reading(
    *, project: Project, task: str, model: str, evidence: str = "", on_worker: bool = False, by: User | None
) -> Job:
    """Queue a job that reads the texts that the model has not read yet.

    Raise `Refused` if the labels of the folder are not those of the task, or if there is no text. ``on_worker``: a
    folder that this machine lacks is checked by the job only, because a worker on another machine may have it.
    """
    try:
        tasks.of(task, model, evidence)
    except weights.MissingFolder as missing:
        if not on_worker:
            raise Refused.field("model", str(missing)) from missing
    except BackendError as error:
        raise Refused.field("model", f"{model}: {error}") from error
    _refuse_while(project, WITHDRAWAL, task, model, "The readings of this model are being withdrawn.")
    if not any(of.exists() for _, of in texts.texts(project, task)):
        raise Refused.field("task", NOTHING.get(ReadingTask(task), "No review of the project has an abstract."))
    params = {"task": task, "model": model, "evidence": evidence}
    return jobs.request_job(project=project, kind=KIND, params=params, by=by, queue=GPU)[0]


def queue_withdrawal(*, project: Project, task: str, model: str, by: User) -> Job:
    """Queue a job that withdraws the readings of a task by the folder of this name (`withdraw`).

    Raise `Refused` if there is none, and `Conflict` while a job reads with this folder.
    """
    if not readings_by(project, task, model).exists():
        raise Refused.field("model", f"There are no readings by {model!r} for this task.")
    _refuse_while(project, KIND, task, model, "A job reads texts with this model. Cancel it first.")
    return jobs.request_job(project=project, kind=WITHDRAWAL, params={"task": task, "model": model}, by=by)[0]


def _refuse_while(project: Project, kind: str, task: str, model: str, why: str) -> None:
    running = Job.objects.filter(project=project, kind=kind, status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
    if any((job.params["task"], job.params["model"]) == (task, model) for job in running):
        raise Conflict(why)


def readings_by(project: Project, task: str, model: str) -> QuerySet[MachineReading]:
    """Return the readings of a task by the folder of this name."""
    return MachineReading.objects.filter(imported__project=project, imported__format=FORMAT, task=task, model=model)


def read(
    *,
    project: Project,
    task: str,
    model: str,
    evidence: str = "",
    by: User | None = None,
    progress: Progress = silent,
    problem: Problem = lambda item, message: None,
) -> dict[str, Any]:
    """Read the texts that this model has not read yet, some per transaction, and return their numbers.

    A text that fails is reported to ``problem``; calling it again tries it again. Raise `Refused` as `queue_reading`
    does, and `Conflict` if the weights have readings with another tokenizer or configuration.
    """
    try:
        reader = tasks.of(task, model, evidence)
        facts = _facts(reader)
        hash_of_weights = str(facts["model"]["weights"])
        _refuse_other_folder(project, task, hash_of_weights, facts)
        reader.open()
    except BackendError as error:
        raise Refused.field("model", f"{model}: {error}") from error
    owners = [(owner, of, texts.unread(owner, of, task, hash_of_weights)) for owner, of in texts.texts(project, task)]
    total = sum(of.count() for _, of, _ in owners)
    done = total - sum(unread.count() for _, _, unread in owners)
    stored = failed = 0
    for owner, _, unread in owners:
        for batch in texts.in_batches(unread):
            progress(done, total, "reading texts")
            readings = reader.read(batch)
            done += len(batch)
            with batches.batch(done, total):
                imported = _import_of(project, task, model, facts, reader, by)
                stored += _store(imported, task, model, hash_of_weights, owner, batch, readings)
                enqueue_figures(Q(pk=project.pk))
            for text, reading in zip(batch, readings, strict=True):
                if reading and reading.failure:
                    failed += 1
                    problem(str(text), reading.failure)
    progress(total, total, "reading texts")
    return {"model": model, "weights": hash_of_weights, "read": stored, "failed": failed, "texts": total}


def withdraw(*, project: Project, task: str, model: str, by: User | None = None, progress: Progress = silent) -> int:
    """Delete the readings of a task by the folder of this name, and return their number.

    A second call deletes the rest. Decisions that adopted them stay, because people have seen their values. The import
    of the folder stays, too.
    """
    readings = readings_by(project, task, model).order_by("pk")
    removed, total = 0, readings.count()
    while ids := list(readings.values_list("pk", flat=True)[:WITHDRAWN]):
        progress(removed, total, "withdrawing readings")
        with batches.batch(removed, total):
            Effect.objects.filter(reading__in=ids).delete()
            MachineReading.objects.filter(pk__in=ids).delete()
            # The audit looks for the removal of each row that it has a digest of.
            record_all(
                {
                    "actor": by,
                    "verb": REMOVE,
                    "object_type": MachineReading._meta.model_name,
                    "object_id": pk,
                    "project_id": project.pk,
                    "reason": f"Readings ({task}) by {model} were withdrawn.",
                }
                for pk in ids
            )
            enqueue_figures(Q(pk=project.pk))
        removed += len(ids)
    return removed


def _facts(reader: tasks.Task) -> Facts:
    hashes = {name: weights.hashes(weights.Folder(path)) for name, path in reader.folders().items()}
    kept = ("weights", *_IDENTITY)
    return {
        **{name: {each: facts[each] for each in kept} for name, facts in hashes.items()},
        "libraries": weights.libraries(),
    }


def _refuse_other_folder(project: Project, task: str, hash_of_weights: str, facts: Facts) -> None:
    """Raise `Conflict` if these weights have readings by another tokenizer, configuration or finder of evidence."""
    imports = Import.objects.filter(project=project, format=FORMAT, level=task)
    for imported in imports.filter(report__facts__model__weights=hash_of_weights):
        other = {**imported.report["facts"], "libraries": facts["libraries"]}
        if other != facts and MachineReading.objects.filter(imported=imported).exists():
            raise Conflict(
                f"The project has readings by these weights with another tokenizer, configuration or evidence model "
                f"({imported.file_name}). Withdraw them first: add --withdraw to the command."
            )


def _import_of(project: Project, task: str, model: str, facts: Facts, reader: tasks.Task, by: User | None) -> Import:
    """Return the import of the folder, in the caller's transaction. It is created with the first readings."""
    digest = sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    imported, is_new = Import.objects.get_or_create(
        project=project,
        format=FORMAT,
        level=task,
        sha256=digest,
        defaults={
            "file_name": model[:200],
            "size": sum(file.stat().st_size for path in reader.folders().values() for file in weights.shards(path)),
            "report": {"totals": {}, "values": {}, "facts": facts},
            "created_by": by,
            "created_at": timezone.now(),
        },
    )
    if is_new:
        record_import(imported)
    return imported


def _store(
    imported: Import,
    task: str,
    model: str,
    hash_of_weights: str,
    owner: Owner,
    batch: Sequence[texts.Text],
    readings: Sequence[tasks.Reading | None],
) -> int:
    read_texts = [(text, one) for text, one in zip(batch, readings, strict=True) if one and not one.failure]
    rows = MachineReading.objects.bulk_create(
        MachineReading(
            task=task,
            values=reading.values,
            model=model[:200],
            weights=hash_of_weights,
            imported=imported,
            **{f"{owner}_id": text.pk},
        )
        for text, reading in read_texts
    )
    Effect.objects.bulk_create(
        (
            Effect(reading=row, **effect)
            for row, (_, reading) in zip(rows, read_texts, strict=True)
            for effect in reading.effects
        ),
        batch_size=1000,
    )
    return len(rows)
