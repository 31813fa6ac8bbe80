"""Trainings whose process is killed or suspended: the weights are those of an undisturbed training.

A forked process runs the job and signals itself, so that the moment is exact. `tests/processes/test_trainings.py` kills
real workers at any moment.
"""

import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from generation.models import FineTuning, TrainingState
from generation.training.actions import KIND
from generation.training.disk import checkpoints_folder
from generation.training.running import Recorder
from projects.jobs.running import run_job
from projects.models import Job
from tests.generation.test_training import FAMILIES
from tests.generation.trainings import Train, run, split, train
from tests.generation.workers import lapse

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
from generation.neural.training import checkpoints  # noqa: E402

__all__ = ["split", "train"]
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.row(65),
    pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU cannot be used after a fork"),
]
STEPS = 6


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Threads of OpenMP do not survive a fork, and their number is part of the hash."""
    torch.set_num_threads(1)


def signal_at_step(number: signal.Signals, step: int) -> Callable[[], None]:
    """Return what makes the process signal itself when a step has ended."""

    def prepare() -> None:
        report = Recorder.report

        def reported(self: Recorder, state: Any) -> None:
            report(self, state)
            if state.step == step:
                os.kill(os.getpid(), number)

        Recorder.report = reported  # type: ignore[method-assign]

    return prepare


def signal_in_checkpoint(number: signal.Signals, file: str) -> Callable[[], None]:
    """Return what makes the process signal itself when half of a file of the next checkpoint is written."""

    def prepare() -> None:
        save = torch.save

        def saved(content: Any, path: Any, **options: Any) -> None:
            if str(path).endswith(file):
                with open(path, "wb") as half:
                    save(content, half, **options)
                    half.truncate(half.tell() // 2)
                    half.flush()
                    os.kill(os.getpid(), number)
            save(content, path, **options)

        torch.save = saved

    return prepare


def start(tuning: FineTuning, prepare: Callable[[], None]) -> int:
    """Run the job of a training in a forked process, and return its id."""
    job = Job.objects.filter(kind=KIND, params={"training": tuning.pk}).latest("pk")
    connections.close_all()
    child = os.fork()
    if child:
        return child
    try:
        prepare()
        run_job(job.pk)
        os._exit(0)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)


def killed(tuning: FineTuning, prepare: Callable[[], None]) -> None:
    """Run the job in a process until it kills itself, and let its lease expire."""
    _, status = os.waitpid(start(tuning, prepare), 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    lapse()
    tuning.refresh_from_db()
    assert tuning.state == TrainingState.RUNNING


def folder_of(tuning: FineTuning) -> Path:
    [attempt] = checkpoints_folder(tuning.pk).iterdir()
    return attempt


def steps_in(folder: Path) -> tuple[list[int], list[int]]:
    """Return the steps of complete and of incomplete checkpoints."""
    found = {checkpoints.step_of(path): (path / checkpoints.STATE).is_file() for path in folder.iterdir()}
    return sorted(n for n in found if found[n]), sorted(n for n in found if not found[n])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_killed_training_ends_with_the_weights_of_an_undisturbed_one(family: str, train: Train) -> None:
    whole = train(family, name="whole", epochs=3)
    assert whole.result["steps"] == STEPS
    broken = train(family, name="broken", epochs=3, runs=False)
    step = random.choice((3, 5))
    killed(broken, signal_at_step(signal.SIGKILL, step))
    assert steps_in(folder_of(broken)) == (list(range(2, step, 2)), [])
    killed(broken, signal_in_checkpoint(signal.SIGKILL, random.choice(("optimizer.pt", "rng_state.pth"))))
    assert steps_in(folder_of(broken)) == (list(range(2, step, 2)), [step + 1])
    run(broken)
    assert (broken.state, broken.error) == (TrainingState.DONE, "")
    assert broken.result["weights"] == whole.result["weights"]
    assert broken.curve == whole.curve
    assert [phase["step"] for phase in broken.phases] == [0, step - 1, step - 1]
    assert not checkpoints_folder(broken.pk).exists()


@pytest.mark.parametrize(
    "prepare",
    [signal_at_step(signal.SIGSTOP, 3), signal_in_checkpoint(signal.SIGSTOP, "optimizer.pt")],
    ids=["in a step", "in a checkpoint"],
)
def test_a_worker_that_wakes_after_its_lease_writes_nothing(prepare: Callable[[], None], train: Train) -> None:
    whole = train(name="whole", epochs=3)
    tuning = train(name="suspended", epochs=3, runs=False)
    child = start(tuning, prepare)
    try:
        _, status = os.waitpid(child, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        lapse()
        run(tuning)
        ended = FineTuning.objects.values().get(pk=tuning.pk)
        assert ended["state"] == TrainingState.DONE
        assert ended["result"]["weights"] == whole.result["weights"]
    finally:
        os.kill(child, signal.SIGCONT)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "it sees that another worker has the job"
    assert FineTuning.objects.values().get(pk=tuning.pk) == ended
    assert not checkpoints_folder(tuning.pk).exists()
