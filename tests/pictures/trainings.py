"""Trainings of the sample project in each state, with invented curves."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from annotation.models import Review
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from generation.models import FineTuning, Run, RunStatus, TrainedStudy, TrainingState
from generation.sources import materials, units_of
from generation.training.actions import KIND
from projects.models import Job, JobStatus, Project
from tests.generation.exposures import build_trained_version
from tests.generation.summaries import add_summary, first_sentence, scored

STEPS = 1500
ERROR = (
    "The disk is full: DATA_DIR/training/3/attempt-41-1 of the worker cannot be written (12 MiB free). Free space; "
    "Continue goes on at the last complete checkpoint."
)
CONFIG: dict[str, Any] = {
    "version": {"model": {"model": "facebook/bart-large"}, "seed": 1},
    "training": {
        "epochs": 3.0,
        "batch": 8,
        "micro": 8,
        "learning_rate": 3e-5,
        "evaluate_every": 100,
        "metric": "rouge2",
    },
}


def make(project: Project, by: User) -> None:
    """Leave a training that runs, one that failed and one that is done."""
    parts = parse_parts("train=80,development=10,test=10")
    split = create_split(project=project, asked=SplitParameters("main", parts=parts), by=by)
    data = {
        "training": {"part": "train", "examples": 4000, "left_out": {"The unit has no target.": 12}},
        "development": {"part": "development", "examples": 500, "left_out": {}},
        "sha256": "0" * 64,
    }
    for name, state, until in (
        ("BART on main, running", TrainingState.RUNNING, 900),
        ("BART on main, no space", TrainingState.FAILED, 640),
        ("BART on main", TrainingState.DONE, STEPS),
    ):
        is_done = state == TrainingState.DONE
        training = FineTuning.objects.create(
            project=project,
            name=name,
            trainer="seq2seq",
            split=split,
            config=CONFIG,
            data=data,
            hash="4f1d" * 16,
            state=state,
            error=ERROR if state == TrainingState.FAILED else "",
            phases=[{"step": 0, "micro": 8, "accumulation": 1}, {"step": 0, "micro": 4, "accumulation": 2}],
            curve=_curve(until),
            log=_log(until),
            checkpoint=None if is_done else until // 100 * 100,
            result={
                "folder": "trained-3-4f1d4f1d4f1d",
                "weights": "9ab3" * 16,
                "steps": STEPS,
                "best_step": 1300,
                "best_value": 0.21,
                "stopped_early": False,
                "tokens_per_second": 10234.5,
            }
            if is_done
            else {},
            created_by=by,
            finished_at=None if state == TrainingState.RUNNING else timezone.now(),
        )
        status = {TrainingState.RUNNING: JobStatus.QUEUED, TrainingState.FAILED: JobStatus.FAILED}
        Job.objects.create(
            project=project,
            kind=KIND,
            queue="gpu",
            params={"training": training.pk},
            status=status.get(state, JobStatus.DONE),
            error=training.error,
            created_by=by,
        )

    _use(project, training)


def _use(project: Project, training: FineTuning) -> None:
    """Score a system of the last training's model, which has seen a third of the reviews."""
    reviews = Review.objects.filter(project=project).order_by("pk").values_list("pmid", flat=True)
    TrainedStudy.objects.bulk_create(TrainedStudy(fine_tuning=training, key=key) for key in reviews[::3])
    version = build_trained_version(
        project, "BART on main", training.result["folder"], weights=training.result["weights"]
    )
    run = Run.objects.create(version=version, status=RunStatus.DONE)
    for unit, material in materials(project, version.level, units_of(project, version.level)).items():
        add_summary(run, unit, first_sentence(material))
    scored(run, "rouge")


def _curve(until: int) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    for step in range(10, until + 1, 10):
        loss = 1.6 + 3.2 * 2 ** (-step / 250) + 0.05 * ((step * 7) % 11 - 5) / 5
        point = {"step": step, "loss": loss, "learning_rate": 3e-5, "gradient_norm": 1.2, "development": {}}
        points.append(point)
        if step % 100 == 0:
            measured = {"loss": 1.9 + 2.9 * 2 ** (-step / 280), "rouge2": 0.21 * (1 - 2 ** (-step / 300))}
            points.append({**point, "loss": None, "development": measured})
    return points


def _log(until: int) -> list[dict[str, Any]]:
    began = timezone.now() - timedelta(minutes=90)
    events: list[tuple[int, str]] = [
        (0, "Started with 8 examples in memory."),
        (0, "Out of memory. Continued with 4 examples in memory, 2 times per update."),
    ]
    for step in range(100, until + 1, 100):
        events.append((step, f"Evaluated: loss {1.9 + 290 / step:.4g}, rouge2 0.18. Checkpoint written."))
    return [
        {"at": (began + timedelta(seconds=30 * n)).isoformat(), "step": step, "text": text}
        for n, (step, text) in enumerate(events)
    ]
