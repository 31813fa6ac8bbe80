"""Trainings and the disk: files that cannot be written, the quota, and the deletion of checkpoints."""

import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from api.problems import Conflict
from generation.models import TrainingState
from generation.training import disk
from generation.training.actions import request_deletion, resume
from generation.training.disk import checkpoints_folder
from projects.jobs.running import Cancelled, run_job
from tests.generation.trainings import Train, run, split, train

pytest.importorskip("torch")
pytest.importorskip("accelerate")
from generation.neural.training.loop import ExactTrainer
from generation.neural.training.summarisers import TrainedSummariser
from generation.training.running import Recorder

__all__ = ["split", "train"]
pytestmark = [pytest.mark.django_db, pytest.mark.row(65)]


@contextmanager
def writing_at_most(size: int) -> Iterator[None]:
    """Files cannot grow beyond ``size`` bytes, as on a full disk. (Only the disk of the database stays as it is.)"""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


Fill = Callable[[str, int], None]


@pytest.fixture
def fill(monkeypatch: pytest.MonkeyPatch) -> Fill:
    """``fill("checkpoint", size)`` limits the files of checkpoints, from the second one on; or those of the model."""

    def limit(files: str, size: int) -> None:
        owner, name = (ExactTrainer, "_save_checkpoint") if files == "checkpoint" else (TrainedSummariser, "save")
        write, calls = getattr(owner, name), list[int]()

        def limited(self: Any, *arguments: Any) -> None:
            calls.append(1)
            with writing_at_most(size if files == "model" or len(calls) > 1 else resource.RLIM_INFINITY):
                write(self, *arguments)

        monkeypatch.setattr(owner, name, limited)

    return limit


#: The weights have some 290 KB, their optimizer twice as many: the first limit hits safetensors, the second torch.
@pytest.mark.parametrize(
    ("files", "size"),
    [("checkpoint", 50_000), pytest.param("checkpoint", 400_000, marks=pytest.mark.long), ("model", 50_000)],
)
def test_a_training_on_a_full_disk_names_the_folder_and_continues(
    files: str, size: int, train: Train, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(epochs=3)
    fill(files, size)
    tuning = train(epochs=3)
    folder = f"DATA_DIR/training/{tuning.pk}/" if files == "checkpoint" else "MODELS_DIR"
    assert tuning.state == TrainingState.FAILED
    assert tuning.error.startswith(f"The disk is full: {folder}")
    assert "Continue goes on at the last complete checkpoint." in tuning.error
    last = 2 if files == "checkpoint" else 6
    assert tuning.checkpoint == last
    [attempt] = checkpoints_folder(tuning.pk).iterdir()
    assert f"checkpoint-{last}" == max(path.name for path in attempt.iterdir()), "nothing incomplete takes up space"
    monkeypatch.undo()
    resume(training=tuning, by=None)
    run(tuning)
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")
    assert tuning.result["weights"] == whole.result["weights"]


@pytest.fixture
def small_disk(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    """A file system of 6 MiB for the checkpoints."""
    folder = Path(settings.DATA_DIR) / "training"
    folder.mkdir(parents=True)
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.long
@pytest.mark.parametrize("room", [100_000, 500_000], ids=["safetensors", "torch"])
def test_a_training_continues_when_a_full_file_system_has_grown(
    room: int, train: Train, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``room``: bytes left after the first checkpoint, for a part of its weights or of its optimizer."""
    monkeypatch.setattr(disk, "RESERVE", 0)
    whole = train(epochs=3)
    saved = Recorder.saved

    def fill_disk(recorder: Recorder, step: int) -> None:
        saved(recorder, step)
        free = shutil.disk_usage(small_disk).free
        (small_disk / "other").write_bytes(b"0" * max(free - room, 0))

    monkeypatch.setattr(Recorder, "saved", fill_disk)
    tuning = train(epochs=3)
    assert tuning.state == TrainingState.FAILED
    assert tuning.error.startswith(f"The disk is full: DATA_DIR/training/{tuning.pk}/")
    assert tuning.checkpoint == 2
    subprocess.run(["mount", "-o", "remount,size=20m", small_disk], check=True)
    monkeypatch.setattr(Recorder, "saved", saved)
    resume(training=tuning, by=None)
    run(tuning)
    assert (tuning.state, tuning.error) == (TrainingState.DONE, "")
    assert [phase["step"] for phase in tuning.phases] == [0, 2]
    assert tuning.result["weights"] == whole.result["weights"]


def test_other_errors_of_files_are_no_full_disk(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, *arguments: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(TrainedSummariser, "save", refuse)
    tuning = train()
    assert (tuning.state, tuning.error) == (TrainingState.RUNNING, ""), "the job is tried again"


def test_a_full_disk_is_named_before_the_training(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1 << 20))
    tuning = train()
    assert tuning.state == TrainingState.FAILED
    assert tuning.error.startswith(f"The checkpoints need 1,027 MiB; the disk of DATA_DIR/training/{tuning.pk} has 1 ")


def test_checkpoints_above_the_quota_are_refused_with_figures(
    train: Train, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(recorder: Recorder, state: Any) -> None:
        if state.step == 3:
            raise Cancelled

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "report", cancel)
        cancelled = train()
    assert (cancelled.state, cancelled.checkpoint) == (TrainingState.CANCELLED, 2)
    (checkpoints_folder(cancelled.pk) / "large").write_bytes(b"0" * (1 << 20))
    unknown = Path(settings.DATA_DIR) / "training" / "999"
    unknown.mkdir()
    (unknown / "file").write_bytes(b"0" * (4 << 20))
    settings.TRAINING_DISK_MB = 3
    refused = train()
    assert refused.state == TrainingState.FAILED
    assert refused.error.startswith(
        "The checkpoints need 3 MiB. TRAINING_DISK_MB allows 3 MiB, of which other trainings use 2 MiB."
    )
    assert not unknown.exists(), "no training has it any more"
    deletion = request_deletion(training=cancelled, by=None)
    run_job(deletion.pk)
    cancelled.refresh_from_db()
    assert (cancelled.checkpoint, cancelled.log[-1]["text"]) == (None, "Checkpoints deleted.")
    assert not checkpoints_folder(cancelled.pk).exists()
    resume(training=refused, by=None)
    run(refused)
    assert refused.state == TrainingState.DONE
    with pytest.raises(Conflict):
        request_deletion(training=refused, by=None)
