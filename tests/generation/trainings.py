"""Trainings of tiny models on a split of twenty clusters, run in the process of the test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from annotation.models import DataSplit
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from generation.models import FineTuning
from generation.training.actions import KIND, request_training
from projects.jobs.running import run_job
from projects.models import Job, Project
from tests.annotation.m3_files import import_records, write
from tests.annotation.test_splits import item

Train = Callable[..., FineTuning]


@pytest.fixture
def split(project: Project, settings: LazySettings, tmp_path: Path) -> DataSplit:
    """A split of twenty clusters: sixteen to train on, two for development, two for tests."""
    settings.DATA_DIR = tmp_path / "data"
    import_records(project, write(tmp_path / "a.jsonl", [item(200 + n, str(300 + n)) for n in range(20)]))
    parts = parse_parts("train=80,development=10,test=10")
    return create_split(project=project, asked=SplitParameters("main", parts=parts), by=None)


@pytest.fixture
def train(split: DataSplit, models: Callable[[str], str]) -> Train:
    numbers: Iterator[int] = iter(range(100))

    def start(
        family: str = "bart",
        *,
        name: str = "",
        seed: int = 1,
        backend: str = "seq2seq",
        parts: dict[str, str] | None = None,
        assembly: dict[str, Any] | None = None,
        of: DataSplit | None = None,
        runs: bool = True,
        **training: Any,
    ) -> FineTuning:
        version = {
            "backend": backend,
            "level": "proposition",
            "seed": seed,
            "model": {"model": models(family)},
            "assembly": assembly or {},
            "decoding": {"max_length": 20},
        }
        hyperparameters = {"epochs": 2, "learning_rate": 1e-3, "evaluate_every": 2, "target_tokens": 32} | training
        tuning = request_training(
            project=split.project,
            name=name or f"{family}-{next(numbers)}",
            trainer="seq2seq",
            split=of or split,
            config={
                "version": version,
                "training": hyperparameters,
                "parts": parts or {"training": "train", "development": "development"},
            },
            by=None,
        )
        if runs:
            run(tuning)
        return tuning

    return start


def run(tuning: FineTuning) -> None:
    run_job(Job.objects.filter(kind=KIND, params={"training": tuning.pk}).latest("pk").pk)
    tuning.refresh_from_db()
