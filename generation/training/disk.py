"""Disk space of trainings: the folders of their checkpoints, the quota, and the errors of a full disk."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from api.problems import Refused, no_room
from projects.jobs.running import RunningJob

from ..models import FineTuning, TrainingState

#: Bytes that a training leaves free on the disk.
RESERVE = 1 << 30
#: Copies of the weights on the disk: each of three checkpoints has the weights and two moments of Adam.
COPIES = 9
#: Messages of torch and safetensors when a write fails. They raise no OSError.
FULL = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "PytorchStreamWriter failed",
    "unexpected pos",
)


def checkpoints_folder(training: int) -> Path:
    """Return the folder of the checkpoints of a training on this worker."""
    return Path(settings.DATA_DIR) / "training" / str(training)


def claim_checkpoints(training: int, job: RunningJob) -> Path:
    """Return a folder of this attempt, with the checkpoints of the attempts before.

    A worker that lost its lease may still write. The renaming moves the checkpoints out of its reach: it can only
    write into a folder of its own attempt, which it deletes when it notices.
    """
    from ..neural.training.checkpoints import last_complete, step_of

    root, number = checkpoints_folder(training), (job.job.pk, job.job.fence)
    own = root / f"attempt-{job.job.pk}-{job.job.fence}"
    steps: dict[Path, int] = {}
    for folder in root.glob("attempt-*"):
        # A later attempt exists if this one lost its lease before it came here.
        if _number(folder) < number:
            checkpoint = last_complete(folder)
            steps[folder] = step_of(checkpoint) if checkpoint else -1
    if newest := max(steps, key=steps.__getitem__, default=None):
        newest.rename(own)
    own.mkdir(parents=True, exist_ok=True)
    for folder in steps:
        shutil.rmtree(folder, ignore_errors=True)
    return own


def _number(attempt: Path) -> tuple[int, int]:
    job, fence = attempt.name.split("-")[1:]
    return int(job), int(fence)


def check_space(training: int, weights: int) -> None:
    """Raise `Refused` with figures if the checkpoints exceed the quota or the free space. ``weights``: their bytes.

    Folders of trainings that are done, or that no longer exist, are deleted first.
    """
    own = checkpoints_folder(training)
    root, needed = own.parent, weights * COPIES
    folders = {int(folder.name): folder for folder in root.iterdir() if folder.name.isdigit()}
    unfinished = FineTuning.objects.filter(pk__in=folders).exclude(state=TrainingState.DONE)
    kept = set(unfinished.values_list("pk", flat=True))
    for pk in folders.keys() - kept:
        shutil.rmtree(folders[pk], ignore_errors=True)
    others = sum(_size(folders[pk]) for pk in kept - {training})
    quota = settings.TRAINING_DISK_MB << 20
    if quota and others + needed > quota:
        raise Refused(
            f"The checkpoints need {_mib(needed)}. TRAINING_DISK_MB allows {_mib(quota)}, of which other trainings use "
            f"{_mib(others)}. Delete the checkpoints of failed and cancelled trainings, or raise the limit."
        )
    free = shutil.disk_usage(own).free + _size(own)
    if free < needed + RESERVE:
        raise Refused(
            f"The checkpoints need {_mib(needed + RESERVE)}; the disk of {_name(own)} has {_mib(free)}. Free space, or "
            "delete the checkpoints of failed and cancelled trainings."
        )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _mib(size: int) -> str:
    return f"{-(-size >> 20):,} MiB"


def _name(folder: Path) -> str:
    """Return the path below the setting that leads know, not the path on the worker."""
    for setting in ("MODELS_DIR", "DATA_DIR"):
        root = Path(getattr(settings, setting))
        if folder.is_relative_to(root):
            return str(Path(setting) / folder.relative_to(root))
    return folder.name


@contextmanager
def refusing_full_disk(folder: Path) -> Iterator[None]:
    """Raise `Refused` with the folder and the free space if a file of a checkpoint or model cannot be written."""
    try:
        yield
    except Exception as error:
        if not (isinstance(error, OSError) and no_room(error)) and not any(words in str(error) for words in FULL):
            raise
        free = shutil.disk_usage(folder).free
        raise Refused(
            f"The disk is full: {_name(folder)} of the worker cannot be written ({_mib(free)} free). Free space; "
            "Continue goes on at the last complete checkpoint."
        ) from error
